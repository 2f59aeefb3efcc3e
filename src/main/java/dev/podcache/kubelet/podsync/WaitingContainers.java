package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.pod.EphemeralContainers;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.ContainerStateWaiting;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The containers of one pod that wait to be started, and why, as the pod's status shows it. Not thread-safe. */
final class WaitingContainers {

    private final Map<String, ContainerStateWaiting> reasons = new HashMap<>();

    /** Sets why a container waits. */
    void put(String container, ContainerStateWaiting reason) {
        reasons.put(container, reason);
    }

    void remove(String container) {
        reasons.remove(container);
    }

    /** Forgets the containers that need not be started. */
    void retain(List<PodActions.ContainerStart> starts) {
        reasons.keySet()
                .retainAll(starts.stream()
                        .map(start -> start.container().getName())
                        .toList());
    }

    /** Returns {@code state} with the containers that wait. */
    PodState addTo(Pod pod, PodState state) {
        return new PodState(
                addTo(pod.getSpec().getInitContainers(), state.initContainers()),
                addTo(pod.getSpec().getContainers(), state.containers()),
                addTo(EphemeralContainers.of(pod), state.ephemeralContainers()),
                state.podIps(),
                state.containerHashes());
    }

    private List<ContainerStatus> addTo(List<Container> containers, List<ContainerStatus> statuses) {
        List<ContainerStatus> all = new ArrayList<>();
        for (Container container : containers) {
            ContainerStatus status = States.named(statuses, container.getName());
            ContainerStateWaiting reason = reasons.get(container.getName());
            if (reason != null && (status == null || States.isTerminated(status))) {
                all.add(waiting(container, status, reason));
            } else if (status != null) {
                all.add(status);
            }
        }
        return all;
    }

    private static ContainerStatus waiting(
            Container container, @Nullable ContainerStatus ended, ContainerStateWaiting reason) {
        ContainerStatusBuilder status = ended == null
                ? new ContainerStatusBuilder()
                        .withName(container.getName())
                        .withImage(container.getImage())
                        .withImageID("")
                        .withRestartCount(0)
                : new ContainerStatusBuilder(ended).withLastState(ended.getState());
        return status.withReady(false)
                .withStarted(false)
                .withState(new ContainerStateBuilder().withWaiting(reason).build())
                .build();
    }
}
