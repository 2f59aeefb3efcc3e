package dev.podcache.controlplane.nodelifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.controlplane.cluster.ObservedNode;
import dev.podcache.controlplane.cluster.TestNodes;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Taint;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeTaintRulesTest {

    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

    private static Node node(String type, String status) {
        return TestNodes.withConditions(TestNodes.silent("a").build(), List.of(TestNodes.condition(type, status, NOW)));
    }

    private static List<String> keys(List<Taint> taints) {
        return taints.stream()
                .map(taint -> taint.getKey().replace("node.kubernetes.io/", "") + ":" + taint.getEffect())
                .toList();
    }

    /** TestTaintsNodeByCondition, and the conditions that it leaves out. */
    @ParameterizedTest
    @CsvSource({
        "NetworkUnavailable, True, network-unavailable:NoSchedule",
        "NetworkUnavailable, False, ''",
        "Ready, False, not-ready:NoSchedule",
        "Ready, Unknown, unreachable:NoSchedule",
        "Ready, True, ''",
        "MemoryPressure, True, memory-pressure:NoSchedule",
        "MemoryPressure, Unknown, ''",
        "DiskPressure, True, disk-pressure:NoSchedule",
        "PIDPressure, True, pid-pressure:NoSchedule",
        "Other, True, ''"
    })
    void condition_getsItsTaint(String type, String status, String taint) {
        ObservedNode node = ObservedNode.of(node(type, status));

        assertThat(NodeTaintRules.isScheduledRight(node)).isEqualTo(taint.isEmpty());
        assertThat(String.join(",", keys(NodeTaintRules.scheduledRight(node, NOW))))
                .isEqualTo(taint);
    }

    @Test
    void unschedulableNode_getsItsTaint() {
        Node cordoned = new NodeBuilder(node("Ready", "True"))
                .editSpec()
                .withUnschedulable(true)
                .endSpec()
                .build();

        assertThat(keys(NodeTaintRules.scheduledRight(ObservedNode.of(cordoned), NOW)))
                .containsExactly("unschedulable:NoSchedule");
    }

    @Test
    void conditionsChange_onlyTaintsOfConditionsDo() {
        Taint own = TestNodes.taint("dedicated", "NoSchedule");
        Taint execute = TestNodes.taint(NodeTaintRules.UNREACHABLE, "NoExecute");
        Taint stale = TestNodes.taint(NodeTaintRules.UNREACHABLE, "NoSchedule");
        Taint right = TestNodes.taint(NodeTaintRules.NOT_READY, "NoSchedule");
        ObservedNode node = ObservedNode.of(TestNodes.withTaints(node("Ready", "False"), stale, own, execute, right));

        assertThat(NodeTaintRules.scheduledRight(node, NOW)).containsExactly(own, execute, right);
    }

    @Test
    void newTaint_hasTheTime() {
        List<Taint> taints = NodeTaintRules.scheduledRight(ObservedNode.of(node("Ready", "False")), NOW);

        assertThat(taints.get(0).getTimeAdded()).isEqualTo("2026-01-01T00:00:00Z");
    }

    /** TestSwapUnreachableNotReadyTaints. */
    @Test
    void swap_exchangesTheNoExecuteTaint() {
        Taint unreachable = TestNodes.taint(NodeTaintRules.UNREACHABLE, "NoExecute");
        ObservedNode node = ObservedNode.of(TestNodes.withTaints(node("Ready", "False"), unreachable));

        List<Taint> swapped = NodeTaintRules.swapped(node, NodeTaintRules.NOT_READY, NodeTaintRules.UNREACHABLE, NOW);

        assertThat(keys(swapped)).containsExactly("not-ready:NoExecute");
    }

    @Test
    void taintExists_isKeptWithItsTime() {
        Taint taint = TestNodes.taint(NodeTaintRules.UNREACHABLE, "NoExecute");
        ObservedNode node = ObservedNode.of(TestNodes.withTaints(node("Ready", "Unknown"), taint));

        assertThat(NodeTaintRules.swapped(node, NodeTaintRules.UNREACHABLE, NodeTaintRules.NOT_READY, NOW))
                .containsExactly(taint);
        assertThat(NodeTaintRules.without(node, Set.of(NodeTaintRules.UNREACHABLE)))
                .isEmpty();
    }
}
