package dev.podcache.kubelet.agent;

import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

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
        return Stream.of(present(status.getInitContainerStatuses()), present(status.getContainerStatuses()))
                .flatMap(List::stream)
                .map(ContainerStatus::getState)
                .filter(Objects::nonNull)
                .toList();
    }

    private static List<ContainerStatus> present(@Nullable List<ContainerStatus> statuses) {
        return statuses == null ? List.of() : statuses;
    }
}
