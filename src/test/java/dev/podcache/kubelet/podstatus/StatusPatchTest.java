package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.Given.condition;
import static dev.podcache.kubelet.podstatus.Given.status;
import static dev.podcache.kubelet.podstatus.Given.waiting;
import static dev.podcache.kubelet.podstatus.Given.withConditions;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.PodStatus;
import org.junit.jupiter.api.Test;

/** TestPatchPodStatus of upstream, to the byte. */
class StatusPatchTest {

    private static PodStatus before() {
        return withConditions(status("Running"), condition("Ready", "True"), condition("PodScheduled", "True"));
    }

    @Test
    void between_equalStatuses_isNothingToSend() {
        StatusPatch patch = StatusPatch.between("myuid", before(), before());

        assertThat(patch.json()).isEqualTo("{\"metadata\":{\"uid\":\"myuid\"}}");
        assertThat(patch.unchanged()).isTrue();
    }

    @Test
    void between_anotherMessage_sendsItAlone() {
        PodStatus after = before();
        after.setMessage("random message");

        StatusPatch patch = StatusPatch.between("myuid", before(), after);

        assertThat(patch.json())
                .isEqualTo("{\"metadata\":{\"uid\":\"myuid\"},\"status\":{\"message\":\"random message\"}}");
        assertThat(patch.unchanged()).isFalse();
    }

    @Test
    void between_anotherCondition_sendsItAndTheOrder() {
        PodStatus after =
                withConditions(status("Running"), condition("Ready", "False"), condition("PodScheduled", "True"));

        StatusPatch patch = StatusPatch.between("myuid", before(), after);

        assertThat(patch.json())
                .isEqualTo("{\"metadata\":{\"uid\":\"myuid\"},\"status\":{\"$setElementOrder/conditions\":"
                        + "[{\"type\":\"Ready\"},{\"type\":\"PodScheduled\"}],"
                        + "\"conditions\":[{\"status\":\"False\",\"type\":\"Ready\"}]}}");
        assertThat(patch.unchanged()).isFalse();
    }

    @Test
    void between_whatAServerWritesInAddition_isNothingToSend() {
        PodStatus theirs = status(
                "Pending",
                new ContainerStatusBuilder(waiting("a"))
                        .withImageID("")
                        .withLastState(new ContainerState())
                        .build());
        theirs.setMessage("");

        assertThat(StatusPatch.between("myuid", theirs, status("Pending", waiting("a")))
                        .unchanged())
                .isTrue();
    }

    @Test
    void turns_statusOfAServerThatDroppedAField_isTrue() {
        PodStatus after = status("Running", waiting("a"));
        after.setNominatedNodeName("node-1");
        StatusPatch patch = StatusPatch.between("myuid", before(), after);

        assertThat(patch.turns(before(), after)).isTrue();
        assertThat(patch.turns(after, after)).isTrue();
        assertThat(patch.turns(status("Running", waiting("a")), after)).isTrue();
    }

    @Test
    void turns_statusThatAnotherClientChanged_isFalse() {
        PodStatus after = before();
        after.setMessage("random message");
        StatusPatch patch = StatusPatch.between("myuid", before(), after);

        assertThat(patch.turns(withConditions(status("Unknown"), condition("Ready", "True")), after))
                .isFalse();
        assertThat(patch.turns(
                        withConditions(
                                status("Running"), condition("Ready", "False"), condition("PodScheduled", "True")),
                        after))
                .isFalse();
        assertThat(patch.turns(before(), after)).isTrue();
    }
}
