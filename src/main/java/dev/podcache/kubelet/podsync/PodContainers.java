package dev.podcache.kubelet.podsync;

import com.google.common.primitives.Ints;
import dev.podcache.kubelet.podconfig.PodConfigException;
import dev.podcache.kubelet.podconfig.PodPlacement;
import dev.podcache.kubelet.podsync.LifecycleHooks.HookTarget;
import dev.podcache.kubelet.podsync.PodActions.AfterStop;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.object.PodKey;
import dev.podcache.pod.EphemeralContainers;
import dev.podcache.pod.PodReferences;
import dev.podcache.time.ApiTime;
import dev.podcache.time.Durations;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStateWaiting;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.LifecycleHandler;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodIP;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The containers of one pod: starts and stops them as {@link PodActions} says, with back-off, and remembers why those
 * that could not be started wait. Not thread-safe, but for {@link #setHealth}.
 */
final class PodContainers {

    private static final Logger log = LoggerFactory.getLogger(PodContainers.class);

    private static final String CONFIG_UNAVAILABLE = "CreateContainerConfigError";
    private static final String START_FAILED = "RunContainerError";
    private static final String HOOK_FAILED = "PostStartHookError";
    private static final String BACK_OFF = "CrashLoopBackOff";

    /** The kubelet's reason for containers that are about to be started. */
    private static final String RESTARTING = "ContainerCreating";

    /** A kubelet does not limit a postStart hook. */
    private static final Duration HOOK_TIMEOUT = Duration.ofDays(365);

    private final PodRuntime runtime;
    private final RuntimeCalls calls;
    private final WorkerParts parts;
    private final LifecycleHooks hooks;
    private final PodStop stop;
    private final RuntimeFailures failures;
    private final RestartBackoff backoff;
    private final ReportedIps ips = new ReportedIps();
    private final WaitingContainers waiting = new WaitingContainers();
    private final ContainerMemory memory = new ContainerMemory();
    private final IsolationChecks isolation;
    private final ImagePulls images;
    private final RepeatPauses failedStarts;
    private final PodResize resize;
    private boolean known;
    private volatile Consumer<ContainerStatus> health = status -> {}; // sets it by the latest state

    /**
     * Creates an instance that knows no container.
     *
     * @param failures logs the calls that fail
     */
    PodContainers(WorkerParts parts, RuntimeCalls calls, LifecycleHooks hooks, RuntimeFailures failures) {
        this.failures = failures;
        this.parts = parts;
        this.runtime = parts.runtime();
        this.calls = calls;
        this.hooks = hooks;
        this.stop = new PodStop(parts, calls, hooks);
        this.isolation = IsolationChecks.of(runtime);
        this.images = new ImagePulls(parts, calls, failures);
        this.failedStarts = new RepeatPauses(parts.timekeeper());
        this.resize = new PodResize(parts, calls, memory);
        this.backoff = new RestartBackoff(parts.periods().longestRestart());
    }

    /** Takes over what the agent before this one reported: a container that had ended and waited was to be started. */
    void adopt(@Nullable PodStatus reported) {
        if (reported != null) {
            resize.adopt(reported);
            reported.getInitContainerStatuses().forEach(this::adopt);
            reported.getContainerStatuses().forEach(this::adopt);
        }
    }

    private void adopt(ContainerStatus reported) {
        ContainerStateTerminated end = States.lastTermination(reported);
        ContainerStateWaiting reason =
                reported.getState() == null ? null : reported.getState().getWaiting();
        if (reason != null && end != null && end.getContainerID() != null) {
            memory.restarts(reported.getName(), end.getContainerID());
            waiting.put(reported.getName(), reason);
        }
    }

    /** Returns the state of all containers that were ever started. */
    PodState state(Pod pod, @Nullable PodStatus reported) throws IOException, InterruptedException {
        PodState shown = Objects.requireNonNull(
                        calls.call(pod, "status", () -> runtime.status(pod)),
                        "the runtime returned no status of the pod")
                .withEphemeralApart(name -> EphemeralContainers.isOne(pod, name));
        known = States.hasAny(shown);
        String now = ApiTime.of(parts.timekeeper().wallTime());
        ContainerHistory history = new ContainerHistory(pod, parts.health(), now);
        PodState complete = history.complete(
                new PodState(
                        ReportedTimes.valid(shown.initContainers()),
                        ReportedTimes.valid(shown.containers()),
                        ReportedTimes.valid(shown.ephemeralContainers()),
                        podIps(pod, shown, reported),
                        shown.containerHashes()),
                reported);
        memory.lost(shown.containers().isEmpty(), history.lost());
        parts.health().observe(pod, complete);
        health = status -> history.setHealth(shown, status);
        return resize.withResources(history.withHealth(complete));
    }

    /** Sets anew whether a container that runs has started and is ready, in a status that was reported. Thread-safe. */
    void setHealth(ContainerStatus reported) {
        health.accept(reported);
    }

    /** Carries out a resize of the pod, if there is one. Returns the pod with the resources that its containers have. */
    Pod resized(Pod pod, PodState state, SyncResult sync) throws InterruptedException {
        return resize.apply(pod, state, sync);
    }

    /** Returns {@code state} with the resources of the containers that were started, where it shows none. */
    PodState withResources(PodState state) {
        return resize.withResources(state);
    }

    /** Returns the condition of a resize that is not done; empty if there is none. */
    Optional<PodCondition> resizeCondition() {
        return resize.condition();
    }

    /** Returns whether the runtime showed a container in the latest state. */
    boolean areKnown() {
        return known;
    }

    /** Returns the addresses of a pod: those of its node, if it is on the host network. */
    private List<String> podIps(Pod pod, PodState shown, @Nullable PodStatus reported) {
        if (!Boolean.TRUE.equals(pod.getSpec().getHostNetwork())) {
            List<String> valid = ips.valid(pod, shown.podIps());
            // as in a kubelet, a pod keeps its addresses in its status when its containers have ended; ephemeral ones
            // do not count
            boolean wasStarted =
                    !shown.initContainers().isEmpty() || !shown.containers().isEmpty();
            boolean hasEnded = wasStarted
                    && shown.initContainers().stream().allMatch(States::isTerminated)
                    && shown.containers().stream().allMatch(States::isTerminated);
            return valid.isEmpty() && hasEnded && reported != null
                    ? reported.getPodIPs().stream().map(PodIP::getIp).toList()
                    : valid;
        }
        Node node = parts.node().apply(pod).orElseGet(Node::new);
        return PodPlacement.on(node, List.of()).hostIps();
    }

    /** Returns what must be done for the pod, and forgets why containers waited that need not be started. */
    PodActions actions(Pod pod, PodState state) {
        PodKey key = PodReferences.key(pod);
        PodActions actions = PodActions.of(
                pod, state, memory, (container, status) -> parts.health().unhealthy(key, container, States.id(status)));
        waiting.retain(actions.starts());
        return actions;
    }

    /** Returns {@code state} with the containers that wait, to be reported. */
    PodState withWaiting(Pod pod, PodState state) {
        return waiting.addTo(pod, state);
    }

    /**
     * Stops and starts containers, except those that have failed in this sync. Returns whether more may be done at once,
     * because a container was started or stopped.
     *
     * @param sync collects warnings, failures, and when to sync again
     */
    boolean apply(PodActions actions, Pod pod, PodPlacement placement, SyncResult sync) throws InterruptedException {
        boolean progress = false;
        for (PodActions.ContainerStop each : actions.stops()) {
            progress |= !sync.hasFailed(each.container().getName()) && apply(each, pod, placement, sync);
        }
        for (PodActions.ContainerStart start : actions.starts()) {
            if (!sync.hasFailed(start.container().getName()) && !isBackingOff(start, pod, sync)) {
                progress |= start(start, pod, placement, sync);
            }
        }
        return progress;
    }

    private boolean apply(PodActions.ContainerStop stop, Pod pod, PodPlacement placement, SyncResult sync)
            throws InterruptedException {
        if (stop.next() != AfterStop.NOTHING) {
            willRestart(stop);
        }
        HookTarget target = new HookTarget(pod, stop.container(), placement.podIps());
        boolean stopped = stop(target, stop.why(), stop.gracePeriod().orElse(GracePeriod.of(pod)), sync);
        if (stopped && stop.next() == AfterStop.START) {
            start(stop.instance(), pod, placement, sync);
        }
        return stopped;
    }

    /*
     * A container that is stopped to be started again may exit with 0. Under restart policy OnFailure, a status that shows
     * it as terminated says that it has succeeded, and no later status may show it running: StatusTransitions refuses that,
     * as a kubelet does. A kubelet sets no status between the stop and the start. Here the start may have to wait, so the
     * container is shown as waiting, with its end as its last state. This is set before the stop, because a container may
     * end although its stop fails.
     */
    private void willRestart(PodActions.ContainerStop stopped) {
        String name = stopped.container().getName();
        memory.restarts(
                name, States.id(Objects.requireNonNull(stopped.instance().last())));
        waiting.put(name, States.waiting(stopped.why(), RESTARTING));
    }

    private boolean stop(HookTarget target, String why, Duration grace, SyncResult sync) throws InterruptedException {
        Pod pod = target.pod();
        String name = target.container().getName();
        PodEvent.killing(pod, name, why).emit(pod, parts.events());
        try {
            calls.run(pod, "stop of container " + name, grace, () -> stop.stop(target, grace));
            return true;
        } catch (IOException | RuntimeException | Error e) {
            sync.failed(name, PodEvent.stopFailed(pod, name, failed(pod, "stop container " + name, e)));
            return false;
        }
    }

    /** Returns whether the restart of a container has to wait. Sets its reason to wait then. */
    private boolean isBackingOff(PodActions.ContainerStart start, Pod pod, SyncResult sync) {
        ContainerStateTerminated end = start.last() == null ? null : States.termination(start.last());
        if (end == null) {
            return false;
        }
        Container container = start.container();
        String name = container.getName();
        String image = String.valueOf(container.getImage());
        Instant now = parts.timekeeper().wallTime();
        Instant ended = ApiTime.parse(end.getFinishedAt()).orElse(now);
        Duration left = backoff.remaining(name, image, ended, now);
        if (left.isZero()) {
            backoff.restarted(name, image, ended, now);
            return false;
        }
        waiting.put(
                name,
                States.waiting(
                        "back-off " + Durations.text(backoff.pause(name, image, ended))
                                + " restarting failed container=" + name
                                + " pod=" + pod.getMetadata().getName() + "_"
                                + pod.getMetadata().getNamespace() + "("
                                + pod.getMetadata().getUid() + ")",
                        BACK_OFF));
        sync.warn(PodEvent.backOff(pod, name));
        sync.again(left);
        return true;
    }

    private boolean start(PodActions.ContainerStart start, Pod pod, PodPlacement placement, SyncResult sync)
            throws InterruptedException {
        Container container = start.container();
        String name = container.getName();
        Launch launch = null;
        try {
            RepeatPauses.Failed last = failedStarts.pausing(name);
            if (last != null && last.attempt().equals(launch(start, pod, placement))) {
                waiting.put(name, last.reason());
                sync.warn(last.event());
                sync.again(failedStarts.left(last));
                return false;
            }
            ContainerStateWaiting missing = images.ensure(pod, container, sync);
            if (missing != null) {
                waiting.put(name, missing);
                return false;
            }
            Optional<String> target = EphemeralContainers.target(pod, name);
            if (target.isPresent() && !start.targets().contains(target.get())) {
                return isUnavailable(pod, name, "unable to find target container " + target.get(), sync);
            }
            Launch made = launch(start, pod, placement);
            launch = made;
            String refusal = isolation.refusal(pod, container);
            if (refusal != null) {
                return isUnavailable(pod, name, refusal, sync);
            }
            calls.run(pod, "start of container " + name, () -> runtime.startContainer(pod, container, made));
        } catch (PodConfigException e) {
            throwIfInterrupted();
            return isUnavailable(pod, name, text(e), sync);
        } catch (IOException | RuntimeException | Error e) {
            String cause = failed(pod, "start container " + name, e);
            PodEvent event = PodEvent.startFailed(pod, name, cause);
            ContainerStateWaiting reason = States.waiting(cause, START_FAILED);
            sync.failed(name, event);
            if (launch != null) {
                sync.again(failedStarts.failed(name, launch, reason, event));
            }
            waiting.put(name, reason);
            return false;
        }
        started(container, pod, launch);
        postStart(new HookTarget(pod, container, placement.podIps()), sync);
        return true;
    }

    /** Reads the objects that the container gets its configuration from, which may take long. */
    private Launch launch(PodActions.ContainerStart start, Pod pod, PodPlacement placement)
            throws InterruptedException {
        return calls.unlimited(
                () -> parts.configuration().launch(pod, start.container(), placement, nextCount(start.last())));
    }

    private boolean isUnavailable(Pod pod, String container, String why, SyncResult sync) {
        sync.failed(container, PodEvent.startFailed(pod, container, why));
        waiting.put(container, States.waiting(why, CONFIG_UNAVAILABLE));
        return false;
    }

    private void started(Container container, Pod pod, Launch launch) {
        String name = container.getName();
        waiting.remove(name);
        failedStarts.succeeded(name);
        memory.started(name, launch.containerHash());
        images.started(pod, container);
        PodEvent.created(pod, name).emit(pod, parts.events());
        PodEvent.started(pod, name).emit(pod, parts.events());
    }

    /** Runs the postStart hook of a container, if it has one. If it fails, the container is stopped. */
    private void postStart(HookTarget target, SyncResult sync) throws InterruptedException {
        LifecycleHandler hook = hooks.postStart(target.container());
        if (hook == null) {
            return;
        }
        Optional<String> failure = calls.unlimited(() -> hooks.run(hook, target, HOOK_TIMEOUT));
        if (failure.isPresent()) {
            Pod pod = target.pod();
            String name = target.container().getName();
            log.warn("pod {}: postStart {}; stopping the container", KnownPods.name(pod), failure.get());
            PodEvent.postStartFailed(pod, name).emit(pod, parts.events());
            stop(target, "FailedPostStartHook", GracePeriod.of(pod), sync);
            waiting.put(name, States.waiting(failure.get(), HOOK_FAILED));
        }
    }

    private static int nextCount(@Nullable ContainerStatus last) {
        return last == null ? 0 : Ints.saturatedCast(last.getRestartCount() + 1L);
    }

    /** Ends the sync if it was interrupted during a read, which fails then. */
    static void throwIfInterrupted() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("the pod is to end");
        }
    }

    /** Logs a failure of the runtime and returns its text for people. */
    String failed(Pod pod, String action, Throwable e) {
        failures.log(Level.WARN, "runtime failed to " + action + " of pod " + KnownPods.name(pod) + "; retrying", e);
        return text(e);
    }

    static String text(Throwable e) {
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }

    /** Calls {@code each} with the names of the containers in {@code state} that run. */
    static void forEachRunning(PodState state, Consumer<ContainerStatus> each) {
        state.initContainers().stream().filter(States::isRunning).forEach(each);
        state.containers().stream().filter(States::isRunning).forEach(each);
        state.ephemeralContainers().stream().filter(States::isRunning).forEach(each);
    }
}
