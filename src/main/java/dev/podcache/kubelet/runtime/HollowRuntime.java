package dev.podcache.kubelet.runtime;

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
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
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

    private final Timekeeper timekeeper;
    private final ConcurrentHashMap<String, PodState> pods = new ConcurrentHashMap<>();

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

    /** Returns {@code 1}; there is no real runtime whose version could be shown. */
    @Override
    public String version() {
        return "1";
    }

    @Override
    public PodState status(Pod pod) {
        return pods.computeIfAbsent(uid(pod), unknown -> reported(pod));
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
                uid(pod),
                PodState.of(
                        init ? with(before.initContainers(), started) : before.initContainers(),
                        init ? before.containers() : with(before.containers(), started),
                        before.podIps()));
    }

    @Override
    public void stop(Pod pod, Duration gracePeriod) {
        PodState before = status(pod);
        pods.put(uid(pod), PodState.of(ended(before.initContainers()), ended(before.containers()), before.podIps()));
    }

    @Override
    public void forget(Pod pod) {
        pods.remove(uid(pod));
    }

    @Override
    public Optional<String> problem() {
        return Optional.empty();
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
                .withContainerID("hollow://" + uid(pod) + "/" + container.getName())
                .withRestartCount(0)
                .withReady(true)
                .withStarted(keepsRunning)
                .withState(state)
                .build();
    }

    private List<ContainerStatus> ended(List<ContainerStatus> containers) {
        String now = now();
        return containers.stream()
                .map(status -> status.getState().getRunning() == null
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

    private static String uid(Pod pod) {
        return pod.getMetadata().getUid();
    }
}
