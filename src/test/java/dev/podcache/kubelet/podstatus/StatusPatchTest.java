package dev.podcache.kubelet.podstatus;

import static dev.podcache.kubelet.podstatus.Given.condition;
import static dev.podcache.kubelet.podstatus.Given.status;
import static dev.podcache.kubelet.podstatus.Given.waiting;
import static dev.podcache.kubelet.podstatus.Given.withConditions;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.PodIP;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.List;
import org.junit.jupiter.api.Test;

/** TestPatchPodStatus of upstream, to the byte, and what an answer to a patch says. */
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
    void between_aRunningContainerWithoutATime_sendsThatItRuns() {
        ContainerStatus running = new ContainerStatusBuilder(waiting("a"))
                .withNewState()
                .withNewRunning()
                .endRunning()
                .endState()
                .build();

        StatusPatch patch = StatusPatch.between("myuid", status("Pending", waiting("a")), status("Running", running));

        assertThat(patch.applied(status("Pending", waiting("a")))
                        .getContainerStatuses()
                        .get(0)
                        .getState())
                .isEqualTo(running.getState());
        assertThat(patch.json()).contains("\"running\":{}");
    }

    @Test
    void applied_toWhatAServerDroppedFieldsOf_isTheStatusThatWasSent() {
        PodStatus after = status("Running", waiting("a"));
        after.setNominatedNodeName("node-1");
        StatusPatch patch = StatusPatch.between("myuid", before(), after);

        assertThat(PodStatusEquality.equal(patch.applied(after), after)).isTrue();
        for (PodStatus answered : List.of(before(), status("Running", waiting("a")))) {
            assertThat(PodStatusEquality.equal(patch.applied(answered), after)).isTrue();
        }
    }

    @Test
    void applied_toWhatAnotherClientChanged_isNot() {
        PodStatus after = before();
        after.setMessage("random message");
        StatusPatch patch = StatusPatch.between("myuid", before(), after);

        PodStatus otherPhase = before();
        otherPhase.setPhase("Unknown");
        PodStatus withAddress = before();
        withAddress.setPodIPs(List.of(new PodIP("10.0.0.1")));
        PodStatus notReady =
                withConditions(status("Running"), condition("Ready", "False"), condition("PodScheduled", "True"));
        PodStatus lessConditions = withConditions(status("Running"), condition("PodScheduled", "True"));
        for (PodStatus answered : List.of(otherPhase, withAddress, notReady, lessConditions)) {
            assertThat(PodStatusEquality.equal(patch.applied(answered), after)).isFalse();
        }
    }

    @Test
    void applied_toOtherConditionsOfAnotherClient_isEqual() {
        PodStatus first =
                withConditions(status("Running"), condition("example.com/gate", "True"), condition("Ready", "False"));
        PodStatus second =
                withConditions(status("Running"), condition("example.com/gate", "True"), condition("Ready", "True"));
        StatusPatch patch = StatusPatch.between("myuid", first, second);

        PodStatus without = withConditions(status("Running"), condition("Ready", "True"));
        PodStatus with = withConditions(
                status("Running"),
                condition("example.com/gate", "True"),
                condition("example.com/other", "True"),
                condition("Ready", "True"));
        for (PodStatus answered : List.of(without, with)) {
            assertThat(PodStatusEquality.equal(patch.applied(answered), second)).isTrue();
        }
    }
}
