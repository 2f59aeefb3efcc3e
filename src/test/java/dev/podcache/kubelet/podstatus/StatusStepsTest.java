package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.Given.LONG_AGO;
import static dev.podcache.kubelet.podstatus.Given.condition;
import static dev.podcache.kubelet.podstatus.Given.ended;
import static dev.podcache.kubelet.podstatus.Given.endedBefore;
import static dev.podcache.kubelet.podstatus.Given.pod;
import static dev.podcache.kubelet.podstatus.Given.running;
import static dev.podcache.kubelet.podstatus.Given.since;
import static dev.podcache.kubelet.podstatus.Given.spec;
import static dev.podcache.kubelet.podstatus.Given.started;
import static dev.podcache.kubelet.podstatus.Given.status;
import static dev.podcache.kubelet.podstatus.Given.waiting;
import static dev.podcache.kubelet.podstatus.Given.withConditions;
import static dev.podcache.kubelet.podstatus.Given.withInit;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The transition from one status of a pod to the next: TestUpdateLastTransitionTime, Test_checkContainerStateTransition
 * and the containers of TestTerminatePod, Test_statusManager's initializedContainers and hasPodInitialized.
 */
class StatusStepsTest {

    private static final String NOW = "2026-01-01T00:00:00Z";

    static Stream<Arguments> take_transitionTime() {
        PodCondition no = since(condition("Ready", "False"), LONG_AGO);
        return Stream.of(
                Arguments.of("no condition", no, null, null),
                Arguments.of("none before", null, condition("Ready", "False"), NOW),
                Arguments.of("another before", since(condition("Ready", "True"), LONG_AGO), no, NOW),
                Arguments.of("the same before", no, condition("Ready", "False"), LONG_AGO),
                Arguments.of("the same, timeless", condition("Ready", "False"), condition("Ready", "False"), NOW));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void take_transitionTime(
            String situation,
            @Nullable PodCondition before,
            @Nullable PodCondition condition,
            @Nullable String expected) {
        PodStatus status = of(condition);

        StatusContinuity.carryOver(pod(spec("Always")), of(before), status, NOW);

        @Nullable PodCondition taken = PodParts.condition(status, "Ready");
        assertThat(taken == null ? null : taken.getLastTransitionTime()).isEqualTo(expected);
    }

    private static PodStatus of(@Nullable PodCondition condition) {
        PodStatus status = status("Running");
        return condition == null
                ? status
                : withConditions(status, since(condition("Ready", condition.getStatus()), time(condition)));
    }

    @SuppressWarnings("NullAway") // a condition may have no time
    private static String time(PodCondition condition) {
        return condition.getLastTransitionTime();
    }

    @Test
    void take_foreignCondition_keepsItsOwnTime() {
        PodStatus status = withConditions(status("Running"), since(condition("warm", "True"), LONG_AGO));

        StatusContinuity.carryOver(pod(spec("Always")), status("Running"), status, NOW);

        assertThat(status.getConditions().get(0).getLastTransitionTime()).isEqualTo(LONG_AGO);
    }

    @ParameterizedTest
    @CsvSource({
        "2020-01-01T00:00:00Z, 2021-01-01T00:00:00Z, 2020-01-01T00:00:00Z",
        ", 2021-01-01T00:00:00Z, 2021-01-01T00:00:00Z",
        ", , 2026-01-01T00:00:00Z"
    })
    void take_startTime_isTheFirstThatIsKnown(@Nullable String before, @Nullable String given, String expected) {
        PodStatus older = status("Pending");
        older.setStartTime(before);
        PodStatus newer = status("Running");
        newer.setStartTime(given);

        StatusContinuity.carryOver(pod(spec("Always")), older, newer, NOW);

        assertThat(newer.getStartTime()).isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"2, 3, 3", "4, 3, 4", ", 3, 3", "2, , 2", ", , "})
    void take_observedGeneration_neverDecreases(@Nullable Long before, @Nullable Long ofPod, @Nullable Long expected) {
        PodStatus older = status("Running");
        older.setObservedGeneration(before);
        PodStatus newer = status("Running");
        Pod pod = new PodBuilder(pod(spec("Always")))
                .editMetadata()
                .withGeneration(ofPod)
                .endMetadata()
                .build();

        StatusContinuity.carryOver(pod, older, newer, NOW);

        assertThat(newer.getObservedGeneration()).isEqualTo(expected);
    }

    @Test
    void take_observedGenerationOfTheStatus_counts() {
        PodStatus older = status("Running");
        older.setObservedGeneration(4L);
        PodStatus newer = status("Running");
        newer.setObservedGeneration(5L);

        StatusContinuity.carryOver(pod(spec("Always")), older, newer, NOW);

        assertThat(newer.getObservedGeneration()).isEqualTo(5L);
    }

    static Stream<Arguments> refusal() {
        return Stream.of(
                Arguments.of("Always", ended("c", 0), running("c"), true),
                Arguments.of("Always", ended("c", 1), waiting("c"), true),
                Arguments.of("Never", waiting("c"), running("c"), true),
                Arguments.of("Never", running("c"), waiting("c"), true),
                Arguments.of("Never", ended("c", 0), ended("c", 0), true),
                Arguments.of("Never", ended("c", 0), running("c"), false),
                Arguments.of("Never", ended("c", 1), running("c"), false),
                Arguments.of("Never", ended("c", 1), waiting("c"), false),
                Arguments.of("Never", ended("c", 1), running("another"), true),
                Arguments.of("OnFailure", ended("c", 1), running("c"), true),
                Arguments.of("OnFailure", ended("c", 1), waiting("c"), true),
                Arguments.of("OnFailure", ended("c", 0), running("c"), false),
                Arguments.of("OnFailure", ended("c", 0), waiting("c"), false));
    }

    @ParameterizedTest(name = "{0}: from {1} to {2}: {3}")
    @MethodSource("refusal")
    void refusal_regularContainer(String policy, ContainerStatus before, ContainerStatus after, boolean legal) {
        String refusal =
                StatusTransitions.refusal(spec(policy, "c"), status("Running", before), status("Running", after));

        assertThat(refusal == null).isEqualTo(legal);
    }

    /** Upstream's Test_checkContainerStateTransition for policies of containers. */
    @ParameterizedTest
    @CsvSource({
        "Never, Always, 0, true",
        "Never, OnFailure, 1, true",
        "Never, OnFailure, 0, false",
        "OnFailure, Never, 1, false",
        "OnFailure, Always, 0, true",
        "Always, Never, 1, true",
    })
    void refusal_containerHasAPolicyOfItsOwn(String ofThePod, String own, int exitCode, boolean legal) {
        PodSpec spec = spec(ofThePod, "c");
        spec.getContainers().get(0).setRestartPolicy(own);

        String refusal = StatusTransitions.refusal(
                spec, status("Running", ended("c", exitCode)), status("Running", running("c")));

        assertThat(refusal == null).isEqualTo(legal);
    }

    @ParameterizedTest(name = "{0}: from {1} to {2}: {3}")
    @MethodSource("refusal")
    void refusal_initContainer(String policy, ContainerStatus before, ContainerStatus after, boolean legal) {
        String refusal = StatusTransitions.refusal(
                withInit(spec(policy, "a"), "c"),
                withInit(status("Pending"), before),
                withInit(status("Pending"), after));

        assertThat(refusal == null).isEqualTo(legal);
    }

    @Test
    void refusal_sidecar_mayComeBack() {
        String refusal = StatusTransitions.refusal(
                withInit(spec("Never", "a"), "sidecar"),
                withInit(status("Running"), ended("sidecar", 0)),
                withInit(status("Running"), running("sidecar")));

        assertThat(refusal).isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "Pending, Running, true",
        "Running, Pending, true",
        "Running, Failed, true",
        "Succeeded, Failed, true",
        "Succeeded, Running, false",
        "Failed, Running, false",
        "Failed, Pending, false"
    })
    void refusal_phase(String before, String after, boolean legal) {
        assertThat(StatusTransitions.refusal(spec("Always"), status(before), status(after)) == null)
                .isEqualTo(legal);
    }

    @Test
    void refusal_whatCannotFollow_isNamed() {
        assertThat(StatusTransitions.refusal(spec("Always"), status("Failed"), status("Running")))
                .isEqualTo("its phase is Failed and cannot become Running");
        assertThat(StatusTransitions.refusal(
                        spec("Never", "c"), status("Running", ended("c", 0)), status("Running", running("c"))))
                .isEqualTo("its container c has terminated and cannot come back under restart policy Never");
    }

    @Test
    void end_nothingKnownOfTheLastInitContainer_leavesTheRegularOnesWaiting() {
        PodStatus status = withInit(status("Pending", waiting("a")), ended("i", 0));

        Termination.end(withInit(spec("Always", "a"), "i", "j"), status);

        assertThat(status.getContainerStatuses()).containsExactly(waiting("a"));
    }

    static Stream<Arguments> end_phase() {
        return Stream.of(
                Arguments.of("Pending", "Failed"),
                Arguments.of("Running", "Failed"),
                Arguments.of("Unknown", "Failed"),
                Arguments.of("", "Failed"),
                Arguments.of("Failed", "Failed"),
                Arguments.of("Succeeded", "Succeeded"));
    }

    @ParameterizedTest
    @MethodSource
    void end_phase(String before, String after) {
        PodStatus status = status(before);

        Termination.end(spec("Always"), status);

        assertThat(status.getPhase()).isEqualTo(after);
    }

    @Test
    void end_containerOfWhichNoEndIsKnown_isLost() {
        PodStatus status = status("Running", running("a"), waiting("b"), ended("c", 2));

        Termination.end(spec("Always", "a", "b", "c"), status);

        for (ContainerStatus lost : status.getContainerStatuses().subList(0, 2)) {
            var terminated = lost.getState().getTerminated();
            assertThat(terminated.getReason()).isEqualTo("ContainerStatusUnknown");
            assertThat(terminated.getMessage())
                    .isEqualTo("The container could not be located when the pod was terminated");
            assertThat(terminated.getExitCode()).isEqualTo(137);
            assertThat(lost.getState().getRunning()).isNull();
        }
        assertThat(status.getContainerStatuses().get(2)).isEqualTo(ended("c", 2));
    }

    static Stream<Arguments> end_withInitContainers() {
        PodSpec two = withInit(spec("Always", "a"), "i", "j");
        PodSpec sidecar = withInit(spec("Always", "a"), "i", "sidecar");
        return Stream.of(
                Arguments.of(two, status("Pending", waiting("a"), waiting("i"), waiting("j")), "i"),
                Arguments.of(two, status("Pending", waiting("a"), running("i"), waiting("j")), "i"),
                Arguments.of(two, status("Pending", waiting("a"), endedBefore("i", 1), waiting("j")), "i"),
                Arguments.of(two, status("Pending", waiting("a"), ended("i", 0), running("j")), "j"),
                Arguments.of(two, status("Pending", waiting("a"), ended("i", 0), endedBefore("j", 1)), "j"),
                Arguments.of(two, status("Pending", waiting("a"), ended("i", 0), endedBefore("j", 0)), "j a"),
                Arguments.of(two, status("Pending", waiting("a"), ended("i", 0), ended("j", 0)), "a"),
                Arguments.of(two, status("Running", running("a"), ended("i", 0), ended("j", 0)), "a"),
                Arguments.of(two, status("Running", endedBefore("a", 0), waiting("i"), waiting("j")), "i a"),
                Arguments.of(sidecar, status("Pending", waiting("a"), ended("i", 0), running("sidecar")), "sidecar"),
                Arguments.of(sidecar, status("Pending", waiting("a"), ended("i", 0), started("sidecar")), "sidecar a"));
    }

    /** The first status belongs to the regular container, the others to init containers. */
    @ParameterizedTest
    @MethodSource
    void end_withInitContainers(PodSpec spec, PodStatus all, String lost) {
        List<ContainerStatus> statuses = all.getContainerStatuses();
        PodStatus status = withInit(
                status(all.getPhase(), statuses.get(0)),
                statuses.subList(1, statuses.size()).toArray(new ContainerStatus[0]));

        Termination.end(spec, status);

        assertThat(PodParts.containers(status))
                .filteredOn(container -> container.getState().getTerminated() != null
                        && "ContainerStatusUnknown"
                                .equals(container.getState().getTerminated().getReason()))
                .extracting(ContainerStatus::getName)
                .containsExactly(lost.split(" ", -1));
    }
}
