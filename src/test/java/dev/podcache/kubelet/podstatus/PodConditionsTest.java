package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.Given.condition;
import static dev.podcache.kubelet.podstatus.Given.ended;
import static dev.podcache.kubelet.podstatus.Given.running;
import static dev.podcache.kubelet.podstatus.Given.spec;
import static dev.podcache.kubelet.podstatus.Given.started;
import static dev.podcache.kubelet.podstatus.Given.statuses;
import static dev.podcache.kubelet.podstatus.Given.unready;
import static dev.podcache.kubelet.podstatus.Given.waiting;
import static dev.podcache.kubelet.podstatus.Given.withGates;
import static dev.podcache.kubelet.podstatus.Given.withInit;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * TestGenerateContainersReadyCondition, TestGeneratePodReadyCondition, TestGeneratePodInitializedCondition and
 * TestGeneratePodReadyToStartContainersCondition of upstream.
 */
class PodConditionsTest {

    private static final PodSpec NONE = spec("Always");
    private static final PodSpec ONE = spec("Always", "1234");
    private static final PodSpec TWO = spec("Always", "1234", "5678");

    private static PodCondition no(String type, String reason, @Nullable String message) {
        return new PodConditionBuilder()
                .withType(type)
                .withStatus("False")
                .withReason(reason)
                .withMessage(message)
                .build();
    }

    private static PodCondition notReady(String reason, @Nullable String message) {
        return no("ContainersReady", reason, message);
    }

    static Stream<Arguments> containersReady() {
        PodCondition yes = condition("ContainersReady", "True");
        PodSpec sidecar = withInit(ONE, "init", "sidecar");
        return Stream.of(
                Arguments.of(NONE, null, "Running", notReady("UnknownContainerStatuses", null)),
                Arguments.of(NONE, statuses(), "Running", yes),
                Arguments.of(
                        ONE,
                        statuses(),
                        "Running",
                        notReady("ContainersNotReady", "containers with unknown status: [1234]")),
                Arguments.of(
                        TWO,
                        statuses(),
                        "Running",
                        notReady("ContainersNotReady", "containers with unknown status: [1234 5678]")),
                Arguments.of(TWO, statuses(running("1234"), running("5678")), "Running", yes),
                Arguments.of(
                        TWO,
                        statuses(running("1234")),
                        "Running",
                        notReady("ContainersNotReady", "containers with unknown status: [5678]")),
                Arguments.of(
                        TWO,
                        statuses(running("1234"), unready("5678")),
                        "Running",
                        notReady("ContainersNotReady", "containers with unready status: [5678]")),
                Arguments.of(
                        TWO,
                        statuses(unready("1234")),
                        "Running",
                        notReady(
                                "ContainersNotReady",
                                "containers with unknown status: [5678], containers with unready status: [1234]")),
                Arguments.of(ONE, statuses(unready("1234")), "Succeeded", notReady("PodCompleted", null)),
                Arguments.of(ONE, statuses(running("1234")), "Failed", notReady("PodFailed", null)),
                Arguments.of(
                        ONE,
                        statuses(),
                        "Succeeded",
                        notReady("ContainersNotReady", "containers with unknown status: [1234]")),
                Arguments.of(
                        sidecar,
                        statuses(waiting("init"), running("1234")),
                        "Running",
                        notReady("ContainersNotReady", "containers with unknown status: [sidecar]")),
                Arguments.of(
                        sidecar,
                        statuses(unready("sidecar"), running("1234")),
                        "Running",
                        notReady("ContainersNotReady", "containers with unready status: [sidecar]")),
                Arguments.of(sidecar, statuses(running("sidecar"), running("1234")), "Running", yes));
    }

    @ParameterizedTest
    @MethodSource
    void containersReady(PodSpec spec, @Nullable List<ContainerStatus> statuses, String phase, PodCondition expected) {
        assertThat(PodConditions.containersReady(spec, statuses, phase)).isEqualTo(expected);
    }

    static Stream<Arguments> ready() {
        PodCondition yes = condition("Ready", "True");
        List<PodCondition> nothing = List.of();
        List<ContainerStatus> all = statuses(running("1234"), running("5678"));
        String missing1 = "corresponding condition of pod readiness gate \"gate1\" does not exist.";
        String false1 = "the status of pod readiness gate \"gate1\" is not \"True\", but False";
        String missing2 = "corresponding condition of pod readiness gate \"gate2\" does not exist.";
        return Stream.of(
                Arguments.of(NONE, nothing, null, no("Ready", "UnknownContainerStatuses", null)),
                Arguments.of(NONE, nothing, statuses(), yes),
                Arguments.of(
                        ONE,
                        nothing,
                        statuses(),
                        no("Ready", "ContainersNotReady", "containers with unknown status: [1234]")),
                Arguments.of(TWO, nothing, all, yes),
                Arguments.of(
                        TWO,
                        nothing,
                        statuses(running("1234"), unready("5678")),
                        no("Ready", "ContainersNotReady", "containers with unready status: [5678]")),
                Arguments.of(withGates(TWO, "gate1"), nothing, all, no("Ready", "ReadinessGatesNotReady", missing1)),
                Arguments.of(
                        withGates(TWO, "gate1"),
                        List.of(condition("gate1", "False")),
                        all,
                        no("Ready", "ReadinessGatesNotReady", false1)),
                Arguments.of(withGates(TWO, "gate1"), List.of(condition("gate1", "True")), all, yes),
                Arguments.of(
                        withGates(TWO, "gate1", "gate2"),
                        List.of(condition("gate1", "True")),
                        all,
                        no("Ready", "ReadinessGatesNotReady", missing2)),
                Arguments.of(
                        withGates(TWO, "gate1", "gate2"),
                        List.of(condition("gate1", "False")),
                        all,
                        no("Ready", "ReadinessGatesNotReady", false1 + ", " + missing2)),
                Arguments.of(
                        withGates(TWO, "gate1", "gate2"),
                        List.of(condition("gate1", "True"), condition("gate2", "False")),
                        all,
                        no("Ready", "ReadinessGatesNotReady", false1.replace("gate1", "gate2"))),
                Arguments.of(
                        withGates(TWO, "gate1", "gate2"),
                        List.of(condition("gate1", "True"), condition("gate2", "True")),
                        all,
                        yes),
                Arguments.of(
                        withGates(TWO, "gate1"),
                        nothing,
                        statuses(running("1234"), unready("5678")),
                        no("Ready", "ContainersNotReady", "containers with unready status: [5678]")));
    }

    @ParameterizedTest
    @MethodSource
    void ready(
            PodSpec spec,
            List<PodCondition> conditions,
            @Nullable List<ContainerStatus> statuses,
            PodCondition expected) {
        PodCondition containersReady = PodConditions.containersReady(spec, statuses, "Running");

        assertThat(PodConditions.ready(spec, containersReady, conditions)).isEqualTo(expected);
    }

    static Stream<Arguments> initialized() {
        PodCondition yes = condition("Initialized", "True");
        PodSpec one = withInit(ONE, "1");
        PodSpec two = withInit(ONE, "1", "2");
        PodSpec sidecar = withInit(ONE, "sidecar");
        return Stream.of(
                Arguments.of(ONE, null, "Pending", yes),
                Arguments.of(one, null, "Pending", no("Initialized", "UnknownContainerStatuses", null)),
                Arguments.of(ONE, statuses(), "Pending", yes),
                Arguments.of(
                        one,
                        statuses(),
                        "Pending",
                        no("Initialized", "ContainersNotInitialized", "containers with unknown status: [1]")),
                Arguments.of(
                        two,
                        statuses(ended("1", 0), waiting("2")),
                        "Pending",
                        no("Initialized", "ContainersNotInitialized", "containers with incomplete status: [2]")),
                Arguments.of(
                        two,
                        statuses(waiting("1")),
                        "Pending",
                        no(
                                "Initialized",
                                "ContainersNotInitialized",
                                "containers with unknown status: [2], containers with incomplete status: [1]")),
                Arguments.of(two, statuses(ended("1", 0), ended("2", 0)), "Pending", yes),
                Arguments.of(
                        one,
                        statuses(ended("1", 0)),
                        "Succeeded",
                        PodConditions.condition("Initialized", "True", "PodCompleted", null)),
                Arguments.of(
                        sidecar,
                        statuses(running("sidecar")),
                        "Pending",
                        no("Initialized", "ContainersNotInitialized", "containers with incomplete status: [sidecar]")),
                Arguments.of(sidecar, statuses(started("sidecar")), "Pending", yes),
                Arguments.of(sidecar, statuses(waiting("sidecar"), running("1234")), "Running", yes));
    }

    @ParameterizedTest
    @MethodSource
    void initialized(PodSpec spec, @Nullable List<ContainerStatus> statuses, String phase, PodCondition expected) {
        assertThat(PodConditions.initialized(spec, statuses, phase)).isEqualTo(expected);
    }

    static Stream<Arguments> readyToStartContainers() {
        PodCondition no = condition("PodReadyToStartContainers", "False");
        PodCondition yes = condition("PodReadyToStartContainers", "True");
        PodSpec onHost = new PodSpecBuilder(ONE).withHostNetwork(true).build();
        PodObservation mounted = PodObservation.nothing().withVolumes(true);
        PodObservation addressed = mounted.at(List.of("192.0.2.7"), List.of("10.1.0.7"));
        return Stream.of(
                Arguments.of("nothing is known", ONE, PodObservation.nothing(), no),
                Arguments.of("on the host's network, not mounted", onHost, PodObservation.nothing(), no),
                Arguments.of("mounted, without address", ONE, mounted, no),
                Arguments.of("address, not mounted", ONE, addressed.withVolumes(false), no),
                Arguments.of("mounted, with address", ONE, addressed, yes),
                Arguments.of("on the host's network, whose address is not known", onHost, mounted, yes),
                Arguments.of("stopped, keeps its address", ONE, addressed.afterTheEnd(), no),
                Arguments.of("stopped, on the host's network", onHost, addressed.afterTheEnd(), no));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void readyToStartContainers(String situation, PodSpec spec, PodObservation observed, PodCondition expected) {
        assertThat(PodConditions.readyToStartContainers(spec, observed)).isEqualTo(expected);
    }
}
