package dev.podcache.kubelet.agent;

import static dev.podcache.pod.PodSpecNames.present;

import com.google.common.collect.Iterables;
import com.google.common.collect.Streams;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.Collection;
import java.util.List;
import java.util.Objects;

/** How many pods and containers of a node run. Immutable. */
record ContainerCounts(int runningPods, int running, int exited) {

    static ContainerCounts of(Collection<PodStatus> statuses) {
        int pods = 0;
        int running = 0;
        int exited = 0;
        for (PodStatus status : statuses) {
            List<ContainerState> states = states(status);
            int ofPod = (int)
                    states.stream().filter(state -> state.getRunning() != null).count();
            running += ofPod;
            pods += ofPod > 0 ? 1 : 0;
            exited += (int) states.stream()
                    .filter(state -> state.getTerminated() != null)
                    .count();
        }
        return new ContainerCounts(pods, running, exited);
    }

    private static List<ContainerState> states(PodStatus status) {
        return Streams.stream(Iterables.concat(
                        present(status.getInitContainerStatuses()),
                        present(status.getContainerStatuses()),
                        present(status.getEphemeralContainerStatuses())))
                .map(ContainerStatus::getState)
                .filter(Objects::nonNull)
                .toList();
    }
}
