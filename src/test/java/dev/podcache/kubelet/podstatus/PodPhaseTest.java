package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.Given.ended;
import static dev.podcache.kubelet.podstatus.Given.endedBefore;
import static dev.podcache.kubelet.podstatus.Given.running;
import static dev.podcache.kubelet.podstatus.Given.spec;
import static dev.podcache.kubelet.podstatus.Given.started;
import static dev.podcache.kubelet.podstatus.Given.statuses;
import static dev.podcache.kubelet.podstatus.Given.waiting;
import static dev.podcache.kubelet.podstatus.Given.withInit;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The cases of upstream's TestPodPhaseWithRestart*, TestPodPhaseWithRestart*InitContainers, their
 * restartable variants, and those of policies of containers.
 */
class PodPhaseTest {

    private static final PodSpec ALWAYS = spec("Always", "a", "b");
    private static final PodSpec NEVER = spec("Never", "a", "b");
    private static final PodSpec ON_FAILURE = spec("OnFailure", "a", "b");

    static Stream<Arguments> regular() {
        return Stream.of(
                Arguments.of("nothing known", ALWAYS, statuses(), "Pending"),
                Arguments.of("all running", ALWAYS, statuses(running("a"), running("b")), "Running"),
                Arguments.of("all ended", ALWAYS, statuses(ended("a", 0), ended("b", 0)), "Running"),
                Arguments.of("all failed", ALWAYS, statuses(ended("a", 1), ended("b", 1)), "Running"),
                Arguments.of("one ended", ALWAYS, statuses(running("a"), ended("b", 0)), "Running"),
                Arguments.of("one unknown", ALWAYS, statuses(running("a")), "Pending"),
                Arguments.of("one waits", ALWAYS, statuses(running("a"), waiting("b")), "Pending"),
                Arguments.of("one restarts", ALWAYS, statuses(running("a"), endedBefore("b", 1)), "Running"),
                Arguments.of("both restart", ALWAYS, statuses(endedBefore("a", 1), endedBefore("b", 1)), "Running"),
                Arguments.of("no containers", spec("Always"), statuses(), "Pending"),
                Arguments.of("nothing known", NEVER, statuses(), "Pending"),
                Arguments.of("all running", NEVER, statuses(running("a"), running("b")), "Running"),
                Arguments.of("all ended", NEVER, statuses(ended("a", 0), ended("b", 0)), "Succeeded"),
                Arguments.of("all failed", NEVER, statuses(ended("a", 1), ended("b", 1)), "Failed"),
                Arguments.of("one failed", NEVER, statuses(ended("a", 0), ended("b", 1)), "Failed"),
                Arguments.of("one ended", NEVER, statuses(running("a"), ended("b", 0)), "Running"),
                Arguments.of("one unknown", NEVER, statuses(running("a")), "Pending"),
                Arguments.of("nothing known", ON_FAILURE, statuses(), "Pending"),
                Arguments.of("all running", ON_FAILURE, statuses(running("a"), running("b")), "Running"),
                Arguments.of("all ended", ON_FAILURE, statuses(ended("a", 0), ended("b", 0)), "Succeeded"),
                Arguments.of("all failed", ON_FAILURE, statuses(ended("a", 1), ended("b", 1)), "Running"),
                Arguments.of("one failed", ON_FAILURE, statuses(ended("a", 0), ended("b", 1)), "Running"),
                Arguments.of("one unknown", ON_FAILURE, statuses(running("a")), "Pending"),
                Arguments.of("one waits", ON_FAILURE, statuses(running("a"), waiting("b")), "Pending"),
                Arguments.of("one restarts", ON_FAILURE, statuses(running("a"), endedBefore("b", 1)), "Running"));
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource
    void regular(String situation, PodSpec spec, List<ContainerStatus> statuses, String phase) {
        assertThat(PodPhase.of(spec, statuses, false)).isEqualTo(phase);
    }

    static Stream<Arguments> init() {
        PodSpec always = withInit(ALWAYS, "i");
        PodSpec never = withInit(NEVER, "i");
        PodSpec onFailure = withInit(ON_FAILURE, "i");
        return Stream.of(
                Arguments.of(always, statuses(), "Pending"),
                Arguments.of(always, statuses(running("i")), "Pending"),
                Arguments.of(always, statuses(ended("i", 0)), "Pending"),
                Arguments.of(always, statuses(ended("i", 1)), "Pending"),
                Arguments.of(always, statuses(waiting("i")), "Pending"),
                Arguments.of(always, statuses(endedBefore("i", 1)), "Pending"),
                Arguments.of(always, statuses(running("i"), running("a"), running("b")), "Pending"),
                Arguments.of(always, statuses(waiting("i"), running("a"), running("b")), "Pending"),
                Arguments.of(always, statuses(ended("i", 0), running("a"), running("b")), "Running"),
                Arguments.of(never, statuses(ended("i", 1)), "Failed"),
                Arguments.of(never, statuses(ended("i", 0)), "Pending"),
                Arguments.of(never, statuses(running("i")), "Pending"),
                Arguments.of(never, statuses(endedBefore("i", 1)), "Failed"),
                Arguments.of(never, statuses(endedBefore("i", 0), running("a"), running("b")), "Running"),
                Arguments.of(never, statuses(running("a"), running("b")), "Pending"),
                Arguments.of(onFailure, statuses(ended("i", 1)), "Pending"),
                Arguments.of(onFailure, statuses(waiting("i")), "Pending"),
                Arguments.of(onFailure, statuses(ended("i", 0), ended("a", 0), ended("b", 0)), "Succeeded"));
    }

    @ParameterizedTest
    @MethodSource
    void init(PodSpec spec, List<ContainerStatus> statuses, String phase) {
        assertThat(PodPhase.of(spec, statuses, false)).isEqualTo(phase);
    }

    static Stream<Arguments> sidecars() {
        PodSpec always = withInit(ALWAYS, "sidecar");
        PodSpec never = withInit(NEVER, "sidecar");
        return Stream.of(
                Arguments.of(always, statuses(), "Pending"),
                Arguments.of(always, statuses(running("sidecar")), "Pending"),
                Arguments.of(always, statuses(waiting("sidecar"), running("a"), running("b")), "Pending"),
                Arguments.of(always, statuses(started("sidecar"), running("a"), running("b")), "Running"),
                Arguments.of(always, statuses(running("sidecar"), running("a"), running("b")), "Running"),
                Arguments.of(always, statuses(ended("sidecar", 1), running("a"), running("b")), "Running"),
                Arguments.of(always, statuses(endedBefore("sidecar", 1), running("a"), running("b")), "Running"),
                Arguments.of(always, statuses(running("a"), running("b")), "Pending"),
                Arguments.of(always, statuses(started("sidecar")), "Pending"),
                Arguments.of(always, statuses(running("sidecar"), endedBefore("a", 1), endedBefore("b", 1)), "Pending"),
                Arguments.of(always, statuses(started("sidecar"), endedBefore("a", 1), endedBefore("b", 1)), "Running"),
                Arguments.of(never, statuses(started("sidecar"), ended("a", 0), ended("b", 0)), "Running"),
                Arguments.of(never, statuses(ended("sidecar", 137), ended("a", 0), ended("b", 0)), "Succeeded"),
                Arguments.of(never, statuses(endedBefore("sidecar", 137), ended("a", 0), ended("b", 1)), "Failed"),
                Arguments.of(never, statuses(ended("sidecar", 1)), "Pending"));
    }

    @ParameterizedTest
    @MethodSource
    void sidecars(PodSpec spec, List<ContainerStatus> statuses, String phase) {
        assertThat(PodPhase.of(spec, statuses, false)).isEqualTo(phase);
    }

    private static PodSpec withPolicies(String ofThePod, String a, @Nullable String b) {
        PodSpec spec = spec(ofThePod, "a", "b");
        spec.getContainers().get(0).setRestartPolicy(a);
        spec.getContainers().get(1).setRestartPolicy(b);
        return spec;
    }

    /** Upstream's TestPodPhaseWithContainerRestartPolicy. */
    static Stream<Arguments> policiesOfContainers() {
        return Stream.of(
                Arguments.of(
                        withPolicies("Always", "Never", "Never"), statuses(ended("a", 1), ended("b", 1)), "Failed"),
                Arguments.of(
                        withPolicies("Always", "OnFailure", "Never"),
                        statuses(ended("a", 1), ended("b", 1)),
                        "Running"),
                Arguments.of(
                        withPolicies("Always", "Always", "Never"), statuses(ended("a", 1), ended("b", 1)), "Running"),
                Arguments.of(withPolicies("Never", "Always", null), statuses(ended("a", 0), ended("b", 1)), "Running"),
                Arguments.of(
                        withPolicies("Always", "Never", "OnFailure"), statuses(ended("a", 1), ended("b", 0)), "Failed"),
                Arguments.of(
                        withPolicies("Always", "Never", "OnFailure"),
                        statuses(ended("a", 0), ended("b", 0)),
                        "Succeeded"),
                // stopped by a probe, and about to be started again whatever the exit code
                Arguments.of(ON_FAILURE, statuses(endedBefore("a", 0), ended("b", 0)), "Running"));
    }

    @ParameterizedTest
    @MethodSource
    void policiesOfContainers(PodSpec spec, List<ContainerStatus> statuses, String phase) {
        assertThat(PodPhase.of(spec, statuses, false)).isEqualTo(phase);
    }

    private static PodSpec withInitPolicy(String ofThePod, String policy) {
        PodSpec spec = withInit(spec(ofThePod, "a", "b"), "i");
        spec.getInitContainers().get(0).setRestartPolicy(policy);
        return spec;
    }

    /** Upstream's TestPodPhaseWithContainerRestartPolicyInitContainers. */
    static Stream<Arguments> policiesOfInitContainers() {
        return Stream.of(
                Arguments.of(withInitPolicy("Always", "Never"), "Failed"),
                Arguments.of(withInitPolicy("Never", "OnFailure"), "Pending"),
                Arguments.of(withInitPolicy("Never", "Always"), "Pending"));
    }

    @ParameterizedTest
    @MethodSource
    void policiesOfInitContainers(PodSpec spec, String phase) {
        assertThat(PodPhase.of(spec, statuses(ended("i", 1)), false)).isEqualTo(phase);
    }

    static Stream<Arguments> over() {
        return Stream.of(
                Arguments.of(ALWAYS, statuses(ended("a", 0), ended("b", 0)), "Succeeded"),
                Arguments.of(ALWAYS, statuses(ended("a", 0), ended("b", 1)), "Failed"),
                Arguments.of(ON_FAILURE, statuses(ended("a", 0), ended("b", 1)), "Failed"),
                Arguments.of(ALWAYS, statuses(running("a"), ended("b", 0)), "Running"),
                Arguments.of(ALWAYS, statuses(waiting("a"), waiting("b")), "Pending"));
    }

    @ParameterizedTest
    @MethodSource
    void over(PodSpec spec, List<ContainerStatus> statuses, String phase) {
        assertThat(PodPhase.of(spec, statuses, true)).isEqualTo(phase);
    }

    @Test
    void of_stateThatSaysNothing_isWaiting() {
        ContainerStatus empty = new ContainerStatusBuilder()
                .withName("b")
                .withNewState()
                .endState()
                .build();

        assertThat(PodPhase.of(ALWAYS, statuses(running("a"), empty), false)).isEqualTo("Pending");
    }
}
