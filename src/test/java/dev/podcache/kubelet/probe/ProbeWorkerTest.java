package dev.podcache.kubelet.probe;

import static dev.podcache.kubelet.probe.ProbesFixture.FIRST;
import static dev.podcache.kubelet.probe.ProbesFixture.SECOND;
import static dev.podcache.kubelet.probe.ProbesFixture.container;
import static dev.podcache.kubelet.probe.ProbesFixture.deleted;
import static dev.podcache.kubelet.probe.ProbesFixture.key;
import static dev.podcache.kubelet.probe.ProbesFixture.pod;
import static dev.podcache.kubelet.probe.ProbesFixture.probe;
import static dev.podcache.kubelet.probe.ProbesFixture.running;
import static dev.podcache.kubelet.probe.ProbesFixture.terminated;
import static dev.podcache.kubelet.probe.ProbesFixture.waiting;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** When checks run: {@code worker_test.go} of Kubernetes, with its tests' names, and the timer. */
@ExtendWith(NoLeaks.class)
class ProbeWorkerTest {

    private final ProbesFixture fixture = new ProbesFixture();
    private final Probes probes = fixture.probes;

    private Pod added(ProbeKind kind) {
        Pod pod = pod(container("main", kind, probe().build()));
        probes.add(pod);
        return pod;
    }

    private boolean succeeds(ProbeKind kind, Pod pod) {
        return switch (kind) {
            case LIVENESS -> probes.failed(key(pod), "main", FIRST).isEmpty();
            case READINESS -> probes.ready(key(pod), "main", FIRST);
            case STARTUP -> probes.started(key(pod), "main", FIRST);
        };
    }

    private void assertChecks(int count) {
        assertThat(fixture.checked).hasSize(count);
        assertThat(fixture.time.scheduledTasks()).as("timers").isEqualTo(count == 0 ? 0 : 1);
    }

    @ParameterizedTest
    @EnumSource
    void doProbe_noStatus(ProbeKind kind) {
        added(kind);
        fixture.runNext();

        assertChecks(0);
    }

    @ParameterizedTest
    @EnumSource
    void doProbe_podFailed(ProbeKind kind) {
        Pod pod = added(kind);
        Pod failed = new PodBuilder(pod)
                .withNewStatus()
                .withPhase("Failed")
                .endStatus()
                .build();
        fixture.observe(failed, running("main", FIRST));
        fixture.runNext();

        assertChecks(0);
    }

    @ParameterizedTest
    @EnumSource
    void doProbe_podDeletion(ProbeKind kind) {
        Pod pod = added(kind);
        fixture.fail();
        fixture.observe(deleted(pod), running("main", FIRST));
        fixture.run();

        assertChecks(kind == ProbeKind.READINESS ? 1 : 0);
        assertThat(succeeds(kind, pod)).isEqualTo(kind != ProbeKind.READINESS);
    }

    @ParameterizedTest
    @EnumSource
    void doProbe_noContainerStatus(ProbeKind kind) {
        fixture.observe(added(kind), running("otherContainer", FIRST));
        fixture.runNext();

        assertChecks(0);
    }

    @ParameterizedTest
    @EnumSource
    void doProbe_containerWaitingOrTerminated(ProbeKind kind) {
        Pod pod = added(kind);
        for (ContainerStatus status : List.of(waiting("main", FIRST), terminated("main", FIRST))) {
            fixture.observe(pod, status);
            fixture.runNext();

            assertChecks(0);
            assertThat(succeeds(kind, pod))
                    .as("not running is no failure that a restart could repair")
                    .isEqualTo(kind == ProbeKind.LIVENESS);
        }
    }

    @ParameterizedTest
    @EnumSource
    void doProbe_probeSuccessful(ProbeKind kind) {
        Pod pod = added(kind);
        fixture.observe(pod, running("main", FIRST));
        fixture.run();

        assertThat(fixture.checked).hasSize(1);
        assertThat(succeeds(kind, pod)).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void initialDelay(ProbeKind kind) {
        Pod pod =
                pod(container("main", kind, probe().withInitialDelaySeconds(10).build()));
        probes.add(pod);
        fixture.observe(pod, running("main", FIRST));

        fixture.time.advance(Duration.ofMillis(9_999));
        assertThat(fixture.checked).isEmpty();
        assertThat(succeeds(kind, pod)).isEqualTo(kind == ProbeKind.LIVENESS);

        fixture.time.advance(Duration.ofMillis(1));
        assertThat(fixture.checked).hasSize(1);
        assertThat(succeeds(kind, pod)).isTrue();
    }

    @Test
    void initialDelay_passedSinceTheStart_checksAtOnce() {
        Pod pod = pod(container(
                "main", ProbeKind.READINESS, probe().withInitialDelaySeconds(10).build()));
        probes.add(pod);
        fixture.observe(pod, running("main", FIRST, "2025-12-31T23:58:20Z"));
        fixture.run();

        assertThat(fixture.checked).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource(names = {"LIVENESS", "STARTUP"})
    void onHold_untilAnotherContainer(ProbeKind kind) {
        Pod pod = added(kind);
        fixture.observe(pod, running("main", FIRST));
        fixture.fail();
        fixture.run();
        fixture.succeed();
        fixture.runNext();

        assertThat(fixture.checked).hasSize(1);
        assertThat(fixture.time.scheduledTasks()).isZero();
        assertThat(probes.failed(key(pod), "main", FIRST)).isPresent();

        fixture.observe(pod, terminated("main", FIRST));
        assertThat(probes.failed(key(pod), "main", FIRST)).isPresent();

        fixture.observe(pod, running("main", SECOND));
        fixture.run();
        assertThat(fixture.checked).hasSize(2);
        assertThat(probes.failed(key(pod), "main", FIRST)).isEmpty();
        assertThat(probes.failed(key(pod), "main", SECOND)).isEmpty();
    }

    @Test
    void startupProbeDisabledByStarted() {
        Pod pod = pod(container(
                "main", ProbeKind.STARTUP, probe().withFailureThreshold(2).build()));
        probes.add(pod);
        fixture.observe(pod, running("main", FIRST));
        fixture.fail();
        fixture.run();
        assertThat(probes.started(key(pod), "main", FIRST)).isFalse();
        assertThat(probes.failed(key(pod), "main", FIRST)).isEmpty();

        fixture.succeed();
        fixture.runNext();
        assertThat(probes.started(key(pod), "main", FIRST)).isTrue();

        fixture.fail();
        fixture.runNext();
        assertThat(probes.started(key(pod), "main", FIRST)).isTrue();
        assertThat(fixture.checked).hasSize(2);
        assertThat(fixture.time.scheduledTasks()).isZero();
    }

    @Test
    void otherProbes_waitForStartup() {
        Pod pod = pod(new ContainerBuilder()
                .withName("main")
                .withStartupProbe(probe().withFailureThreshold(3).build())
                .withLivenessProbe(probe().build())
                .withReadinessProbe(probe().build())
                .build());
        probes.add(pod);
        fixture.observe(pod, running("main", FIRST));
        fixture.fail();
        fixture.run();
        fixture.runNext();
        assertThat(fixture.checked).hasSize(2);

        fixture.succeed();
        fixture.runNext();

        assertThat(fixture.checked)
                .as("startup, then the two others without delay")
                .hasSize(5);
        assertThat(probes.ready(key(pod), "main", FIRST)).isTrue();
    }

    @Test
    @ExpectedWarnings({"Readiness probe of container main of pod ", " could not be checked; probing continues"})
    void handleCrash() {
        Pod pod = added(ProbeKind.READINESS);
        fixture.observe(pod, running("main", FIRST));
        fixture.run();
        fixture.next = () -> {
            throw new IllegalStateException("intentional");
        };
        fixture.runNext();
        fixture.runNext();

        assertThat(fixture.checked).hasSize(3);
        assertThat(probes.ready(key(pod), "main", FIRST)).isTrue();
    }

    @Test
    void check_longerThanThePeriod_neverOverlapsAndIsFollowedAtOnce() {
        List<CompletableFuture<ProbeOutcome>> pending = new ArrayList<>();
        fixture.next = () -> {
            pending.add(new CompletableFuture<>());
            return pending.get(pending.size() - 1);
        };
        Pod pod = added(ProbeKind.READINESS);
        fixture.observe(pod, running("main", FIRST));
        fixture.time.advance(Duration.ofMillis(2_500));
        assertThat(pending).hasSize(1);

        pending.get(0).complete(ProbeOutcome.success(""));
        fixture.run();
        assertThat(pending).hasSize(2);
    }

    @Test
    void outcome_ofAnEarlierContainer_isDropped() {
        CompletableFuture<ProbeOutcome> late = new CompletableFuture<>();
        fixture.next = () -> late;
        Pod pod = added(ProbeKind.LIVENESS);
        fixture.observe(pod, running("main", FIRST));
        fixture.run();
        fixture.succeed();
        fixture.observe(pod, running("main", SECOND));

        late.complete(ProbeOutcome.failure("late"));
        fixture.run();

        assertThat(probes.failed(key(pod), "main", SECOND)).isEmpty();
        assertThat(fixture.events.lines()).isEmpty();
        assertThat(fixture.checked)
                .as("the second container is checked at once")
                .hasSize(2);
    }

    @Test
    void outcome_ofARemovedPod_isDropped() {
        CompletableFuture<ProbeOutcome> late = new CompletableFuture<>();
        fixture.next = () -> late;
        Pod pod = added(ProbeKind.LIVENESS);
        fixture.observe(pod, running("main", FIRST));
        fixture.run();
        probes.remove(key(pod));
        late.complete(ProbeOutcome.failure("late"));

        assertThat(fixture.changes).isEmpty();
        assertThat(fixture.events.lines()).isEmpty();
        assertThat(fixture.time.scheduledTasks()).isZero();
    }

    @Test
    void containerOfARestartedAgent_isCheckedAfterAPartOfThePeriodAndKeepsItsState() {
        fixture.jitter = 0.5;
        Pod pod = pod(container("main", ProbeKind.READINESS, probe().build()));
        probes.add(pod);
        fixture.observe(reportedReady(pod, FIRST), running("main", FIRST, "2025-12-31T00:00:00Z"));
        assertThat(probes.ready(key(pod), "main", FIRST)).isTrue();

        fixture.time.advance(Duration.ofMillis(499));
        assertThat(fixture.checked).isEmpty();
        fixture.fail();
        fixture.time.advance(Duration.ofMillis(1));
        assertThat(fixture.checked).hasSize(1);
        assertThat(probes.ready(key(pod), "main", FIRST)).isFalse();
    }

    @Test
    void startedContainerOfARestartedAgent_staysStarted() {
        Pod pod = added(ProbeKind.STARTUP);
        fixture.observe(reportedReady(pod, FIRST), running("main", FIRST, "2025-12-31T00:00:00Z"));
        fixture.runNext();

        assertThat(probes.started(key(pod), "main", FIRST)).isTrue();
        assertThat(fixture.checked).isEmpty();
    }

    @Test
    void containerThatWasReplacedDuringARestart_isNotReady() {
        Pod pod = added(ProbeKind.READINESS);
        fixture.observe(reportedReady(pod, FIRST), running("main", SECOND, "2025-12-31T00:00:00Z"));

        assertThat(probes.ready(key(pod), "main", SECOND)).isFalse();
    }

    @Test
    void containerThatStartedAfterTheAgent_isNotReadyByItsStatus() {
        Pod pod = added(ProbeKind.READINESS);
        fixture.observe(reportedReady(pod, FIRST), running("main", FIRST));

        assertThat(probes.ready(key(pod), "main", FIRST)).isFalse();
    }

    private static Pod reportedReady(Pod pod, String containerId) {
        return new PodBuilder(pod)
                .withNewStatus()
                .addNewContainerStatus()
                .withName("main")
                .withContainerID(containerId)
                .withReady(true)
                .withStarted(true)
                .endContainerStatus()
                .endStatus()
                .build();
    }
}
