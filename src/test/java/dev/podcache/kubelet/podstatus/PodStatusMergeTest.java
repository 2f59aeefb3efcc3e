package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.Given.LONG_AGO;
import static dev.podcache.kubelet.podstatus.Given.condition;
import static dev.podcache.kubelet.podstatus.Given.since;
import static dev.podcache.kubelet.podstatus.Given.status;
import static dev.podcache.kubelet.podstatus.Given.withConditions;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodExtendedResourceClaimStatusBuilder;
import io.fabric8.kubernetes.api.model.PodResourceClaimStatus;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** TestMergePodStatus of upstream. */
@ExtendWith(NoLeaks.class)
class PodStatusMergeTest {

    private static final String NOW = "2026-01-01T00:00:00Z";

    private static PodStatus merge(PodStatus server, PodStatus ours, boolean mayRun) {
        return PodStatusMerge.merge(server, ours, mayRun, NOW);
    }

    static Stream<Arguments> merge_conditions() {
        PodCondition ready = condition("Ready", "True");
        PodCondition scheduled = condition("PodScheduled", "True");
        PodCondition foreign = condition("shop.example/warm", "True");
        PodCondition otherForeign = condition("shop.example/warm", "False");
        return Stream.of(
                Arguments.of(List.of(ready, scheduled), List.of(ready, scheduled), List.of(ready, scheduled)),
                Arguments.of(
                        List.of(ready, scheduled),
                        List.of(condition("Ready", "False"), scheduled),
                        List.of(condition("Ready", "False"), scheduled)),
                Arguments.of(List.of(ready, foreign), List.of(ready), List.of(foreign, ready)),
                Arguments.of(List.of(foreign), List.of(ready, otherForeign), List.of(foreign, ready)),
                Arguments.of(List.of(), List.of(ready, otherForeign), List.of(ready)),
                Arguments.of(List.of(ready, scheduled), List.of(scheduled), List.of(scheduled)),
                Arguments.of(
                        List.of(condition("DisruptionTarget", "True")),
                        List.of(condition("DisruptionTarget", "False"), ready),
                        List.of(condition("DisruptionTarget", "True"), ready)));
    }

    @ParameterizedTest
    @MethodSource
    void merge_conditions(List<PodCondition> server, List<PodCondition> ours, List<PodCondition> expected) {
        PodStatus merged = merge(
                withConditions(status("Running"), server.toArray(new PodCondition[0])),
                withConditions(status("Running"), ours.toArray(new PodCondition[0])),
                true);

        assertThat(merged.getConditions()).isEqualTo(expected);
    }

    @Test
    void merge_endWhileContainersMayRun_isHeldBack() {
        PodStatus server = status("Running");
        server.setMessage("as it was");
        PodStatus ours = withConditions(status("Failed"), condition("Ready", "False"));
        ours.setReason("Evicted");
        ours.setMessage("low on memory");

        PodStatus merged = merge(server, ours, true);

        assertThat(merged.getPhase()).isEqualTo("Running");
        assertThat(merged.getReason()).isNull();
        assertThat(merged.getMessage()).isEqualTo("as it was");
        assertThat(merged.getConditions()).containsExactly(condition("Ready", "False"));
    }

    @Test
    void merge_endWhenNothingRuns_isTaken() {
        PodStatus ours = status("Failed");
        ours.setReason("Evicted");

        PodStatus merged = merge(status("Running"), ours, false);

        assertThat(merged.getPhase()).isEqualTo("Failed");
        assertThat(merged.getReason()).isEqualTo("Evicted");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Succeeded", "Failed"})
    void merge_endAtTheServer_stays(String phase) {
        PodStatus server = status(phase);
        server.setReason("NodeLost");
        server.setMessage("the node is gone");
        PodStatus ours = withConditions(status("Running"), condition("Ready", "True"));
        ours.setMessage("it runs");

        PodStatus merged = merge(server, PodStatusMerge.withEnd(server, ours), true);

        assertThat(merged.getPhase()).isEqualTo(phase);
        assertThat(merged.getReason()).isEqualTo("NodeLost");
        assertThat(merged.getMessage()).isEqualTo("the node is gone");
        assertThat(merged.getConditions())
                .extracting(PodCondition::getType, PodCondition::getStatus)
                .containsExactlyInAnyOrder(tuple("Ready", "False"), tuple("ContainersReady", "False"));
    }

    static Stream<Arguments> merge_readyAtTheEnd() {
        return Stream.of(Arguments.of("Succeeded", "PodCompleted"), Arguments.of("Failed", "PodFailed"));
    }

    @ParameterizedTest
    @MethodSource
    void merge_readyAtTheEnd(String phase, String reason) {
        PodStatus server = withConditions(
                status("Running"),
                since(condition("Ready", "True"), LONG_AGO),
                since(condition("ContainersReady", "False"), LONG_AGO));

        PodStatus merged =
                merge(server, withConditions(status(phase), since(condition("Ready", "True"), LONG_AGO)), false);

        assertThat(merged.getConditions())
                .containsExactly(
                        since(PodConditions.condition("Ready", "False", reason, null), NOW),
                        since(PodConditions.condition("ContainersReady", "False", reason, null), LONG_AGO));
    }

    @Test
    void merge_disruption_isWrittenWithTheEndAndNotBefore() {
        PodCondition old = since(condition("DisruptionTarget", "False"), LONG_AGO);
        PodStatus server = withConditions(status("Running"), old);
        PodStatus ours = withConditions(status("Failed"), condition("DisruptionTarget", "True"));

        assertThat(merge(server, ours, true).getConditions()).containsExactly(old);
        assertThat(merge(server, ours, false).getConditions())
                .containsExactly(since(condition("DisruptionTarget", "True"), NOW));
        assertThat(merge(status("Running"), ours, false).getConditions())
                .containsExactly(since(condition("DisruptionTarget", "True"), NOW));
    }

    @Test
    void merge_fieldsOfOthers_areTheServers() {
        PodStatus server = status("Running");
        server.setResourceClaimStatuses(List.of(new PodResourceClaimStatus("gpu", "claim-1")));
        server.setExtendedResourceClaimStatus(new PodExtendedResourceClaimStatusBuilder()
                .withResourceClaimName("claim-2")
                .build());
        server.setAdditionalProperty("unheardOf", "kept");

        PodStatus merged = merge(server, status("Running"), true);

        assertThat(merged.getResourceClaimStatuses()).isEqualTo(server.getResourceClaimStatuses());
        assertThat(merged.getExtendedResourceClaimStatus()).isEqualTo(server.getExtendedResourceClaimStatus());
        assertThat(merged.getAdditionalProperties()).containsEntry("unheardOf", "kept");
    }

    @Test
    void merge_generation_isStampedOnOurConditionsOnly() {
        PodStatus ours = withConditions(status("Running"), condition("Ready", "True"));
        ours.setObservedGeneration(3L);

        PodStatus merged = merge(withConditions(status("Running"), condition("warm", "True")), ours, true);

        assertThat(merged.getConditions())
                .extracting(PodCondition::getObservedGeneration)
                .containsExactly(null, 3L);
    }

    @Test
    void merge_generationAtTheEnd_isStampedOnAllThatSaysSo() {
        PodStatus ours =
                withConditions(status("Failed"), condition("Ready", "True"), condition("DisruptionTarget", "True"));
        ours.setObservedGeneration(3L);

        PodStatus merged = merge(withConditions(status("Running"), condition("warm", "True")), ours, false);

        assertThat(merged.getConditions())
                .extracting(PodCondition::getType, PodCondition::getObservedGeneration)
                .containsExactlyInAnyOrder(
                        tuple("warm", null),
                        tuple("Ready", 3L),
                        tuple("ContainersReady", 3L),
                        tuple("DisruptionTarget", 3L));
    }

    @Test
    void merge_whatItIsGiven_isNotModified(NoLeaks leaks) {
        PodStatus server = withConditions(status("Running"), condition("warm", "True"));
        PodStatus ours = withConditions(status("Failed"), condition("Ready", "True"));
        ours.setObservedGeneration(3L);
        leaks.watchForMutation(server);
        leaks.watchForMutation(ours);

        merge(server, ours, false).getConditions().get(0).setStatus("changed");
    }
}
