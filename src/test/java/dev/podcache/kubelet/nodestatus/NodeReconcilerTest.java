package dev.podcache.kubelet.nodestatus;

import static dev.podcache.kubelet.nodestatus.Nodes.quantities;
import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** TestUpdateDefaultLabels and TestReconcileHugePageResource of the kubelet. */
class NodeReconcilerTest {

    private static final String HOST = "kubernetes.io/hostname";
    private static final String ZONE = "topology.kubernetes.io/zone";
    private static final String OS = "kubernetes.io/os";
    private static final Map<String, String> DEFAULTS = Map.of(HOST, "new-host", ZONE, "new-zone", OS, "new-os");

    @ParameterizedTest
    @MethodSource("labelTable")
    void labels_existingNode_hasThoseThatAreManaged(
            Map<String, String> initial, Map<String, String> existing, boolean changed, Map<String, String> expected) {
        Node node = Nodes.withLabels(existing);

        assertThat(NodeReconciler.labels(Nodes.withLabels(initial), node)).isEqualTo(changed);
        assertThat(node.getMetadata().getLabels()).isEqualTo(expected);
    }

    static Arguments[] labelTable() {
        Map<String, String> stale = Map.of(HOST, "old-host", ZONE, "old-zone", OS, "old-os");
        return new Arguments[] {
            Arguments.of(Named.of("missing defaults are added", DEFAULTS), Map.of(), true, DEFAULTS),
            Arguments.of(Named.of("stale ones are updated", DEFAULTS), stale, true, DEFAULTS),
            Arguments.of(
                    Named.of("unrelated ones are kept while stale ones are updated", DEFAULTS),
                    with(stale, "please", "persist"),
                    true,
                    with(DEFAULTS, "please", "persist")),
            Arguments.of(
                    Named.of("unrelated ones are no change", DEFAULTS),
                    with(DEFAULTS, "please", "persist"),
                    false,
                    with(DEFAULTS, "please", "persist")),
            Arguments.of(
                    Named.of("unrelated empty ones are kept", DEFAULTS),
                    with(DEFAULTS, "flag", ""),
                    false,
                    with(DEFAULTS, "flag", "")),
            Arguments.of(Named.of("equal ones are no change", DEFAULTS), DEFAULTS, false, DEFAULTS),
            Arguments.of(
                    Named.of("custom labels of a new node are not brought", with(DEFAULTS, "disk", "ssd")),
                    DEFAULTS,
                    false,
                    DEFAULTS),
            Arguments.of(
                    Named.of("an empty one is removed", with(DEFAULTS, ZONE, "")),
                    DEFAULTS,
                    true,
                    Map.of(HOST, "new-host", OS, "new-os")),
            Arguments.of(
                    Named.of("an empty one that is absent is no change", Map.of(ZONE, "")), Map.of(), false, Map.of())
        };
    }

    @Test
    void labels_existingNodeWithoutAny_areAdded() {
        Node existing = Nodes.empty();
        existing.getMetadata().setLabels(null);

        assertThat(NodeReconciler.labels(Nodes.withLabels(DEFAULTS), existing)).isTrue();
        assertThat(existing.getMetadata().getLabels()).isEqualTo(DEFAULTS);
    }

    @Test
    void defaultResources_existingNodeWithoutResources_getsThoseOfTheInitialOne() {
        Node existing = Nodes.empty();
        Node initial = Nodes.withResources(quantities("cpu", "2"), quantities("cpu", "1"));

        assertThat(NodeReconciler.defaultResources(initial, existing)).isTrue();
        assertThat(existing.getStatus().getCapacity()).isEqualTo(quantities("cpu", "2"));
        assertThat(existing.getStatus().getAllocatable()).isEqualTo(quantities("cpu", "1"));
    }

    @ParameterizedTest
    @MethodSource("hugePageTable")
    void hugePages_existingNode_hasThoseOfTheInitialOne(
            NodeResources initial, NodeResources existing, boolean changed, NodeResources expected) {
        Node node = existing.node();

        assertThat(NodeReconciler.hugePages(initial.node(), node)).isEqualTo(changed);
        assertThat(node.getStatus().getCapacity()).isEqualTo(expected.capacity());
        assertThat(node.getStatus().getAllocatable()).isEqualTo(expected.allocatable());
    }

    record NodeResources(Map<String, Quantity> capacity, Map<String, Quantity> allocatable) {

        static NodeResources of(String... namesAndQuantities) {
            return new NodeResources(quantities(namesAndQuantities), quantities(namesAndQuantities));
        }

        Node node() {
            return Nodes.withResources(capacity, allocatable);
        }
    }

    static Arguments[] hugePageTable() {
        NodeResources plain = NodeResources.of("cpu", "2", "memory", "10e9");
        NodeResources small = NodeResources.of("cpu", "2", "memory", "10e9", "hugepages-2Mi", "100Mi");
        NodeResources none = NodeResources.of("cpu", "2", "memory", "10e9", "hugepages-2Mi", "0");
        NodeResources big =
                NodeResources.of("cpu", "2", "memory", "10e9", "hugepages-2Mi", "0", "hugepages-1Gi", "2Gi");
        NodeResources bigger =
                NodeResources.of("cpu", "2", "memory", "10e9", "hugepages-2Mi", "0", "hugepages-1Gi", "4Gi");
        return new Arguments[] {
            Arguments.of(Named.of("no huge pages", plain), plain, false, plain),
            Arguments.of(Named.of("equal", small), small, false, small),
            Arguments.of(
                    Named.of("equal by value", NodeResources.of("hugepages-1Gi", "2Gi")),
                    NodeResources.of("hugepages-1Gi", "2048Mi"),
                    false,
                    NodeResources.of("hugepages-1Gi", "2Gi")),
            Arguments.of(Named.of("a new size while another is none now", big), small, true, big),
            Arguments.of(Named.of("another quantity", bigger), big, true, bigger),
            Arguments.of(Named.of("a size no longer supported", none), bigger, true, none),
            Arguments.of(Named.of("no size supported any more", plain), small, true, plain),
            Arguments.of(
                    Named.of("only allocatable differs", big),
                    new NodeResources(big.capacity(), none.allocatable()),
                    true,
                    big)
        };
    }

    private static <V> Map<String, V> with(Map<String, V> map, String key, V value) {
        Map<String, V> copy = new HashMap<>(map);
        copy.put(key, value);
        return copy;
    }
}
