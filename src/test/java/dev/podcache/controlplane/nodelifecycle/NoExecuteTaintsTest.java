package dev.podcache.controlplane.nodelifecycle;

import static dev.podcache.controlplane.cluster.TestNodes.reporting;
import static dev.podcache.controlplane.cluster.TestNodes.taints;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.controlplane.cluster.TestNodes;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Nodes that are not Ready get NoExecute taints, one after the other. */
class NoExecuteTaintsTest extends NodeLifecycleFixture {

    /** TestSwapUnreachableNotReadyTaints. */
    @Test
    void unreachableNodeReportsNotReady_itsTaintsAreSwappedAtOnce() {
        cluster.put(reporting("a", "True")).put(reporting("b", "True"));
        alive.add("b");
        start();
        pass(60);
        assertThat(taints(cluster.node("a"))).containsExactly("unreachable:NoSchedule", "unreachable:NoExecute");

        alive.add("a");
        cluster.heartbeat("a", "False");
        pass(6);

        assertThat(taints(cluster.node("a"))).containsExactlyInAnyOrder("not-ready:NoSchedule", "not-ready:NoExecute");
    }

    @Test
    void manySilentNodes_areTaintedOneInTenSeconds() {
        for (int i = 0; i < 10; i++) {
            cluster.put(reporting("n" + i, "True"));
        }
        alive.addAll(Set.of("n4", "n5", "n6", "n7", "n8", "n9"));
        start();
        pass(52);
        long first = cluster.count("patchTaints");

        pass(31);

        // one NoSchedule taint for each of the four, and the NoExecute taints one by one
        assertThat(first).isEqualTo(5);
        assertThat(cluster.count("patchTaints")).isEqualTo(8);
    }

    /** TestApplyNoExecuteTaints. */
    @Test
    void nodesThatAreNotReady_areTaintedByTheirStatus_andClearedWhenTheyAreReady() {
        cluster.put(reporting("unknown", "Unknown"))
                .put(reporting("ready", "True"))
                .put(reporting("not-ready", "False"));
        alive.addAll(Set.of("ready", "not-ready"));

        start(OPTIONS.evictionRate(1_000));
        pass(1);
        assertThat(taints(cluster.node("unknown"))).contains("unreachable:NoExecute");
        assertThat(taints(cluster.node("not-ready"))).contains("not-ready:NoExecute");
        assertThat(taints(cluster.node("ready"))).isEmpty();

        cluster.heartbeat("not-ready", "True");
        pass(6);
        assertThat(taints(cluster.node("not-ready"))).isEmpty();
    }

    /** TestApplyNoExecuteTaints: after the pass that puts the node into the queue, its status loses Ready. */
    @Test
    void readyIsRemovedBeforeTheTaint_isNotTainted() {
        cluster.put(reporting("a", "True")).put(reporting("b", "True"));
        alive.addAll(Set.of("a", "b"));
        start(OPTIONS.evictionRate(1_000));
        pass(7);
        cluster.heartbeat("a", "False");
        pass(3);
        assertThat(taints(cluster.node("a"))).containsExactly("not-ready:NoSchedule");

        cluster.put(new NodeBuilder(cluster.node("a"))
                .editStatus()
                .withConditions(TestNodes.condition("MemoryPressure", "Unknown", timekeeper.wallTime()))
                .endStatus()
                .build());
        pass(20);

        assertThat(taints(cluster.node("a"))).isEmpty();
    }

    /** TestApplyNoExecuteTaintsToNodesEnqueueTwice: two passes, then a node is Ready, and others appear behind it. */
    @Test
    void nodeIsReadyWhileItWaits_theOthersAreTaintedNevertheless() {
        for (String name : List.of("first", "back", "silent")) {
            cluster.put(reporting(name, "Unknown"));
        }
        for (String name : List.of("r1", "r2", "r3", "r4", "r5", "r6")) {
            cluster.put(reporting(name, "True"));
            alive.add(name);
        }
        start(OPTIONS.evictionRate(0.05));
        pass(12);
        assertThat(isEvicting("first")).isTrue();

        cluster.heartbeat("back", "True");
        alive.add("back");
        cluster.put(reporting("late-unknown", "Unknown")).put(reporting("late-not-ready", "False"));
        alive.add("late-not-ready");
        pass(60);

        assertThat(taints(cluster.node("back"))).isEmpty();
        assertThat(taints(cluster.node("silent"))).contains("unreachable:NoExecute");
        assertThat(taints(cluster.node("late-unknown"))).contains("unreachable:NoExecute");
        assertThat(taints(cluster.node("late-not-ready"))).contains("not-ready:NoExecute");
    }
}
