package dev.podcache.kubelet.runtime;

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
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * A runtime that runs no containers. It reports a started container as running until the pod is stopped, and a started
 * init container as completed at once. This exercises the whole path from a Secret to a pod's status without a
 * container runtime.
 *
 * <p>After a restart of the agent it takes a pod's state from the pod's status, as if the containers had continued to
 * run. Thread-safe; no method blocks.
 */
public final class HollowRuntime implements PodRuntime {

    // there is no real runtime whose version could be shown
    private static final String VERSION = "1";

    private final Timekeeper timekeeper;
    private final ConcurrentHashMap<PodKey, PodState> pods = new ConcurrentHashMap<>();

    /**
     * Creates a runtime that has started no container.
     *
     * @param timekeeper the clock for the start and end times of containers
     */
    public HollowRuntime(Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
    }

    @Override
    public String type() {
        return "hollow";
    }

    /** Has no effect: containers of this runtime do not change by themselves. */
    @Override
    public void start(RuntimeEvents events) {}

    @Override
    public RuntimeStatus health() {
        return RuntimeStatus.ready(VERSION);
    }

    @Override
    public List<PodKey> pods() {
        return List.copyOf(pods.keySet());
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
    public void start(Pod pod, Container container, Launch launch) {
        PodState before = status(pod);
        boolean init = pod.getSpec().getInitContainers().stream()
                .anyMatch(each -> each.getName().equals(container.getName()));
        boolean keepsRunning = !init || "Always".equals(container.getRestartPolicy());
        ContainerStatus started = started(pod, container, keepsRunning);
        pods.put(
                PodReferences.key(pod),
                PodState.of(
                        init ? with(before.initContainers(), started) : before.initContainers(),
                        init ? before.containers() : with(before.containers(), started),
                        before.podIps()));
    }

    @Override
    public void stop(PodKey pod, String container, Duration gracePeriod) {
        stop(pod, status -> status.getName().equals(container));
    }

    @Override
    public void stop(PodKey pod, Duration gracePeriod) {
        stop(pod, status -> true);
    }

    private void stop(PodKey pod, Predicate<ContainerStatus> which) {
        pods.computeIfPresent(
                pod,
                (key, before) -> PodState.of(
                        ended(before.initContainers(), which), ended(before.containers(), which), before.podIps()));
    }

    @Override
    public void forget(PodKey pod) {
        pods.remove(pod);
    }

    private ContainerStatus started(Pod pod, Container container, boolean keepsRunning) {
        String now = now();
        ContainerState state = keepsRunning
                ? new ContainerStateBuilder()
                        .withNewRunning()
                        .withStartedAt(now)
                        .endRunning()
                        .build()
                : completed(now, now);
        return new ContainerStatusBuilder()
                .withName(container.getName())
                .withImage(container.getImage())
                .withImageID("")
                .withContainerID("hollow://" + pod.getMetadata().getUid() + "/" + container.getName())
                .withRestartCount(0)
                .withReady(true)
                .withStarted(keepsRunning)
                .withState(state)
                .build();
    }

    private List<ContainerStatus> ended(List<ContainerStatus> containers, Predicate<ContainerStatus> which) {
        String now = now();
        return containers.stream()
                .map(status -> status.getState().getRunning() == null || !which.test(status)
                        ? status
                        : new ContainerStatusBuilder(status)
                                .withReady(false)
                                .withStarted(false)
                                .withState(
                                        completed(status.getState().getRunning().getStartedAt(), now))
                                .build())
                .toList();
    }

    private static ContainerState completed(String startedAt, String finishedAt) {
        return new ContainerStateBuilder()
                .withNewTerminated()
                .withExitCode(0)
                .withReason("Completed")
                .withStartedAt(startedAt)
                .withFinishedAt(finishedAt)
                .endTerminated()
                .build();
    }

    /** Returns the state that the agent reported before its restart. */
    private static PodState reported(Pod pod) {
        PodStatus status = pod.getStatus();
        if (status == null) {
            return PodState.NONE;
        }
        return PodState.of(
                onlyStarted(status.getInitContainerStatuses()),
                onlyStarted(status.getContainerStatuses()),
                status.getPodIPs().stream().map(ip -> ip.getIp()).toList());
    }

    private static List<ContainerStatus> onlyStarted(List<ContainerStatus> statuses) {
        return statuses.stream()
                .filter(status -> status.getState() != null
                        && (status.getState().getRunning() != null
                                || status.getState().getTerminated() != null))
                .toList();
    }

    private static List<ContainerStatus> with(List<ContainerStatus> before, ContainerStatus added) {
        return Stream.concat(before.stream(), Stream.of(added)).toList();
    }

    private String now() {
        return ApiTime.of(timekeeper.wallTime());
    }
}
