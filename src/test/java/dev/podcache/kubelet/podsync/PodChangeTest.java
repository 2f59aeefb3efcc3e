package dev.podcache.kubelet.podsync;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PodChangeTest {

    private static final String GATE = "example.com/load-balancer";

    private static final Pod POD = WorkersFixture.pod("web")
            .editSpec()
            .addNewReadinessGate(GATE)
            .endSpec()
            .withNewStatus()
            .withPhase("Running")
            .endStatus()
            .build();

    private static Pod withCondition(Pod pod, String type, String status) {
        return new PodBuilder(pod)
                .editStatus()
                .withConditions(new PodConditionBuilder()
                        .withType(type)
                        .withStatus(status)
                        .build())
                .endStatus()
                .build();
    }

    private static Pod deleted(@Nullable Long gracePeriod) {
        return new PodBuilder(POD)
                .editMetadata()
                .withDeletionTimestamp("2026-01-01T00:00:00Z")
                .withDeletionGracePeriodSeconds(gracePeriod)
                .endMetadata()
                .build();
    }

    private static Pod inPhase(String phase) {
        return new PodBuilder(POD).editStatus().withPhase(phase).endStatus().build();
    }

    @Test
    void conditionOfAReadinessGate_isSet_requiresASync() {
        assertThat(PodChange.requiresSync(POD, withCondition(POD, GATE, "True")))
                .isTrue();
    }

    @Test
    void conditionOfAReadinessGate_changes_requiresASync() {
        assertThat(PodChange.requiresSync(withCondition(POD, GATE, "True"), withCondition(POD, GATE, "False")))
                .isTrue();
    }

    @Test
    void conditionOfAReadinessGate_disappears_requiresASync() {
        assertThat(PodChange.requiresSync(withCondition(POD, GATE, "True"), POD))
                .isTrue();
    }

    @Test
    void anotherCondition_changes_requiresNone() {
        assertThat(PodChange.requiresSync(POD, withCondition(POD, "Ready", "True")))
                .isFalse();
    }

    @Test
    void firstStatusWithoutTheCondition_requiresNone() {
        Pod fresh = new PodBuilder(POD).withStatus(null).build();

        assertThat(PodChange.requiresSync(fresh, POD)).isFalse();
        assertThat(PodChange.requiresSync(fresh, withCondition(POD, GATE, "True")))
                .isTrue();
    }

    @Test
    void deletion_isUrgentAndRequiresASync() {
        assertThat(PodChange.isUrgent(POD, deleted(30L))).isTrue();
        assertThat(PodChange.requiresSync(POD, deleted(30L))).isTrue();
    }

    @Test
    void gracePeriod_getsShorter_isUrgent_butLongerIsNot() {
        assertThat(PodChange.isUrgent(deleted(30L), deleted(5L))).isTrue();
        assertThat(PodChange.isUrgent(deleted(5L), deleted(30L))).isFalse();
        assertThat(PodChange.isUrgent(deleted(null), deleted(5L))).isFalse();
    }

    @Test
    void podEnds_requiresASyncOnce() {
        assertThat(PodChange.requiresSync(POD, inPhase("Failed"))).isTrue();
        assertThat(PodChange.requiresSync(inPhase("Failed"), inPhase("Failed"))).isFalse();
    }

    @Test
    void podEndsWhileItIsDeleted_isNotUrgent() {
        assertThat(PodChange.isUrgent(inPhase("Failed"), deleted(30L))).isFalse();
    }
}
