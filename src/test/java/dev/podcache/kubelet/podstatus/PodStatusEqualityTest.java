package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.Given.condition;
import static dev.podcache.kubelet.podstatus.Given.pod;
import static dev.podcache.kubelet.podstatus.Given.running;
import static dev.podcache.kubelet.podstatus.Given.since;
import static dev.podcache.kubelet.podstatus.Given.spec;
import static dev.podcache.kubelet.podstatus.Given.status;
import static dev.podcache.kubelet.podstatus.Given.waiting;
import static dev.podcache.kubelet.podstatus.Given.withConditions;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** TestStatusEquality and TestStatusNormalizationEnforcesOrder of upstream, and the defaults that servers add. */
class PodStatusEqualityTest {

    private static boolean equal(PodStatus older, PodStatus newer) {
        var pod = pod(spec("Always"));
        return PodStatusEquality.equal(
                PodStatusNormalizer.normalised(pod, older), PodStatusNormalizer.normalised(pod, newer));
    }

    @Test
    void equal_shuffledContainers_isEqual() {
        List<ContainerStatus> containers = new ArrayList<>(
                IntStream.range(0, 10).mapToObj(i -> running("c" + i)).toList());
        PodStatus ordered = status("Running", containers.toArray(new ContainerStatus[0]));
        Random random = new Random(7);
        for (int i = 0; i < 10; i++) {
            Collections.shuffle(containers, random);

            assertThat(equal(ordered, status("Running", containers.toArray(new ContainerStatus[0]))))
                    .isTrue();
        }
    }

    static Stream<Arguments> equal_conditions() {
        PodCondition ready = condition("Ready", "True");
        PodCondition foreign = condition("shop.example/warm", "True");
        PodCondition later = since(condition("Ready", "True"), "2026-01-01T00:00:00Z");
        PodCondition probed = condition("Ready", "True");
        probed.setLastProbeTime("2026-01-01T00:00:00Z");
        return Stream.of(
                Arguments.of(ready, condition("Ready", "True"), true),
                Arguments.of(ready, later, true),
                Arguments.of(ready, probed, true),
                Arguments.of(ready, condition("Ready", "False"), false),
                Arguments.of(ready, PodConditions.condition("Ready", "True", "why", null), false),
                Arguments.of(ready, PodConditions.condition("Ready", "True", null, "why"), false),
                Arguments.of(ready, PodConditions.condition("Ready", "True", "", ""), true),
                Arguments.of(foreign, condition("shop.example/warm", "False"), true),
                Arguments.of(foreign, ready, false),
                Arguments.of(ready, foreign, true),
                Arguments.of(foreign, condition("DisruptionTarget", "True"), false));
    }

    @ParameterizedTest
    @MethodSource
    void equal_conditions(PodCondition older, PodCondition newer, boolean equal) {
        PodStatus status = status("Running", running("a"));

        assertThat(equal(withConditions(status, older), withConditions(status, newer)))
                .isEqualTo(equal);
    }

    @Test
    void equal_otherPhaseOrContainer_isNot() {
        assertThat(equal(status("Running", running("a")), status("Pending", running("a"))))
                .isFalse();
        assertThat(equal(status("Running", running("a")), status("Running", waiting("a"))))
                .isFalse();
    }

    @Test
    void equal_whatAServerWritesInAddition_isEqual() {
        ContainerStatus ours = new ContainerStatusBuilder(waiting("a"))
                .withReady(null)
                .withRestartCount(null)
                .build();
        ContainerStatus theirs = new ContainerStatusBuilder(waiting("a"))
                .withReady(false)
                .withRestartCount(0)
                .withImage("")
                .withImageID("")
                .withLastState(new ContainerState())
                .build();

        assertThat(equal(status("Pending", ours), status("Pending", theirs))).isTrue();
        assertThat(equal(status("Pending", theirs), status("Pending", ours))).isTrue();
    }

    @Test
    void equal_notStartedAndNothingSaid_differ() {
        ContainerStatus said =
                new ContainerStatusBuilder(running("a")).withStarted(false).build();

        assertThat(equal(status("Running", running("a")), status("Running", said)))
                .isFalse();
    }
}
