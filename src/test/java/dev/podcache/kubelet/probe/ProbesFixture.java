package dev.podcache.kubelet.probe;

import dev.podcache.object.PodKey;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.RecordedEvents;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ProbeBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** {@link Probes} on a manual clock, with checks whose outcome the test sets. A probe has a period of one second. */
final class ProbesFixture {

    static final String FIRST = "test://first";
    static final String SECOND = "test://second";
    static final Duration PERIOD = Duration.ofSeconds(1);

    final ManualTimekeeper time = new ManualTimekeeper();
    final RecordedEvents events = new RecordedEvents();
    final List<ProbeChange> changes = new ArrayList<>();
    double jitter;

    /** The outcome of the next checks. */
    Supplier<CompletableFuture<ProbeOutcome>> next = ProbesFixture::succeeded;

    /** The containers that were checked, in order. */
    final List<String> checked = new ArrayList<>();

    final Probes probes = new Probes(this::check, new ProbeReports(changes::add, events), time, () -> jitter);

    private CompletableFuture<ProbeOutcome> check(Probe probe, ProbeTarget target) {
        checked.add(target.container().getName());
        return next.get();
    }

    private static CompletableFuture<ProbeOutcome> succeeded() {
        return CompletableFuture.completedFuture(ProbeOutcome.success(""));
    }

    void succeed() {
        next = ProbesFixture::succeeded;
    }

    void fail() {
        next = () -> CompletableFuture.completedFuture(ProbeOutcome.failure("no"));
    }

    /** Runs the checks that are due. */
    void run() {
        time.advance(Duration.ZERO);
    }

    /** Runs the checks of the next period. */
    void runNext() {
        time.advance(PERIOD);
    }

    void observe(Pod pod, ContainerStatus... statuses) {
        probes.observe(pod, List.of(statuses), "10.0.0.1");
    }

    static PodKey key(Pod pod) {
        return PodReferences.key(pod);
    }

    static ProbeBuilder probe() {
        return new ProbeBuilder()
                .withNewExec()
                .endExec()
                .withTimeoutSeconds(1)
                .withPeriodSeconds(1)
                .withSuccessThreshold(1)
                .withFailureThreshold(1);
    }

    static Container container(String name, ProbeKind kind, Probe probe) {
        ContainerBuilder container = new ContainerBuilder().withName(name);
        return switch (kind) {
            case LIVENESS -> container.withLivenessProbe(probe).build();
            case READINESS -> container.withReadinessProbe(probe).build();
            case STARTUP -> container.withStartupProbe(probe).build();
        };
    }

    static Pod pod(Container... containers) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName("web")
                .withUid("uid-web")
                .endMetadata()
                .withNewSpec()
                .withRestartPolicy("Never")
                .withContainers(containers)
                .endSpec()
                .build();
    }

    static Pod deleted(Pod pod) {
        return new PodBuilder(pod)
                .editMetadata()
                .withDeletionTimestamp("2026-01-01T00:00:00Z")
                .endMetadata()
                .build();
    }

    static ContainerStatus running(String name, String containerId) {
        return running(name, containerId, "2026-01-01T00:00:00Z");
    }

    static ContainerStatus running(String name, String containerId, String startedAt) {
        return new ContainerStatusBuilder()
                .withName(name)
                .withContainerID(containerId)
                .withNewState()
                .withNewRunning(startedAt)
                .endState()
                .build();
    }

    static ContainerStatus waiting(String name, String containerId) {
        return new ContainerStatusBuilder()
                .withName(name)
                .withContainerID(containerId)
                .withNewState()
                .withNewWaiting()
                .endWaiting()
                .endState()
                .build();
    }

    static ContainerStatus terminated(String name, String containerId) {
        return new ContainerStatusBuilder()
                .withName(name)
                .withContainerID(containerId)
                .withNewState()
                .withNewTerminated()
                .endTerminated()
                .endState()
                .build();
    }
}
