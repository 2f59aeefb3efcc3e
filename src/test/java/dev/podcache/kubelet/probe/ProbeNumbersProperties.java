package dev.podcache.kubelet.probe;

import static dev.podcache.kubelet.probe.ProbesFixture.FIRST;
import static dev.podcache.kubelet.probe.ProbesFixture.container;
import static dev.podcache.kubelet.probe.ProbesFixture.key;
import static dev.podcache.kubelet.probe.ProbesFixture.pod;
import static dev.podcache.kubelet.probe.ProbesFixture.probe;
import static dev.podcache.kubelet.probe.ProbesFixture.running;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.time.Instant;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Whatever the numbers of a probe and the time of its container are, its checks follow each other, and never without a pause. */
class ProbeNumbersProperties {

    @Property
    void anyNumbers_checksFollowEachOther(
            @ForAll ProbeKind kind,
            @ForAll int initialDelay,
            @ForAll int period,
            @ForAll int timeout,
            @ForAll int success,
            @ForAll int failure,
            @ForAll long startedSeconds,
            @ForAll boolean succeeds) {
        ProbesFixture fixture = new ProbesFixture();
        if (!succeeds) {
            fixture.fail();
        }
        Pod pod = pod(container(
                "main",
                kind,
                probe().withInitialDelaySeconds(initialDelay)
                        .withPeriodSeconds(period)
                        .withTimeoutSeconds(timeout)
                        .withSuccessThreshold(success)
                        .withFailureThreshold(failure)
                        .build()));
        fixture.probes.add(pod);
        fixture.observe(pod, running("main", FIRST, started(startedSeconds)));

        int seconds = 30;
        fixture.time.advance(Duration.ofSeconds(seconds));

        // with the first one, and at most one each second
        assertThat(fixture.checked).hasSizeLessThanOrEqualTo(seconds + 1);
        if (initialDelay <= 0) {
            assertThat(fixture.checked).isNotEmpty();
        }
        assertThat(fixture.time.scheduledTasks()).isLessThanOrEqualTo(1);
        fixture.probes.remove(key(pod));
        assertThat(fixture.time.scheduledTasks()).isZero();
    }

    /** Returns a time of any year that a container runtime could report. */
    private static String started(long seconds) {
        long most = Instant.MAX.getEpochSecond();
        return Instant.ofEpochSecond(Math.floorMod(seconds, 2 * most) - most).toString();
    }
}
