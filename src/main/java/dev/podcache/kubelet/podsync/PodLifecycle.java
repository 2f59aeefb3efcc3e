package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.eviction.Eviction;
import dev.podcache.kubelet.eviction.PodRejection;
import dev.podcache.kubelet.podconfig.PodPlacement;
import dev.podcache.kubelet.podconfig.PodVolumes;
import dev.podcache.kubelet.podstatus.PodObservation;
import dev.podcache.kubelet.podstatus.PodStatuses;
import dev.podcache.kubelet.runtime.PodProvider;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodEnd;
import dev.podcache.pod.PodOrigin;
import dev.podcache.pod.PodReferences;
import dev.podcache.time.ApiTime;
import dev.podcache.time.Durations;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The lifecycle of one pod. The first sync registers the pod with the managers and reports it before anything slow
 * begins. Once the pod is marked for deletion, has ended, is evicted or has exceeded its deadline, it is stopped, unregistered and
 * reported as finished. Once the API server no longer has it, it is forgotten. Not thread-safe, but for {@link
 * #probed}.
 *
 * <p>Follows {@code SyncPod}, {@code SyncTerminatingPod} and {@code SyncTerminatedPod} of the kubelet's {@code
 * kubelet.go}, with two differences. A pod that is already marked for deletion after a restart stays registered until
 * it has stopped, so that its volumes remain readable. An event is recorded only if the previous sync did not record
 * it.
 */
final class PodLifecycle {

    private static final Logger log = LoggerFactory.getLogger(PodLifecycle.class);

    private final WorkerParts parts;
    private final RuntimeCalls calls;
    private final LifecycleHooks hooks;
    private final NodeDecisions decisions;
    private final PodStop stop;
    private RuntimeFailures failures = new RuntimeFailures();
    private volatile PodContainers containers;
    private @Nullable ProvidedPod provided; // if a provider runs the pod, instead of the containers
    private List<PodEvent> lastWarnings = List.of();
    private @Nullable PodStatus lastStatus;
    private boolean mounted; // the volumes, since this agent knows the pod
    private boolean adopted; // what the agent before this one reported
    private boolean ended;

    /** What the node decides about its pods. */
    record NodeDecisions(PodAdmission admission, Evictions evictions) {}

    PodLifecycle(WorkerParts parts, RuntimeCalls calls, LifecycleHooks hooks, NodeDecisions decisions) {
        this.parts = parts;
        this.decisions = decisions;
        this.calls = calls;
        this.hooks = hooks;
        this.stop = new PodStop(parts, calls, hooks);
        this.containers = new PodContainers(parts, calls, hooks, failures);
        this.provided = provided();
    }

    private @Nullable ProvidedPod provided() {
        return parts.runtime() instanceof PodProvider provider
                ? new ProvidedPod(provider, parts, calls, failures)
                : null;
    }

    /**
     * Implements {@link PodWorker.PodSync#sync}, but throws any failure.
     *
     * @param random uniform in [0, 1), extends the period until the next sync
     */
    Optional<Duration> sync(Pod pod, boolean gone, DoubleSupplier random) throws IOException, InterruptedException {
        if (gone) {
            forget(pod);
            return Optional.empty();
        }
        if (ended) {
            // the pod may have been marked for deletion after it ended
            parts.statuses().terminatePod(pod);
            decisions.evictions.ended(pod.getMetadata().getUid());
            return Optional.empty();
        }
        if (!adopted) {
            adopt(pod);
        }
        Optional<Eviction> eviction = eviction(pod);
        if (eviction.isPresent()) {
            return end(pod, EndCause.of(eviction.get()));
        }
        return PodEnd.isDue(pod) ? end(pod) : run(pod, random);
    }

    /** Takes over what the agent before this one reported: of a static pod, once its mirror pod is known. */
    private void adopt(Pod pod) {
        Optional<Pod> shown = PodOrigin.isStatic(pod)
                ? parts.statuses().atServer(pod.getMetadata().getUid())
                : Optional.of(pod);
        PodStatus reported = shown.map(Pod::getStatus).orElse(null);
        if (lastStatus == null
                || (reported != null && !reported.getContainerStatuses().isEmpty())) {
            lastStatus = reported;
            containers.adopt(reported);
        }
        adopted = shown.isPresent();
    }

    /** Reports what probes have found of the containers, also while a sync blocks. Thread-safe. */
    void probed(Pod pod) {
        parts.statuses().setHealth(pod, containers::setHealth);
    }

    /** Returns the log of this pod's failures. Used by the thread of the sync. */
    RuntimeFailures failures() {
        return failures;
    }

    private Optional<Duration> run(Pod wanted, DoubleSupplier random) throws IOException, InterruptedException {
        SyncResult sync = new SyncResult(parts.periods());
        parts.configuration().register(wanted);
        PodState state = state(wanted);
        Pod pod = containers.resized(wanted, state, sync);
        if (!parts.statuses().hasStatus(pod.getMetadata().getUid())) {
            Optional<PodRejection> rejection = isKnown() ? Optional.empty() : decisions.admission.rejection(pod);
            if (rejection.isPresent()) {
                return reject(pod, rejection.get());
            }
            report(pod, state);
        }
        Optional<Duration> active = activeTimeLeft(pod);
        if (active.isPresent() && active.get().isZero()) {
            PodEvent.deadlineExceeded().emit(pod, parts.events());
            return end(pod, SyncResult.DEADLINE);
        }
        active.ifPresent(sync::again);
        PodPlacement placement = placement(pod, state);
        if (provided != null) {
            provided.drive(pod, placement, sync);
            report(pod, state(pod));
            recordNew(sync.warnings(), pod);
            return PodEnd.isTerminal(Objects.requireNonNull(lastStatus).getPhase())
                    ? end(pod)
                    : Optional.of(sync.next(random));
        }
        // a pod that the runtime knows has its volumes from before
        boolean goesOn = mount(pod, placement, sync) || containers.areKnown();
        if (!goesOn) {
            report(pod, state);
        }
        if (goesOn && state.podIps().isEmpty() && !containers.areKnown()) {
            // a runtime may have given the pod its addresses with its volumes, and no container is to start without
            // them
            state = state(pod);
        }
        boolean over = goesOn && drive(pod, state, sync);
        recordNew(sync.warnings(), pod);
        return over ? end(pod) : Optional.of(sync.next(random));
    }

    /** Stops and starts containers until there is nothing more to do now. Returns whether the pod is over. */
    private boolean drive(Pod pod, PodState first, SyncResult sync) throws IOException, InterruptedException {
        PodState state = first;
        while (true) {
            PodActions actions = containers.actions(pod, state);
            if (actions.over()) {
                report(pod, state);
                return true;
            }
            boolean changed = containers.apply(actions, pod, placement(pod, state), sync);
            PodState next = state(pod);
            report(pod, next);
            if (!changed) {
                return false;
            }
            if (next.equals(state)) {
                // a runtime that shows no effect of its calls must not be called in a loop
                sync.again(parts.periods().failed());
                return false;
            }
            state = next;
        }
    }

    /** Writes the volumes that can be resolved. Returns whether all of them are there. */
    private boolean mount(Pod pod, PodPlacement placement, SyncResult sync) throws InterruptedException {
        // the objects may have to be read, which may take long
        PodVolumes volumes;
        try {
            volumes = calls.unlimited(() -> parts.configuration().volumes(pod, placement));
        } catch (RuntimeException e) {
            // what a user wrote into a pod must be told at the pod
            sync.failed(PodEvent.mountFailed(containers.failed(pod, "resolve volumes", e)));
            return false;
        }
        PodContainers.throwIfInterrupted();
        volumes.failures()
                .forEach((volume, failure) -> sync.failed(PodEvent.volumeFailed(volume, PodContainers.text(failure))));
        parts.configuration().nextChange(pod).ifPresent(sync::again);
        try {
            calls.run(pod, "mount of volumes", () -> parts.runtime().mount(pod, volumes.files()));
            mounted |= volumes.failures().isEmpty();
            return volumes.failures().isEmpty();
        } catch (IOException | RuntimeException | Error e) {
            sync.failed(PodEvent.mountFailed(containers.failed(pod, "mount volumes", e)));
            return false;
        }
    }

    private Optional<Duration> end(Pod pod) throws IOException, InterruptedException {
        return end(pod, null);
    }

    private Optional<Duration> end(Pod pod, @Nullable PodStatus cause) throws IOException, InterruptedException {
        boolean finishedBefore = PodEnd.isTerminal(pod);
        if (!finishedBefore) {
            // a pod that was already marked for deletion at a restart may need its volumes until it has stopped
            parts.configuration().register(pod);
        }
        PodState state = state(pod);
        boolean stopped = stopRunning(pod, state);
        if (stopped) {
            state = state(pod);
        }
        if (stopped || !finishedBefore) {
            report(pod, finalStatus(pod, state, cause));
        }
        finish(pod, stopped || !finishedBefore || PodEnd.isDeleted(pod));
        return Optional.empty();
    }

    /** Reports a pod as Failed that never started. */
    private Optional<Duration> reject(Pod pod, PodRejection rejection) {
        PodEvent.rejected(rejection).emit(pod, parts.events());
        report(pod, EndCause.of(pod, rejection));
        finish(pod, true);
        return Optional.empty();
    }

    private void finish(Pod pod, boolean reports) {
        parts.configuration().unregister(pod);
        if (reports) {
            parts.statuses().terminatePod(pod);
        }
        ended(pod);
    }

    /** Nothing of the pod runs any more. */
    private void ended(Pod pod) {
        parts.health().ended(PodReferences.key(pod));
        ended = true;
        decisions.evictions.ended(pod.getMetadata().getUid());
        tell("that it has ended", pod, () -> parts.listener().ended(pod));
    }

    /** Calls the user's listener, whose exception must not stop the pod's work half-way. */
    private static void tell(String what, Pod pod, Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error e) {
            log.error("the listener threw when it was told of pod {} {}; continuing", PodReferences.key(pod), what, e);
        }
    }

    private Optional<Eviction> eviction(Pod pod) {
        return decisions.evictions.of(pod.getMetadata().getUid());
    }

    private PodStatus finalStatus(Pod pod, PodState state, @Nullable PodStatus cause) {
        PodStatus status = PodStatuses.of(pod, observation(pod, state).afterTheEnd());
        if (cause != null) {
            EndCause.add(cause, status);
        }
        return status;
    }

    /** Stops the containers that run. Returns whether there were any. */
    private boolean stopRunning(Pod pod, PodState state) throws IOException, InterruptedException {
        parts.health().ending(PodReferences.key(pod));
        boolean anyRuns = state.initContainers().stream().anyMatch(status -> !States.isTerminated(status))
                || state.containers().stream().anyMatch(status -> !States.isTerminated(status))
                || state.ephemeralContainers().stream().anyMatch(status -> !States.isTerminated(status));
        if (anyRuns) {
            PodContainers.forEachRunning(
                    state,
                    status -> PodEvent.killing(pod, status.getName(), "Stopping container " + status.getName())
                            .emit(pod, parts.events()));
            stopAll(pod, state);
        }
        return anyRuns;
    }

    private void stopAll(Pod pod, PodState state) throws IOException, InterruptedException {
        Duration grace = GracePeriod.of(pod, eviction(pod));
        try {
            if (parts.runtime() instanceof PodProvider provider) {
                calls.run(pod, "delete", grace, () -> provider.delete(PodReferences.key(pod), grace));
            } else {
                calls.run(pod, "stop", grace, () -> stop.stop(pod, state, grace));
            }
        } catch (IOException | RuntimeException | Error e) {
            recordNew(List.of(PodEvent.killFailed(PodContainers.text(e))), pod);
            throw e;
        }
    }

    private PodState state(Pod pod) throws IOException, InterruptedException {
        try {
            return provided == null ? containers.state(pod, lastStatus) : containers.withResources(provided.state(pod));
        } catch (IOException | RuntimeException | Error e) {
            recordNew(List.of(PodEvent.statusFailed(PodContainers.text(e))), pod);
            throw e;
        }
    }

    private void forget(Pod pod) throws IOException, InterruptedException {
        PodKey key = PodReferences.key(pod);
        if (!ended && PodOrigin.isStatic(pod)) {
            // its file is gone, which is all that announces its end
            end(pod);
        }
        if (!ended) {
            // the state is not asked first: a pod that was force-deleted while the agent was away has no status
            stopAll(pod, PodState.NONE);
            parts.configuration().unregister(pod);
            ended(pod);
        }
        if (parts.runtime() instanceof PodProvider provider) {
            // a pod that ended by itself still has what the provider keeps for it
            calls.run(pod, "delete", () -> provider.delete(key, Duration.ZERO));
        }
        calls.run(pod, "forget", () -> parts.runtime().forget(key));
        parts.statuses().forget(key.uid());
        // the pod may reappear in a list from a server that lags behind
        ended = false;
        lastWarnings = List.of();
        lastStatus = null;
        adopted = false;
        mounted = false;
        failures = new RuntimeFailures();
        containers = new PodContainers(parts, calls, hooks, failures);
        provided = provided();
    }

    private boolean isKnown() {
        return provided == null ? containers.areKnown() : provided.isKnown();
    }

    private void report(Pod pod, PodState state) {
        PodState waiting = provided == null ? containers.withWaiting(pod, state) : provided.withWaiting(pod, state);
        PodState shown = ContainerHistory.reportable(pod, waiting, lastStatus);
        PodStatus status = PodStatuses.of(pod, observation(pod, shown));
        containers.resizeCondition().ifPresent(status.getConditions()::add);
        report(pod, status);
    }

    private void report(Pod pod, PodStatus status) {
        lastStatus = status;
        parts.statuses().setPodStatus(pod, status);
        if (provided == null) {
            // a probe may have found something else since the status was made
            probed(pod);
        }
        tell("that it was synced", pod, () -> parts.listener().synced(pod, status));
    }

    private PodObservation observation(Pod pod, PodState state) {
        PodPlacement placement = placement(pod, state);
        return PodObservation.of(state.containers(), state.initContainers())
                .withEphemeral(state.ephemeralContainers())
                .at(placement.hostIps(), placement.podIps())
                // a pod that the runtime knows has its volumes from before
                .withVolumes(mounted || isKnown());
    }

    private void recordNew(List<PodEvent> warnings, Pod pod) {
        for (PodEvent warning : warnings) {
            if (!lastWarnings.contains(warning)) {
                warning.emit(pod, parts.events());
            }
        }
        lastWarnings = warnings;
    }

    /** Returns how long the pod may still be active, at least zero; empty if it has no deadline. */
    private Optional<Duration> activeTimeLeft(Pod pod) {
        Long seconds = pod.getSpec().getActiveDeadlineSeconds();
        if (seconds == null) {
            return Optional.empty();
        }
        return parts.statuses()
                .getPodStatus(pod.getMetadata().getUid())
                .flatMap(status -> ApiTime.parse(status.getStartTime()))
                .map(start ->
                        Duration.between(parts.timekeeper().wallTime(), start).plus(Durations.ofSeconds(seconds)))
                .map(left -> left.isNegative() ? Duration.ZERO : left);
    }

    private PodPlacement placement(Pod pod, PodState state) {
        return PodPlacement.on(parts.node().apply(pod).orElseGet(Node::new), state.podIps());
    }
}
