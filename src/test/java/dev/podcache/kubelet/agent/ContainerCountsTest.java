package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.PodStatusBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which containers count as running. */
class ContainerCountsTest {

    private static final ContainerStatus RUNNING = new ContainerStatusBuilder()
            .withNewState()
            .withNewRunning()
            .endRunning()
            .endState()
            .build();
    private static final ContainerStatus EXITED = new ContainerStatusBuilder()
            .withNewState()
            .withNewTerminated()
            .endTerminated()
            .endState()
            .build();
    private static final ContainerStatus WAITING = new ContainerStatusBuilder()
            .withNewState()
            .withNewWaiting()
            .endWaiting()
            .endState()
            .build();

    private static PodStatus pod(List<ContainerStatus> init, ContainerStatus... containers) {
        return new PodStatusBuilder()
                .withInitContainerStatuses(init)
                .withContainerStatuses(containers)
                .build();
    }

    @Test
    void of_noPods_isZero() {
        assertThat(ContainerCounts.of(List.of())).isEqualTo(new ContainerCounts(0, 0, 0));
    }

    @Test
    void of_mixedPods_countsStatesOfAllContainers() {
        assertThat(ContainerCounts.of(List.of(
                        pod(List.of(EXITED, RUNNING), RUNNING, WAITING),
                        pod(List.of(), EXITED),
                        pod(List.of(), WAITING, new ContainerStatus()),
                        new PodStatus())))
                .isEqualTo(new ContainerCounts(1, 2, 2));
    }
}
