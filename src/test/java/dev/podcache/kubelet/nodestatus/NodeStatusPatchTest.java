package dev.podcache.kubelet.nodestatus;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.object.ModelJson;
import dev.podcache.patch.StrategicMergePatch;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeAddress;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class NodeStatusPatchTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Instant T = Instant.parse("2026-01-01T00:00:00Z");

    private final Node original = new NodeBuilder(Nodes.empty())
            .editMetadata()
            .withResourceVersion("7")
            .withUid("u-1")
            .addToLabels("a", "1")
            .addToAnnotations("note", "x")
            .endMetadata()
            .build();
    private final Node modified = NodeStatusDifference.copy(original);

    @Test
    void between_equalNodes_isEmpty() throws Exception {
        assertThat(NodeStatusDifference.patch(original, modified)).isEqualTo("{}");
    }

    @Test
    void between_otherSpec_leavesItOut() throws Exception {
        modified.getSpec().setUnschedulable(true);
        modified.getSpec().setProviderID("cloud:///1");

        assertThat(NodeStatusDifference.patch(original, modified)).isEqualTo("{}");
    }

    @Test
    void between_otherMetadata_hasItWithoutTheVersion() throws Exception {
        modified.getMetadata().getLabels().put("b", "2");
        modified.getMetadata().getAnnotations().remove("note");

        assertThat(patch()).isEqualTo(json("{'metadata':{'labels':{'b':'2'},'annotations':{'note':null}}}"));
    }

    @Test
    void between_newHeartbeat_patchesByTypeAndKeepsTheOrder() throws Exception {
        original.getStatus().setConditions(List.of(Nodes.condition("Ready", "True", T, T)));
        modified.getStatus().setConditions(List.of(Nodes.condition("Ready", "True", T.plusSeconds(9), T)));

        assertThat(patch())
                .isEqualTo(json("{'status':{'$setElementOrder/conditions':[{'type':'Ready'}],"
                        + "'conditions':[{'lastHeartbeatTime':'2026-01-01T00:00:09Z','type':'Ready'}]}}"));
    }

    @Test
    void between_otherAddresses_replacesThemAsAWhole() throws Exception {
        original.getStatus().setAddresses(List.of(ip("10.0.0.1"), ip("fd00::1")));
        modified.getStatus().setAddresses(List.of(ip("10.0.0.2"), ip("fd00::2")));
        modified.getStatus().setPhase("Running");

        assertThat(patch())
                .isEqualTo(json("{'status':{'phase':'Running','addresses':[{'address':'10.0.0.2','type':'InternalIP'},"
                        + "{'address':'fd00::2','type':'InternalIP'},{'$patch':'replace'}]}}"));
        assertThat(applied().path("status").path("addresses"))
                .isEqualTo(ModelJson.tree(modified).path("status").path("addresses"));
    }

    @Test
    void between_noAddressesAnyMore_removesThem() throws Exception {
        original.getStatus().setAddresses(List.of(ip("10.0.0.1")));

        assertThat(patch()).isEqualTo(json("{'status':{'addresses':[{'$patch':'replace'}]}}"));
        assertThat(applied().path("status").path("addresses")).isEmpty();
    }

    @Test
    void between_firstAddresses_areSentAsTheyAre() throws Exception {
        modified.getStatus().setAddresses(List.of(ip("10.0.0.2"), ip("fd00::2")));

        assertThat(patch())
                .isEqualTo(json("{'status':{'addresses':[{'address':'10.0.0.2','type':'InternalIP'},"
                        + "{'address':'fd00::2','type':'InternalIP'}]}}"));
    }

    @Test
    void between_sameAddressTwiceByType_isNoDifference() throws Exception {
        original.getStatus().setAddresses(List.of(ip("10.0.0.1"), ip("fd00::1")));
        modified.getStatus().setAddresses(List.of(ip("10.0.0.1"), ip("fd00::1")));

        assertThat(NodeStatusDifference.patch(original, modified)).isEqualTo("{}");
    }

    private static NodeAddress ip(String address) {
        return new NodeAddress(address, "InternalIP");
    }

    private JsonNode patch() throws Exception {
        return JSON.readTree(NodeStatusDifference.patch(original, modified));
    }

    private ObjectNode applied() throws Exception {
        return StrategicMergePatch.of("Node").apply(ModelJson.tree(original), (ObjectNode) patch());
    }

    private static JsonNode json(String text) throws Exception {
        return JSON.readTree(text.replace('\'', '"'));
    }
}
