package dev.podcache.kubelet.nodestatus;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.object.ModelJson;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeAddress;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class NodeStatusPatchProperties {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Instant T = Instant.parse("2026-01-01T00:00:00Z");

    @Property
    void between_anyTwoNodes_appliedMakesOneOfTheOther(@ForAll("nodes") Node original, @ForAll("nodes") Node modified)
            throws Exception {
        ObjectNode patch = (ObjectNode) JSON.readTree(NodeStatusDifference.patch(original, modified));

        ObjectNode patched = HandMadeMerge.apply(ModelJson.tree(original), patch);

        assertThat(patch.has("spec")).isFalse();
        Node result = ModelJson.model(patched, Node.class);
        assertThat(NodeStatusDifference.hasChanged(result.getStatus(), modified.getStatus()))
                .isFalse();
        assertThat(result.getStatus().getAddresses())
                .isEqualTo(modified.getStatus().getAddresses());
        assertThat(result.getStatus().getConditions())
                .containsExactlyInAnyOrderElementsOf(modified.getStatus().getConditions());
        assertThat(result.getMetadata().getLabels())
                .isEqualTo(modified.getMetadata().getLabels());
        assertThat(result.getSpec()).isEqualTo(original.getSpec());
    }

    @Property
    void between_anyTwoNodes_leavesLabelsOfOthers(@ForAll("nodes") Node original, @ForAll("nodes") Node modified)
            throws Exception {
        ObjectNode patch = (ObjectNode) JSON.readTree(NodeStatusDifference.patch(original, modified));
        Node now = new NodeBuilder(original)
                .editMetadata()
                .addToLabels("by", "others")
                .endMetadata()
                .build();

        Node patched = ModelJson.model(HandMadeMerge.apply(ModelJson.tree(now), patch), Node.class);

        assertThat(patched.getMetadata().getLabels()).containsEntry("by", "others");
    }

    @Provide
    static Arbitrary<Node> nodes() {
        Arbitrary<Map<String, String>> labels = Arbitraries.maps(
                        Arbitraries.of("a", "b", "c"), Arbitraries.of("1", "2"))
                .ofMaxSize(3);
        Arbitrary<List<NodeAddress>> addresses = Combinators.combine(
                        Arbitraries.of("InternalIP", "ExternalIP", "Hostname"), Arbitraries.of("10.0.0.1", "fd00::1"))
                .as((type, address) -> new NodeAddress(address, type))
                .list()
                .ofMaxSize(4);
        Arbitrary<Map<String, String>> conditions = Arbitraries.maps(
                        Arbitraries.of("Ready", "MemoryPressure", "DiskPressure"), Arbitraries.of("True", "False"))
                .ofMaxSize(3);
        return Combinators.combine(labels, addresses, conditions, Arbitraries.of(true, false))
                .as((l, a, c, unschedulable) -> new NodeBuilder(Nodes.withLabels(l))
                        .editSpec()
                        .withUnschedulable(unschedulable)
                        .endSpec()
                        .editStatus()
                        .withAddresses(a)
                        .withConditions(c.entrySet().stream()
                                .map(entry -> Nodes.condition(entry.getKey(), entry.getValue(), T, T))
                                .toList())
                        .endStatus()
                        .build());
    }
}
