package dev.podcache.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Updates and patches, of objects and of their status. */
class InMemoryClusterChangeTest extends InMemoryClusterFixture {

    @Test
    void update_freshVersion_raisesIt() {
        Secret created = cluster.create(secret("a"));

        Secret updated = cluster.update(
                new SecretBuilder(created).withData(Map.of("key", "Yg==")).build());

        assertThat(Long.parseLong(updated.getMetadata().getResourceVersion()))
                .isGreaterThan(Long.parseLong(created.getMetadata().getResourceVersion()));
        assertThat(updated.getMetadata().getUid())
                .isEqualTo(created.getMetadata().getUid());
    }

    @Test
    void update_staleVersion_conflicts() {
        Secret created = cluster.create(secret("a"));
        cluster.update(secret("b"));

        assertRefused(
                () -> cluster.update(created),
                409,
                "Conflict",
                "Operation cannot be fulfilled on secrets \"db\": the object has been modified; please apply your changes to"
                        + " the latest version and try again");
    }

    @Test
    void update_otherUid_conflicts() {
        cluster.create(secret("a"));
        Secret other = secret("b");
        other.getMetadata().setUid("another");

        assertThatThrownBy(() -> cluster.update(other))
                .isInstanceOfSatisfying(
                        StatusException.class, e -> assertThat(e.code()).isEqualTo(409))
                .hasMessageContaining("UID in precondition: another");
    }

    @Test
    void update_nothingNew_keepsTheVersion() {
        Secret created = cluster.create(secret("a"));
        String before = cluster.resourceVersion();

        Secret updated = cluster.update(created);

        assertThat(updated.getMetadata().getResourceVersion())
                .isEqualTo(created.getMetadata().getResourceVersion());
        assertThat(cluster.resourceVersion()).isEqualTo(before);
    }

    @Test
    void update_leaseWithoutVersion_isRefused() {
        Lease lease = new LeaseBuilder()
                .withNewMetadata()
                .withNamespace("kube-node-lease")
                .withName("worker-1")
                .endMetadata()
                .withNewSpec()
                .endSpec()
                .build();
        cluster.create(lease);

        assertThatThrownBy(() -> cluster.update(lease))
                .isInstanceOfSatisfying(
                        StatusException.class, e -> assertThat(e.code()).isEqualTo(422))
                .hasMessageContaining("must be specified for an update");
    }

    @Test
    void update_immutableSecret_refusesNewDataAndNewMutability() {
        Secret sealed = cluster.create(
                new SecretBuilder(secret("a")).withImmutable(true).build());
        Secret changed =
                new SecretBuilder(sealed).withData(Map.of("key", "Yg==")).build();
        Secret opened = new SecretBuilder(sealed).withImmutable(null).build();

        String why = ": Forbidden: field is immutable when `immutable` is set";
        assertRefused(() -> cluster.update(changed), 422, "Invalid", "Secret \"db\" is invalid: data" + why);
        assertRefused(() -> cluster.update(opened), 422, "Invalid", "Secret \"db\" is invalid: immutable" + why);
    }

    @Test
    void update_immutableSecret_acceptsNewLabels() {
        Secret sealed = cluster.create(
                new SecretBuilder(secret("a")).withImmutable(true).build());

        Secret labelled = cluster.update(new SecretBuilder(sealed)
                .editMetadata()
                .addToLabels("a", "b")
                .endMetadata()
                .build());

        assertThat(labelled.getMetadata().getLabels()).containsEntry("a", "b");
    }

    @Test
    void update_nodeWithStatus_leavesTheStatus() {
        cluster.create(node("True"));

        Node updated = cluster.update(new NodeBuilder(node("False"))
                .withNewSpec()
                .withUnschedulable(true)
                .endSpec()
                .build());

        assertThat(updated.getStatus().getConditions().get(0).getStatus()).isEqualTo("True");
        assertThat(updated.getSpec().getUnschedulable()).isTrue();
    }

    @Test
    void updateStatus_nodeWithSpecAndLabels_takesStatusAndLabelsOnly() {
        cluster.create(node("True"));

        Node updated = cluster.updateStatus(new NodeBuilder(node("False"))
                .editMetadata()
                .addToLabels("zone", "a")
                .endMetadata()
                .withNewSpec()
                .withUnschedulable(true)
                .endSpec()
                .build());

        assertThat(updated.getStatus().getConditions().get(0).getStatus()).isEqualTo("False");
        assertThat(updated.getMetadata().getLabels()).containsEntry("zone", "a");
        assertThat(updated.getSpec().getUnschedulable()).isNull();
    }

    @Test
    void patch_merge_changesOnlyWhatItNames() {
        cluster.create(secret("a"));
        ObjectNode patch = Json.tree(Map.of("metadata", Map.of("labels", Map.of("a", "b"))));

        ObjectNode patched = cluster.patch(
                Resource.SECRETS, KEY, ObjectPart.OBJECT, new PatchBody(PatchBody.PatchType.MERGE, patch));

        assertThat(patched.at("/metadata/labels/a").asText()).isEqualTo("b");
        assertThat(value(patched)).isEqualTo("YQ==");
    }

    @Test
    void patch_strategicOfNodeStatus_mergesConditionsByType() {
        cluster.create(node("True"));
        ObjectNode patch = Json.tree(new NodeBuilder()
                .withNewStatus()
                .addNewCondition()
                .withType("DiskPressure")
                .withStatus("False")
                .endCondition()
                .endStatus()
                .build());

        ObjectNode patched = cluster.patch(
                Resource.NODES,
                ObjectKey.of("", "worker-1"),
                ObjectPart.STATUS,
                new PatchBody(PatchBody.PatchType.STRATEGIC, patch));

        assertThat(patched.at("/status/conditions")).hasSize(2);
    }

    @Test
    void patch_withAnOldVersion_conflicts() {
        cluster.create(secret("a"));
        ObjectNode patch = Json.tree(Map.of("metadata", Map.of("resourceVersion", "1")));

        assertThatThrownBy(() -> cluster.patch(
                        Resource.SECRETS, KEY, ObjectPart.OBJECT, new PatchBody(PatchBody.PatchType.MERGE, patch)))
                .isInstanceOfSatisfying(
                        StatusException.class, e -> assertThat(e.code()).isEqualTo(409));
    }

    @Test
    void patch_toAnotherName_isRefused() {
        cluster.create(secret("a"));
        ObjectNode patch = Json.tree(Map.of("metadata", Map.of("name", "other")));

        assertRefused(
                () -> cluster.patch(
                        Resource.SECRETS, KEY, ObjectPart.OBJECT, new PatchBody(PatchBody.PatchType.MERGE, patch)),
                400,
                "BadRequest",
                "the name of the object (other) does not match the name on the URL (db)");
    }
}
