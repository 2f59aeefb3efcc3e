package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.Given.condition;
import static dev.podcache.kubelet.podstatus.Given.ended;
import static dev.podcache.kubelet.podstatus.Given.pod;
import static dev.podcache.kubelet.podstatus.Given.running;
import static dev.podcache.kubelet.podstatus.Given.spec;
import static dev.podcache.kubelet.podstatus.Given.status;
import static dev.podcache.kubelet.podstatus.Given.waiting;
import static dev.podcache.kubelet.podstatus.Given.withConditions;
import static dev.podcache.kubelet.podstatus.Given.withGates;
import static dev.podcache.kubelet.podstatus.Given.withInit;
import static dev.podcache.kubelet.podstatus.Given.withStatus;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.HostIP;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodIP;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class PodStatusesTest {

    private static final PodObservation BOTH_RUN = PodObservation.of(List.of(running("a"), running("b")), List.of());

    @Test
    void of_everythingRuns_isRunningAndReady() {
        PodStatus status = PodStatuses.of(pod(spec("Always", "a", "b")), BOTH_RUN);

        assertThat(status.getPhase()).isEqualTo("Running");
        assertThat(status.getConditions())
                .containsExactly(
                        condition("PodReadyToStartContainers", "False"),
                        condition("Initialized", "True"),
                        condition("Ready", "True"),
                        condition("ContainersReady", "True"),
                        condition("PodScheduled", "True"));
    }

    @Test
    void of_nothingObserved_everyContainerIsCreating() {
        PodStatus status = PodStatuses.of(pod(spec("Always", "a")), PodObservation.nothing());

        assertThat(status.getPhase()).isEqualTo("Pending");
        ContainerStatus container = status.getContainerStatuses().get(0);
        assertThat(container.getName()).isEqualTo("a");
        assertThat(container.getImage()).isEqualTo("image-of-a");
        assertThat(container.getReady()).isFalse();
        assertThat(reason(container)).isEqualTo("ContainerCreating");
    }

    @Test
    void of_podWithInitContainers_everyContainerWaitsForInitialisation() {
        PodStatus status = PodStatuses.of(pod(withInit(spec("Always", "a"), "i")), PodObservation.nothing());

        assertThat(reason(status.getContainerStatuses().get(0))).isEqualTo("PodInitializing");
        assertThat(reason(status.getInitContainerStatuses().get(0))).isEqualTo("PodInitializing");
        assertThat(initialized(status).getMessage()).isEqualTo("containers with incomplete status: [i]");
    }

    @Test
    void of_initContainerIsForgotten_afterARegularContainerHasStarted_hasCompleted() {
        Pod pod = pod(withInit(spec("Always", "a", "b"), "i", "sidecar"));

        PodStatus status = PodStatuses.of(
                pod, PodObservation.of(List.of(running("a"), running("b")), List.of(running("sidecar"))));

        assertThat(status.getPhase()).isEqualTo("Running");
        ContainerStatus init = status.getInitContainerStatuses().get(0);
        assertThat(init.getState().getTerminated().getReason()).isEqualTo("Completed");
        assertThat(init.getState().getTerminated().getExitCode()).isZero();
        assertThat(init.getReady()).isTrue();
        assertThat(initialized(status)).isEqualTo(condition("Initialized", "True"));
    }

    @Test
    void of_initContainerRuns_whileARegularContainerIsLeftFromBefore_isPending() {
        Pod pod = pod(withInit(spec("Always", "a"), "i"));

        PodStatus status = PodStatuses.of(pod, PodObservation.of(List.of(ended("a", 137)), List.of(running("i"))));

        assertThat(status.getPhase()).isEqualTo("Pending");
    }

    @Test
    void of_containerThatWaitsForAReason_keepsIt() {
        ContainerStatus missing = new ContainerStatusBuilder(waiting("a"))
                .editState()
                .withNewWaiting("secret \"db\" not found", "CreateContainerConfigError")
                .endState()
                .build();

        PodStatus status = PodStatuses.of(pod(spec("Always", "a")), PodObservation.of(List.of(missing), List.of()));

        assertThat(status.getContainerStatuses().get(0).getState()).isEqualTo(missing.getState());
    }

    @Test
    void of_containerThatWaitsWithoutAReason_getsOneAndKeepsItsMessage() {
        ContainerStatus waits = new ContainerStatusBuilder(waiting("a"))
                .editState()
                .withNewWaiting("soon", null)
                .endState()
                .build();

        PodStatus status = PodStatuses.of(pod(spec("Always", "a")), PodObservation.of(List.of(waits), List.of()));

        var waiting = status.getContainerStatuses().get(0).getState().getWaiting();
        assertThat(waiting.getReason()).isEqualTo("ContainerCreating");
        assertThat(waiting.getMessage()).isEqualTo("soon");
    }

    @Test
    void of_addresses_areWrittenOnceAloneAndOnceAsAList() {
        PodStatus status = PodStatuses.of(
                pod(spec("Always", "a", "b")), BOTH_RUN.at(List.of("10.0.0.1", "fd00::1"), List.of("10.1.0.7")));

        assertThat(status.getHostIP()).isEqualTo("10.0.0.1");
        assertThat(status.getHostIPs()).containsExactly(new HostIP("10.0.0.1"), new HostIP("fd00::1"));
        assertThat(status.getPodIP()).isEqualTo("10.1.0.7");
        assertThat(status.getPodIPs()).containsExactly(new PodIP("10.1.0.7"));
    }

    @Test
    void of_podThatIsOver_endsUnderAnyRestartPolicy() {
        PodObservation end = PodObservation.of(List.of(ended("a", 0)), List.of());

        assertThat(PodStatuses.of(pod(spec("Always", "a")), end).getPhase()).isEqualTo("Running");
        assertThat(PodStatuses.of(pod(spec("Always", "a")), end.afterTheEnd()).getPhase())
                .isEqualTo("Succeeded");
    }

    @Test
    void of_podThatTheServerShowsAsFailed_staysSo() {
        PodStatus evicted = status("Failed");
        evicted.setReason("Evicted");
        evicted.setMessage("The node was low on memory");

        PodStatus status = PodStatuses.of(withStatus(pod(spec("Always", "a", "b")), evicted), BOTH_RUN);

        assertThat(status.getPhase()).isEqualTo("Failed");
        assertThat(status.getReason()).isEqualTo("Evicted");
        assertThat(status.getMessage()).isEqualTo("The node was low on memory");
        assertThat(status.getConditions()).contains(PodConditions.ofTerminalPod("Ready", "Failed"));
    }

    @Test
    void of_readinessGate_isReadFromThePodAndKept() {
        PodCondition gate = condition("shop.example/warm", "True");
        Pod pod = withStatus(
                pod(withGates(spec("Always", "a", "b"), "shop.example/warm")),
                withConditions(status("Running"), gate, condition("Ready", "False")));

        PodStatus status = PodStatuses.of(pod, BOTH_RUN);

        assertThat(status.getConditions())
                .contains(gate, condition("Ready", "True"))
                .hasSize(6);
    }

    @Test
    void of_whatItIsGiven_isNotModified(NoLeaks leaks) {
        Pod pod = pod(withInit(spec("Always", "a"), "i"));
        ContainerStatus observed = new ContainerStatusBuilder().withName("a").build();
        leaks.watchForMutation(pod);
        leaks.watchForMutation(observed);

        PodStatuses.of(pod, PodObservation.of(List.of(observed), List.of()));
    }

    @Test
    void of_qosClassThatTheServerHas_isKept() {
        PodStatus known = status("Pending");
        known.setQosClass("Guaranteed");

        assertThat(PodStatuses.of(withStatus(pod(spec("Always", "a")), known), BOTH_RUN)
                        .getQosClass())
                .isEqualTo("Guaranteed");
        assertThat(PodStatuses.of(pod(spec("Always", "a")), BOTH_RUN).getQosClass())
                .isEqualTo("BestEffort");
    }

    private static PodCondition initialized(PodStatus status) {
        return Objects.requireNonNull(PodParts.condition(status, "Initialized"));
    }

    private static String reason(ContainerStatus container) {
        return container.getState().getWaiting().getReason();
    }
}
