package dev.podcache.kubelet.runtime;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
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
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Runs nothing: a container that is started counts as running until its pod is stopped, an init container as having
 * succeeded at once. So the whole way from a Secret to a pod's status can be seen without a container runtime. What it
 * does not remember, after a restart of the agent, it takes from the pod's status, as if the containers had run on.
 * Thread-safe; no method blocks.
 */
public final class HollowRuntime implements PodRuntime {

    private final Timekeeper timekeeper;
    private final ConcurrentHashMap<String, PodState> pods = new ConcurrentHashMap<>();

    /**
     * A runtime that has started nothing.
     *
     * @param timekeeper gives the times of day at which containers start and end
     */
    public HollowRuntime(Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
    }

    @Override
    public String type() {
        return "hollow";
    }

    /** Always 1: there is nothing that could be of another. */
    @Override
    public String version() {
        return "1";
    }

    @Override
    public PodState status(Pod pod) {
        return pods.computeIfAbsent(uid(pod), unknown -> remembered(pod));
    }

    @Override
    public void mount(Pod pod, ImmutableMap<String, ImmutableMap<String, VolumeFile>> volumes) {
        // there is no container to see it
    }

    @Override
    public void start(Pod pod, Container container, Launch launch) {
        PodState before = status(pod);
        boolean init = pod.getSpec().getInitContainers().stream()
                .anyMatch(each -> each.getName().equals(container.getName()));
        boolean runsOn = !init || "Always".equals(container.getRestartPolicy());
        ContainerStatus started = started(pod, container, runsOn);
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

    private ContainerStatus started(Pod pod, Container container, boolean runsOn) {
        String now = now();
        ContainerState state = runsOn
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
                .withStarted(runsOn)
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

    /** What an earlier process started, as its reports tell. */
    private static PodState remembered(Pod pod) {
        PodStatus status = pod.getStatus();
        if (status == null) {
            return PodState.NONE;
        }
        return PodState.of(
                everStarted(status.getInitContainerStatuses()),
                everStarted(status.getContainerStatuses()),
                status.getPodIPs().stream().map(each -> each.getIp()).toList());
    }

    private static List<ContainerStatus> everStarted(List<ContainerStatus> statuses) {
        return statuses.stream()
                .filter(status -> status.getState() != null
                        && (status.getState().getRunning() != null
                                || status.getState().getTerminated() != null))
                .toList();
    }

    private static List<ContainerStatus> with(List<ContainerStatus> before, ContainerStatus added) {
        return ImmutableList.<ContainerStatus>builder()
                .addAll(before)
                .add(added)
                .build();
    }

    private String now() {
        return ApiTime.of(timekeeper.wallTime());
    }

    private static String uid(Pod pod) {
        return pod.getMetadata().getUid();
    }
}
