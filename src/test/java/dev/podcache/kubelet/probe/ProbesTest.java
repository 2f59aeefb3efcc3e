package dev.podcache.kubelet.probe;

import static dev.podcache.kubelet.probe.ProbesFixture.FIRST;
import static dev.podcache.kubelet.probe.ProbesFixture.container;
import static dev.podcache.kubelet.probe.ProbesFixture.deleted;
import static dev.podcache.kubelet.probe.ProbesFixture.key;
import static dev.podcache.kubelet.probe.ProbesFixture.pod;
import static dev.podcache.kubelet.probe.ProbesFixture.probe;
import static dev.podcache.kubelet.probe.ProbesFixture.running;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** {@code prober_manager_test.go} of Kubernetes, with its tests' names, and what is reported. */
@ExtendWith(NoLeaks.class)
class ProbesTest {

    private final ProbesFixture fixture = new ProbesFixture();
    private final Probes probes = fixture.probes;

    private static Container allProbes(String name) {
        return new ContainerBuilder()
                .withName(name)
                .withStartupProbe(probe().build())
                .withLivenessProbe(probe().build())
                .withReadinessProbe(probe().build())
                .build();
    }

    private static Container plain(String name) {
        return new ContainerBuilder().withName(name).build();
    }

    private static Pod withSidecar(String restartPolicy) {
        return new PodBuilder(pod(plain("main")))
                .editSpec()
                .withInitContainers(
                        plain("init"),
                        new ContainerBuilder(allProbes("sidecar"))
                                .withRestartPolicy(restartPolicy)
                                .build())
                .endSpec()
                .build();
    }

    @Test
    void counted_isKeptPerProbeAndGoesWithThePod() {
        Pod pod = pod(allProbes("main"));
        probes.add(pod);
        fixture.observe(pod, running("main", FIRST));
        CompletableFuture<ProbeOutcome> slow = new CompletableFuture<>();
        fixture.next = () -> slow;
        fixture.run();
        fixture.time.advance(Duration.ofMillis(300));

        slow.complete(ProbeOutcome.success(""));
        fixture.fail();
        fixture.runNext();

        assertThat(probes.counted())
                .filteredOn(each -> each.kind() == ProbeKind.STARTUP)
                .singleElement()
                .satisfies(each -> {
                    assertThat(each.pod()).isEqualTo(key(pod));
                    assertThat(each.container()).isEqualTo("main");
                    assertThat(each.results()).containsEntry("successful", 1L).containsEntry("failed", 0L);
                    assertThat(each.durations()).containsEntry(0.25, 0L).containsEntry(0.5, 1L);
                    assertThat(each.durations()).containsEntry(Double.POSITIVE_INFINITY, 1L);
                    assertThat(each.seconds()).isEqualTo(0.3);
                });
        assertThat(probes.counted())
                .filteredOn(each -> each.kind() == ProbeKind.LIVENESS)
                .singleElement()
                .satisfies(each -> assertThat(each.results()).containsEntry("failed", 1L));

        probes.remove(key(pod));

        assertThat(probes.counted()).isEmpty();
    }

    @Test
    void addRemovePods() {
        Pod without = pod(plain("no_probe1"), plain("no_probe2"));
        probes.add(without);
        fixture.observe(without, running("no_probe1", FIRST), running("no_probe2", "test://2"));
        assertThat(fixture.time.scheduledTasks()).isZero();

        Pod pod = pod(
                plain("probe1"),
                container("readiness", ProbeKind.READINESS, probe().build()),
                container("liveness", ProbeKind.LIVENESS, probe().build()),
                container("startup", ProbeKind.STARTUP, probe().build()));
        probes.add(pod);
        probes.add(pod);
        fixture.observe(
                pod,
                running("probe1", "test://1"),
                running("readiness", "test://2"),
                running("liveness", "test://3"),
                running("startup", "test://4"));
        fixture.run();
        assertThat(fixture.checked).containsExactlyInAnyOrder("readiness", "liveness", "startup");

        probes.remove(key(pod));
        probes.remove(key(pod));
        assertThat(fixture.time.scheduledTasks()).isZero();
        fixture.observe(pod, running("readiness", "test://2"));
        assertThat(fixture.time.scheduledTasks())
                .as("a removed pod stays removed")
                .isZero();
    }

    @Test
    void addRemovePodsWithRestartableInitContainer() {
        Pod withoutSidecar = withSidecar("");
        probes.add(withoutSidecar);
        fixture.observe(withoutSidecar, running("sidecar", FIRST));
        assertThat(fixture.time.scheduledTasks()).isZero();

        Pod withSidecar = withSidecar("Always");
        probes.add(withSidecar);
        fixture.fail();
        fixture.observe(withSidecar, running("sidecar", FIRST));
        fixture.run();

        assertThat(probes.started(key(withSidecar), "sidecar", FIRST)).isFalse();
        assertThat(fixture.events.events())
                .extracting(event -> event.about().getFieldPath())
                .containsExactly("spec.initContainers{sidecar}");
    }

    @Test
    void stopLivenessAndStartup_onDeletion() {
        Pod pod = pod(allProbes("main"));
        probes.add(pod);
        fixture.observe(pod, running("main", FIRST));
        fixture.run();
        assertThat(fixture.time.scheduledTasks()).as("liveness and readiness").isEqualTo(2);

        fixture.fail();
        fixture.observe(deleted(pod), running("main", FIRST));
        fixture.checked.clear();
        fixture.runNext();

        assertThat(fixture.checked).as("readiness").hasSize(1);
        assertThat(probes.failed(key(pod), "main", FIRST)).isEmpty();
        assertThat(probes.ready(key(pod), "main", FIRST)).isFalse();
    }

    @Test
    void cleanupRepeated() {
        for (int i = 0; i < 100; i++) {
            Pod pod = new PodBuilder(pod(allProbes("main")))
                    .editMetadata()
                    .withUid("uid-" + i)
                    .endMetadata()
                    .build();
            probes.add(pod);
            fixture.observe(pod, running("main", FIRST));
        }
        assertThat(fixture.time.scheduledTasks()).isEqualTo(100);

        probes.close();
        probes.close();

        assertThat(fixture.time.scheduledTasks()).isZero();
        Pod late = pod(allProbes("main"));
        probes.add(late);
        fixture.observe(late, running("main", FIRST));
        assertThat(fixture.time.scheduledTasks()).isZero();
    }

    @Test
    void updatePodStatus() {
        Pod pod = pod(
                container("unprobed", ProbeKind.LIVENESS, probe().build()),
                container("probed_ready", ProbeKind.READINESS, probe().build()),
                container("probed_pending", ProbeKind.READINESS, probe().build()),
                container("not_started", ProbeKind.STARTUP, probe().build()));
        probes.add(pod);
        fixture.observe(pod, running("probed_ready", "test://ready"));
        fixture.run();
        fixture.fail();
        fixture.observe(pod, running("not_started", "test://not_started"));
        fixture.run();

        assertThat(probes.ready(key(pod), "unprobed", "test://unprobed")).isTrue();
        assertThat(probes.ready(key(pod), "probed_ready", "test://ready")).isTrue();
        assertThat(probes.ready(key(pod), "probed_ready", "test://another")).isFalse();
        assertThat(probes.ready(key(pod), "probed_pending", "test://pending")).isFalse();
        assertThat(probes.ready(key(pod), "not_started", "test://not_started")).isFalse();
        assertThat(probes.started(key(pod), "not_started", "test://not_started"))
                .isFalse();
        assertThat(probes.started(key(pod), "probed_pending", "test://pending")).isTrue();
    }

    @Test
    void updateReadiness() {
        Pod pod = pod(container("main", ProbeKind.READINESS, probe().build()));
        probes.add(pod);
        fixture.observe(pod, running("main", FIRST));
        fixture.run();
        fixture.runNext();
        fixture.fail();
        fixture.runNext();
        fixture.runNext();

        assertThat(fixture.changes)
                .containsExactly(
                        new ProbeChange(key(pod), "main", ProbeKind.READINESS, true, ""),
                        new ProbeChange(key(pod), "main", ProbeKind.READINESS, false, "no"));
        assertThat(fixture.events.lines())
                .containsExactly(
                        "Warning Unhealthy Readiness probe failed: no", "Warning Unhealthy Readiness probe failed: no");
        assertThat(fixture.events.events().get(0).about().getFieldPath()).isEqualTo("spec.containers{main}");
    }

    @Test
    void warning_isSuccessWithAnEvent() {
        fixture.next = () -> CompletableFuture.completedFuture(ProbeOutcome.warning("redirect"));
        Pod pod = pod(container("main", ProbeKind.READINESS, probe().build()));
        probes.add(pod);
        fixture.observe(pod, running("main", FIRST));
        fixture.run();

        assertThat(probes.ready(key(pod), "main", FIRST)).isTrue();
        assertThat(fixture.events.lines()).containsExactly("Warning ProbeWarning Readiness probe warning: redirect");
    }

    @Test
    void error_doesNotCountAndHasAnEvent() {
        fixture.next = () -> CompletableFuture.completedFuture(ProbeOutcome.error("no runtime"));
        Pod pod = pod(container("main", ProbeKind.LIVENESS, probe().build()));
        probes.add(pod);
        fixture.observe(pod, running("main", FIRST));
        fixture.run();
        fixture.runNext();

        assertThat(probes.failed(key(pod), "main", FIRST)).isEmpty();
        assertThat(fixture.changes).isEmpty();
        assertThat(fixture.events.lines())
                .hasSize(2)
                .contains("Warning Unhealthy Liveness probe errored and resulted in unknown state: no runtime");
    }

    @Test
    void failed_saysWhichProbeAndItsGracePeriod() {
        Pod pod = pod(
                container(
                        "live",
                        ProbeKind.LIVENESS,
                        probe().withTerminationGracePeriodSeconds(7L).build()),
                container("slow", ProbeKind.STARTUP, probe().build()));
        probes.add(pod);
        fixture.fail();
        fixture.observe(pod, running("live", "test://live"), running("slow", "test://slow"));
        fixture.run();

        assertThat(probes.failed(key(pod), "live", "test://live"))
                .contains(new FailedProbe(
                        ProbeKind.LIVENESS,
                        "Container live failed liveness probe",
                        Optional.of(Duration.ofSeconds(7))));
        assertThat(probes.failed(key(pod), "slow", "test://slow"))
                .contains(new FailedProbe(ProbeKind.STARTUP, "Container slow failed startup probe", Optional.empty()));
    }

    @Test
    @ExpectedWarnings({"the result of the Readiness probe of container main of pod ", "; probing continues"})
    void listener_throws_probingContinues() {
        Probes throwing = new Probes(
                (probe, target) -> {
                    fixture.checked.add(target.container().getName());
                    return CompletableFuture.completedFuture(ProbeOutcome.success(""));
                },
                new ProbeReports(
                        change -> {
                            throw new IllegalStateException("intentional");
                        },
                        fixture.events),
                fixture.time,
                () -> 0);
        Pod pod = pod(container("main", ProbeKind.READINESS, probe().build()));
        throwing.add(pod);
        throwing.observe(pod, List.of(running("main", FIRST)), null);
        fixture.run();
        fixture.runNext();

        assertThat(fixture.checked).hasSize(2);
        throwing.close();
    }
}
