package dev.podcache.kubelet.podsync;

import com.google.common.collect.Iterables;
import dev.podcache.kubelet.podconfig.PodConfigException;
import dev.podcache.kubelet.podconfig.PodPlacement;
import dev.podcache.kubelet.podconfig.PodVolumes;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.PodProvider;
import dev.podcache.kubelet.runtime.PodProvider.PodSetup;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.pod.EphemeralContainers;
import dev.podcache.time.Backoff;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * One pod that a {@link PodProvider} runs as a whole: reads its configuration, creates it, and updates it when something has
 * changed. Stands in the place of {@link PodContainers}. Not thread-safe.
 */
final class ProvidedPod {

    private static final String CONFIG_UNAVAILABLE = "CreateContainerConfigError";
    private static final String FAILED = "ProviderFailed";
    private static final Backoff PAUSES = new Backoff(Duration.ofSeconds(10), Duration.ofMinutes(5));

    private final PodProvider provider;
    private final WorkerParts parts;
    private final RuntimeCalls calls;
    private final RuntimeFailures failures;
    private final IsolationChecks isolation;
    private final ReportedIps ips = new ReportedIps();
    private final WaitingContainers waiting = new WaitingContainers();
    private boolean known;
    private @Nullable GivenSetup given; // to the provider, by this agent
    private int failedCalls; // in a row
    private @Nullable GivenSetup failedFor;
    private @Nullable String createFailure; // if the latest call was a create, which failed
    private long retryAt; // in nanoseconds

    /** What the provider was given. */
    private record GivenSetup(
            PodSpec spec, Map<String, String> labels, Map<String, String> annotations, PodSetup setup) {

        static GivenSetup of(Pod pod, PodSetup setup) {
            return new GivenSetup(
                    pod.getSpec(),
                    Objects.requireNonNullElse(pod.getMetadata().getLabels(), Map.of()),
                    Objects.requireNonNullElse(pod.getMetadata().getAnnotations(), Map.of()),
                    setup);
        }
    }

    ProvidedPod(PodProvider provider, WorkerParts parts, RuntimeCalls calls, RuntimeFailures failures) {
        this.provider = provider;
        this.parts = parts;
        this.calls = calls;
        this.failures = failures;
        this.isolation = IsolationChecks.of(provider);
    }

    PodState state(Pod pod) throws IOException, InterruptedException {
        PodState shown = Objects.requireNonNull(
                        calls.call(pod, "status", () -> provider.status(pod)),
                        "the provider returned no status of the pod")
                .withEphemeralApart(name -> EphemeralContainers.isOne(pod, name));
        known = States.hasAny(shown);
        // a container that was started waits for nothing, even if its pod cannot be updated any more
        Iterables.concat(shown.initContainers(), shown.containers(), shown.ephemeralContainers())
                .forEach(status -> waiting.remove(status.getName()));
        return new PodState(
                ReportedTimes.valid(shown.initContainers()),
                ReportedTimes.valid(shown.containers()),
                ReportedTimes.valid(shown.ephemeralContainers()),
                ips.valid(pod, shown.podIps()),
                shown.containerHashes());
    }

    /** Returns whether the provider showed a container in the latest state. */
    boolean isKnown() {
        return known;
    }

    PodState withWaiting(Pod pod, PodState state) {
        return waiting.addTo(pod, state);
    }

    /** Creates or updates the pod if there is a reason to. */
    void drive(Pod pod, PodPlacement placement, SyncResult sync) throws InterruptedException {
        PodSetup setup = setup(pod, placement, sync);
        if (setup == null) {
            return;
        }
        GivenSetup now = GivenSetup.of(pod, setup);
        if (now.equals(given)) {
            return;
        }
        if (now.equals(failedFor) && parts.timekeeper().nanoTime() - retryAt < 0) {
            if (createFailure != null) {
                wait(pod, createFailure, FAILED);
            }
            sync.again(Duration.ofNanos(retryAt - parts.timekeeper().nanoTime()));
            return;
        }
        boolean creates = given == null && !known;
        try {
            if (creates) {
                calls.run(pod, "create", () -> provider.create(pod, setup));
            } else {
                calls.run(pod, "update", () -> provider.update(pod, setup));
            }
        } catch (IOException | RuntimeException | Error e) {
            failed(pod, now, creates, sync, e);
            return;
        }
        given = now;
        failedFor = null;
        failedCalls = 0;
        createFailure = null;
        containers(pod).forEach(container -> waiting.remove(container.getName()));
    }

    private void failed(Pod pod, GivenSetup attempt, boolean creates, SyncResult sync, Throwable e) {
        String action = creates ? "create" : "update";
        failures.log(Level.WARN, "provider failed to " + action + " pod " + KnownPods.name(pod) + "; retrying", e);
        String cause = PodContainers.text(e);
        sync.warn(PodEvent.providerFailed(action, cause));
        failedCalls = attempt.equals(failedFor) ? failedCalls + 1 : 1;
        failedFor = attempt;
        Duration pause = PAUSES.pause(failedCalls, 0);
        retryAt = parts.timekeeper().nanoTime() + pause.toNanos();
        sync.again(pause);
        createFailure = creates ? cause : null;
        if (creates) {
            wait(pod, cause, FAILED);
        }
    }

    private void wait(Pod pod, String why, String reason) {
        containers(pod).forEach(container -> waiting.put(container.getName(), States.waiting(why, reason)));
    }

    private static Iterable<Container> containers(Pod pod) {
        return Iterables.concat(pod.getSpec().getInitContainers(), pod.getSpec().getContainers());
    }

    /** Returns what the pod is run with; null if something is missing, which the containers then wait for. */
    private @Nullable PodSetup setup(Pod pod, PodPlacement placement, SyncResult sync) throws InterruptedException {
        PodVolumes volumes = calls.unlimited(() -> parts.configuration().volumes(pod, placement));
        PodContainers.throwIfInterrupted();
        volumes.failures()
                .forEach((volume, failure) -> sync.failed(PodEvent.volumeFailed(volume, PodContainers.text(failure))));
        parts.configuration().nextChange(pod).ifPresent(sync::again);
        Map<String, Launch> launches = new LinkedHashMap<>();
        for (Container container : containers(pod)) {
            configure(pod, container, placement, launches, sync);
        }
        boolean complete = volumes.failures().isEmpty() && launches.size() == Iterables.size(containers(pod));
        // the pod does not wait for those that were added to debug it
        for (Container container : EphemeralContainers.of(pod)) {
            configure(pod, container, placement, launches, sync);
        }
        return complete ? new PodSetup(launches, volumes.files()) : null;
    }

    /** Adds how a container is started to {@code launches}, or why it cannot be to what waits. */
    private void configure(
            Pod pod, Container container, PodPlacement placement, Map<String, Launch> launches, SyncResult sync)
            throws InterruptedException {
        String refusal = isolation.refusal(pod, container);
        if (refusal == null) {
            refusal = launch(pod, container, placement, launches);
        }
        if (refusal != null) {
            String name = container.getName();
            sync.failed(name, PodEvent.startFailed(pod, name, refusal));
            waiting.put(name, States.waiting(refusal, CONFIG_UNAVAILABLE));
        } else {
            waiting.remove(container.getName());
        }
    }

    private @Nullable String launch(Pod pod, Container container, PodPlacement placement, Map<String, Launch> launches)
            throws InterruptedException {
        try {
            launches.put(
                    container.getName(),
                    calls.unlimited(() -> parts.configuration().launch(pod, container, placement, 0)));
            return null;
        } catch (PodConfigException e) {
            PodContainers.throwIfInterrupted();
            return PodContainers.text(e);
        }
    }
}
