package dev.podcache.kubelet.runtime;

import com.google.common.collect.ImmutableList;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodReferences;
import dev.podcache.time.ApiTime;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A runtime that runs no containers. It reports a started container as running until the pod is stopped, and a started
 * init container as completed at once. {@link HollowStage stages} change that: containers that take time to start, end by
 * themselves, or fail. This exercises the whole path from a Secret to a pod's status without a container runtime.
 *
 * <p>It declares all of {@link PodIsolation}: nothing runs that could leave its bounds.
 *
 * <p>After a restart of the agent it takes a pod's state from the pod's status, as if the containers had continued to
 * run. Thread-safe; no method blocks.
 */
public final class HollowRuntime implements PodRuntime, PodIsolation {

    // there is no real runtime whose version could be shown
    private static final String VERSION = "1";

    private final Timekeeper timekeeper;
    private final List<HollowStage> stages;
    private final Function<Pod, List<String>> podIps;
    private final ConcurrentHashMap<PodKey, PodState> pods = new ConcurrentHashMap<>();
    private volatile RuntimeEvents events = new Unheard();

    /** Receives notifications before {@link #listen}. */
    private record Unheard() implements RuntimeEvents {

        @Override
        public void changed(String podUid) {}

        @Override
        public void healthChanged() {}
    }

    /**
     * Creates a runtime that has started no container, whose pods have no addresses, and which knows no stages but those
     * of {@link HollowStage#of}.
     *
     * @param timekeeper the clock for the start and end times of containers
     */
    public HollowRuntime(Timekeeper timekeeper) {
        this(timekeeper, List.of(), pod -> List.of());
    }

    /**
     * Creates a runtime that has started no container.
     *
     * @param stages the first one whose labels a pod has applies to it; copied
     * @param podIps returns the addresses of a new pod, the preferred one first
     */
    public HollowRuntime(Timekeeper timekeeper, List<HollowStage> stages, Function<Pod, List<String>> podIps) {
        this.timekeeper = timekeeper;
        this.stages = List.copyOf(stages);
        this.podIps = podIps;
    }

    @Override
    public String type() {
        return "hollow";
    }

    @Override
    public void listen(RuntimeEvents notified) {
        events = notified;
    }

    @Override
    public boolean userNamespaces() {
        return true;
    }

    @Override
    public boolean strictSupplementalGroups() {
        return true;
    }

    @Override
    public boolean recursiveReadOnly() {
        return true;
    }

    @Override
    public boolean hostAliases() {
        return true;
    }

    @Override
    public boolean dnsConfig() {
        return true;
    }

    @Override
    public boolean runtimeClass(String name) {
        return true;
    }

    @Override
    public boolean resourceClaims() {
        return true;
    }

    @Override
    public boolean stopSignal(String signal) {
        return true;
    }

    @Override
    public RuntimeStatus health() {
        return RuntimeStatus.ready(VERSION);
    }

    @Override
    public List<PodKey> pods() {
        return pods.entrySet().stream()
                .filter(pod -> !pod.getValue().initContainers().isEmpty()
                        || !pod.getValue().containers().isEmpty())
                .map(Map.Entry::getKey)
                .toList();
    }

    @Override
    public PodState status(Pod pod) {
        return pods.computeIfAbsent(PodReferences.key(pod), unknown -> reported(pod));
    }

    @Override
    public void mount(Pod pod, Map<String, Map<String, VolumeFile>> volumes) {
        // there is no container that could read the files
    }

    @Override
    public void startContainer(Pod pod, Container container, Launch launch) {
        PodKey key = PodReferences.key(pod);
        HollowStage stage = HollowStage.of(pod, stages);
        status(pod);
        boolean init = isInit(pod, container);
        ContainerStatus starting = starting(pod, container, launch.restartCount());
        pods.computeIfPresent(key, (same, state) -> with(state, init, starting, launch.containerHash()));
        if (stage.startAfter().isZero()) {
            run(pod, container, starting);
        } else {
            after(stage.startAfter(), key, () -> run(pod, container, starting));
        }
    }

    private void run(Pod pod, Container container, ContainerStatus starting) {
        PodKey key = PodReferences.key(pod);
        boolean completes = isInit(pod, container) && !"Always".equals(container.getRestartPolicy());
        String now = now();
        change(key, container.getName(), status -> isWaiting(status) ? running(status, now) : status);
        if (completes) {
            change(key, container.getName(), status -> ended(status, 0));
        } else {
            endLater(
                    pod,
                    container.getName(),
                    starting.getContainerID(),
                    HollowStage.of(pod, stages).endAfter());
        }
    }

    /** Lets an instance of a regular container end by itself, if it does so in its stage. */
    private void endLater(Pod pod, String container, String id, Duration left) {
        HollowStage stage = HollowStage.of(pod, stages);
        if (!stage.endAfter().isZero() && !isInit(pod, container)) {
            PodKey key = PodReferences.key(pod);
            after(
                    left,
                    key,
                    () -> change(
                            key,
                            container,
                            status -> id.equals(status.getContainerID()) ? ended(status, stage.exitCode()) : status));
        }
    }

    private void after(Duration delay, PodKey pod, Runnable change) {
        timekeeper.schedule(delay, () -> {
            change.run();
            events.changed(pod.uid());
        });
    }

    @Override
    public void stopContainer(PodKey pod, String container, Duration gracePeriod) {
        change(pod, container, status -> ended(status, 0));
    }

    @Override
    public void stopPod(PodKey pod, Duration gracePeriod) {
        change(pod, status -> true, status -> ended(status, 0));
    }

    @Override
    public void forget(PodKey pod) {
        pods.remove(pod);
    }

    private void change(PodKey pod, String container, UnaryOperator<ContainerStatus> change) {
        change(pod, status -> status.getName().equals(container), change);
    }

    private void change(PodKey pod, Predicate<ContainerStatus> which, UnaryOperator<ContainerStatus> change) {
        pods.computeIfPresent(
                pod,
                (key, state) -> new PodState(
                        changed(state.initContainers(), which, change),
                        changed(state.containers(), which, change),
                        state.podIps(),
                        state.containerHashes()));
    }

    private static List<ContainerStatus> changed(
            List<ContainerStatus> statuses, Predicate<ContainerStatus> which, UnaryOperator<ContainerStatus> change) {
        return statuses.stream()
                .map(status -> which.test(status) ? change.apply(status) : status)
                .toList();
    }

    private static ContainerStatus starting(Pod pod, Container container, int restartCount) {
        String instance = restartCount == 0 ? "" : "/" + restartCount;
        return new ContainerStatusBuilder()
                .withName(container.getName())
                .withImage(container.getImage())
                .withImageID("")
                .withContainerID("hollow://" + pod.getMetadata().getUid() + "/" + container.getName() + instance)
                .withRestartCount(restartCount)
                .withNewState()
                .withNewWaiting()
                .withReason("ContainerCreating")
                .endWaiting()
                .endState()
                .build();
    }

    private static ContainerStatus running(ContainerStatus status, String now) {
        return new ContainerStatusBuilder(status)
                .withReady(true)
                .withStarted(true)
                .withState(new ContainerStateBuilder()
                        .withNewRunning()
                        .withStartedAt(now)
                        .endRunning()
                        .build())
                .build();
    }

    /** Returns the status of a container after its end; unchanged if it had ended before. */
    private ContainerStatus ended(ContainerStatus status, int exitCode) {
        if (status.getState().getTerminated() != null) {
            return status;
        }
        String now = now();
        @Nullable
        String startedAt =
                isWaiting(status) ? null : status.getState().getRunning().getStartedAt();
        ContainerState end = new ContainerStateBuilder()
                .withNewTerminated()
                .withExitCode(exitCode)
                .withReason(exitCode == 0 ? "Completed" : "Error")
                .withContainerID(status.getContainerID())
                .withStartedAt(startedAt == null ? now : startedAt)
                .withFinishedAt(now)
                .endTerminated()
                .build();
        return new ContainerStatusBuilder(status)
                .withReady(false)
                .withStarted(false)
                .withState(end)
                .build();
    }

    private static boolean isWaiting(ContainerStatus status) {
        return status.getState().getRunning() == null && status.getState().getTerminated() == null;
    }

    /** Returns the state that the agent reported before its restart. */
    private PodState reported(Pod pod) {
        PodStatus status = pod.getStatus() == null ? new PodStatus() : pod.getStatus();
        status.getContainerStatuses().stream()
                .filter(container ->
                        container.getState() != null && container.getState().getRunning() != null)
                .forEach(container ->
                        endLater(pod, container.getName(), container.getContainerID(), left(pod, container)));
        PodState adopted = PodState.of(
                onlyStarted(status.getInitContainerStatuses()),
                onlyStarted(ImmutableList.<ContainerStatus>builder()
                        .addAll(status.getContainerStatuses())
                        .addAll(status.getEphemeralContainerStatuses())
                        .build()),
                status.getPodIPs().isEmpty()
                        ? podIps.apply(pod)
                        : status.getPodIPs().stream().map(ip -> ip.getIp()).toList());
        return adopted.withHashes(hashes(adopted));
    }

    /** Returns the hashes of containers of an earlier agent, whose statuses have the images as the spec named them. */
    private static Map<String, String> hashes(PodState adopted) {
        return Stream.concat(adopted.initContainers().stream(), adopted.containers().stream())
                .filter(status -> status.getImage() != null)
                .collect(Collectors.toMap(
                        ContainerStatus::getName,
                        status -> Launch.hashOf(status.getName(), status.getImage()),
                        (hash, ofTheSameName) -> hash));
    }

    private Duration left(Pod pod, ContainerStatus running) {
        Instant now = timekeeper.wallTime();
        return ApiTime.parse(running.getState().getRunning().getStartedAt())
                .map(start -> Duration.between(
                        now, start.plus(HollowStage.of(pod, stages).endAfter())))
                .orElse(Duration.ZERO);
    }

    private static List<ContainerStatus> onlyStarted(List<ContainerStatus> statuses) {
        return statuses.stream()
                .filter(status -> status.getState() != null && !isWaiting(status))
                // what probes found out before the restart is not the runtime's affair
                .map(status -> new ContainerStatusBuilder(status)
                        .withReady(null)
                        .withStarted(null)
                        .build())
                .toList();
    }

    private static PodState with(PodState state, boolean init, ContainerStatus added, String hash) {
        return new PodState(
                init ? replaced(state.initContainers(), added) : state.initContainers(),
                init ? state.containers() : replaced(state.containers(), added),
                state.podIps(),
                replaced(state.containerHashes(), added.getName(), hash));
    }

    /** Keeps hashes only of containers that an earlier agent started: this agent knows those that it started itself. */
    private static Map<String, String> replaced(Map<String, String> hashes, String container, String hash) {
        if (!hashes.containsKey(container)) {
            return hashes;
        }
        Map<String, String> replaced = new HashMap<>(hashes);
        replaced.put(container, hash);
        return replaced;
    }

    private static List<ContainerStatus> replaced(List<ContainerStatus> statuses, ContainerStatus added) {
        List<ContainerStatus> replaced = new ArrayList<>(statuses);
        replaced.removeIf(status -> status.getName().equals(added.getName()));
        replaced.add(added);
        return replaced;
    }

    private static boolean isInit(Pod pod, Container container) {
        return isInit(pod, container.getName());
    }

    private static boolean isInit(Pod pod, String container) {
        return pod.getSpec().getInitContainers().stream()
                .anyMatch(each -> each.getName().equals(container));
    }

    private String now() {
        return ApiTime.of(timekeeper.wallTime());
    }
}
