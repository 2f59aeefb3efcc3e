package dev.podcache.controlplane.nodelifecycle;

import static dev.podcache.controlplane.cluster.TestNodes.reporting;
import static dev.podcache.controlplane.cluster.TestNodes.status;
import static dev.podcache.controlplane.cluster.TestNodes.taints;
import static dev.podcache.controlplane.cluster.TestPods.on;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.controlplane.cluster.TestNodes;
import dev.podcache.controlplane.cluster.TestPods;
import dev.podcache.object.FailureReason;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import io.fabric8.kubernetes.api.model.ObjectReference;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** From the silence of a node to the deletion of its pods. */
class NodeLifecycleControllerTest extends NodeLifecycleFixture {

    private static final Instant LONG_AGO = Instant.parse("2012-01-01T00:00:00Z");

    @Test
    void silentNode_isUnknown_itsPodsAreNotReady_itIsTainted_andItsPodsAreDeleted() {
        cluster.put(reporting("a", "True")).put(reporting("b", "True"));
        cluster.put(on("a", "p", TestPods.tolerates(NodeTaintRules.UNREACHABLE, 300L)));
        alive.add("b");
        start();

        pass(40);
        assertThat(ready("a")).isEqualTo("True");

        pass(6);
        assertThat(ready("a")).isEqualTo("Unknown");
        assertThat(status(cluster.node("a"), "PIDPressure")).isEqualTo("Unknown");
        assertThat(TestPods.status(cluster.pod("shop", "p"), "Ready")).isEqualTo("False");
        assertThat(taints(cluster.node("a"))).containsExactly("unreachable:NoSchedule");

        pass(6);
        assertThat(taints(cluster.node("a"))).containsExactly("unreachable:NoSchedule", "unreachable:NoExecute");
        assertThat(cluster.count("delete")).isZero();

        pass(301);
        assertThat(cluster.pod("shop", "p").getMetadata().getDeletionTimestamp())
                .isNotNull();
        assertThat(ready("b")).isEqualTo("True");
        assertThat(taints(cluster.node("b"))).isEmpty();
    }

    @Test
    void silentNode_recordsEvents() {
        cluster.put(reporting("a", "True")).put(reporting("b", "True")).put(on("a", "p"));
        alive.add("b");
        start();
        assertThat(events)
                .containsExactly(
                        "Normal RegisteredNode Node a event: Registered Node a in Controller",
                        "Normal RegisteredNode Node b event: Registered Node b in Controller");
        events.clear();

        pass(60);

        assertThat(events)
                .containsExactly(
                        "Normal NodeNotReady Node a status is now: NodeNotReady",
                        "Warning NodeNotReady Node is not ready",
                        "Normal TaintManagerEviction Marking for deletion Pod shop/p");
    }

    @Test
    void nodeIsBack_isNotTaintedAnyMore_andItsPodsStay() {
        cluster.put(reporting("a", "True")).put(reporting("b", "True"));
        cluster.put(on("a", "p", TestPods.tolerates(NodeTaintRules.UNREACHABLE, 300L)));
        alive.add("b");
        start();
        pass(60);
        assertThat(isEvicting("a")).isTrue();

        alive.add("a");
        cluster.heartbeat("a", "True");
        pass(10);

        assertThat(taints(cluster.node("a"))).isEmpty();
        pass(600);
        assertThat(cluster.count("delete")).isZero();
        assertThat(events).last().isEqualTo("Normal TaintManagerEviction Cancelling deletion of Pod shop/p");
    }

    @Test
    void nodeReportsNotReady_getsTheOtherTaints() {
        cluster.put(reporting("a", "False")).put(reporting("b", "True"));
        alive.addAll(Set.of("a", "b"));
        start();

        pass(6);

        assertThat(ready("a")).isEqualTo("False");
        assertThat(taints(cluster.node("a"))).containsExactly("not-ready:NoSchedule", "not-ready:NoExecute");
    }

    @Test
    void nodeHasChangedSinceItWasRead_isReadAndDecidedAgain() {
        cluster.put(reporting("a", "True")).put(reporting("b", "True"));
        alive.add("b");
        start();
        pass(40);
        cluster.lag(Duration.ofHours(1));
        cluster.heartbeat("a", "True");

        pass(10);

        assertThat(cluster.calls()).containsExactly("patchConditions a", "getNode a");
        assertThat(ready("a")).isEqualTo("True");
    }

    @Test
    void writeFails_isTriedFiveTimes_andThenInTheNextPass() {
        cluster.put(reporting("a", "True")).put(reporting("b", "True"));
        alive.add("b");
        start();
        for (int i = 0; i < 5; i++) {
            cluster.failNext("patchConditions", FailureReason.UNAVAILABLE);
        }

        pass(46);
        assertThat(ready("a")).isEqualTo("True");
        assertThat(cluster.count("patchConditions")).isEqualTo(5);
        pass(6);
        assertThat(ready("a")).isEqualTo("Unknown");
    }

    @Test
    void nodeIsDeleted_isForgotten() {
        cluster.put(reporting("a", "True")).put(reporting("b", "True"));
        start();
        pass(1);

        cluster.deleteNode("a");
        pass(6);

        assertThat(events).last().isEqualTo("Normal RemovingNode Node a event: Removing Node a from Controller");
    }

    @Test
    void newNodeHasTaintsOfAnEarlierController_theyAreRemoved() {
        Node tainted =
                TestNodes.withTaints(reporting("a", "True"), TestNodes.taint(NodeTaintRules.UNREACHABLE, "NoExecute"));
        cluster.put(tainted).put(reporting("b", "True"));

        start();

        assertThat(taints(cluster.node("a"))).isEmpty();
    }

    @Test
    void apiServerCannotBeWatched_itsSilenceIsNotThatOfTheNodes() {
        cluster.put(reporting("a", "True")).put(reporting("b", "True"));
        alive.addAll(Set.of("a", "b"));
        start();
        pass(30);
        alive.clear();

        cluster.cache().leaseSink().disconnected(outage());
        pass(600);
        cluster.cache().leaseSink().connected();
        pass(30);
        assertThat(ready("a")).isEqualTo("True");

        pass(20);
        assertThat(ready("a")).isEqualTo("Unknown");
    }

    private static ApiServerException outage() {
        return ApiServerException.withoutAnswer(FailureReason.UNAVAILABLE, "WATCH leases", "gone", null);
    }

    @Test
    void loopIsClosed_nothingHappensAnyMore() {
        cluster.put(reporting("a", "True")).put(reporting("b", "True"));
        alive.add("b");
        start();
        pass(10);

        cluster.cache().loop().close();
        pass(600);

        assertThat(cluster.calls()).isEmpty();
    }

    @Test
    void answersAreHeld_thePassWaits_andGoesOnAfterwards() {
        cluster.put(reporting("a", "True")).put(reporting("b", "True")).put(reporting("c", "True"));
        alive.addAll(Set.of("b", "c"));
        start();
        cluster.hold();
        pass(60);
        assertThat(cluster.count("patchConditions")).isEqualTo(1);
        alive.remove("b");

        cluster.release();
        pass(60);

        assertThat(ready("a")).isEqualTo("Unknown");
        assertThat(ready("b")).isEqualTo("Unknown");
        assertThat(ready("c")).isEqualTo("True");
    }

    /** TestNodeEventGeneration. */
    @Test
    void newNode_isRegisteredInOneEventWithItsUid() {
        cluster.put(reporting("a", "Unknown"));

        start();

        assertThat(events).containsExactly("Normal RegisteredNode Node a event: Registered Node a in Controller");
        assertThat(subjects).extracting(ObjectReference::getUid).containsExactly("uid-a");
    }

    /**
     * TestMonitorNodeHealthUpdateStatus, TestMonitorNodeHealthUpdateNodeAndPodStatusWithLease and
     * TestMonitorNodeHealthMarkPodsNotReady. The last two columns are the reason that is written, and whether the pods of
     * the node are marked.
     */
    @ParameterizedTest(name = "{0} node, Ready {1}, heartbeat {2}, Lease {3}, after {4} s")
    @CsvSource({
        "new, '', never, never, 60, '', false",
        "new, '', never, once, 60, '', false",
        "new, '', never, never, 65, NodeStatusNeverUpdated, false",
        "old, '', never, never, 0, NodeStatusNeverUpdated, false",
        "old, '', never, renewed, 3600, '', false",
        "old, '', never, once, 3600, NodeStatusNeverUpdated, false",
        "old, True, once, never, 40, '', false",
        "old, True, once, never, 60, NodeStatusUnknown, true",
        "old, True, once, never, 3600, NodeStatusUnknown, true",
        "old, True, once, renewed, 3600, '', false",
        "old, True, renewed, once, 3600, '', false",
        "old, True, once, once, 3600, NodeStatusUnknown, true"
    })
    void node_isWrittenOnceIfBothSignsOfLifeAreTooOld(
            String age, String ready, String heartbeat, String lease, int seconds, String reason, boolean marked) {
        Node node = TestNodes.created("a", age.equals("old") ? LONG_AGO : timekeeper.wallTime())
                .build();
        cluster.put(ready.isEmpty() ? node : TestNodes.withReady(node, ready, timekeeper.wallTime()));
        cluster.put(on("a", "p"));
        if (!lease.equals("never")) {
            cluster.renew("a");
        }
        if (lease.equals("renewed")) {
            alive.add("a");
        }
        start();

        for (int passed = 0; passed < seconds; passed += 5) {
            pass(5);
            if (heartbeat.equals("renewed")) {
                cluster.heartbeat("a", ready);
            }
        }

        assertThat(cluster.count("patchConditions")).isEqualTo(reason.isEmpty() ? 0 : 1);
        assertThat(reasonIfUnknown("a")).isEqualTo(reason);
        assertThat(TestPods.status(cluster.pod("shop", "p"), "Ready")).isEqualTo(marked ? "False" : "True");
    }

    private String reasonIfUnknown(String node) {
        return cluster.node(node).getStatus().getConditions().stream()
                .filter(condition -> condition.getType().equals("Ready"))
                .filter(condition -> condition.getStatus().equals("Unknown"))
                .map(NodeCondition::getReason)
                .findFirst()
                .orElse("");
    }

    /** KEP-5647: a controller whose watch is late takes no node for dead that has renewed its Lease. */
    @Test
    void watchOfLeasesIsLate_nodeThatRenewsItsLeaseIsNotTakenForDead() {
        cluster.put(TestNodes.withReady(
                TestNodes.created("a", timekeeper.wallTime()).build(), "True", timekeeper.wallTime()));
        alive.add("a");
        start();
        pass(30);
        cluster.leaseWatchIsLate = true;

        pass(300);

        assertThat(ready("a")).isEqualTo("True");
        alive.clear();
        pass(60);
        assertThat(ready("a")).isEqualTo("Unknown");
    }

    /** The watch may be faster than the answer, which then says nothing new. */
    @Test
    void nodeRenewsItsLeaseWhileThatIsRead_isNotTakenForDead() {
        cluster.put(reporting("a", "True")).put(reporting("b", "True"));
        alive.addAll(Set.of("a", "b"));
        start();
        pass(30);
        alive.remove("a");
        cluster.whileLeaseIsRead = () -> cluster.renew("a");

        pass(60);

        assertThat(ready("a")).isEqualTo("True");
        assertThat(cluster.count("patchConditions")).isZero();
    }

    @Test
    void nodeReportsItsStatusWhileItsLeaseIsRead_theReportStays() {
        cluster.put(reporting("a", "True")).put(reporting("b", "True"));
        alive.addAll(Set.of("a", "b"));
        start();
        pass(30);
        alive.remove("a");
        cluster.whileLeaseIsRead = () -> cluster.heartbeat("a", "True");

        pass(60);

        assertThat(ready("a")).isEqualTo("True");
        assertThat(cluster.count("patchConditions")).isZero();
    }

    @Test
    void nodeRenewsItsLeaseWhileItsChangesWaitForASlot_nothingIsSent() {
        List<String> silent = List.of("n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9");
        silent.forEach(name -> cluster.put(reporting(name, "True")));
        alive.addAll(silent);
        start();
        pass(30);
        alive.clear();
        cluster.hold();
        pass(60);
        assertThat(cluster.count("patchConditions")).isEqualTo(8);

        cluster.renew("n9");
        cluster.release();
        pass(1);

        assertThat(ready("n8")).isEqualTo("Unknown");
        assertThat(ready("n9")).isEqualTo("True");
        assertThat(cluster.calls()).doesNotContain("patchConditions n9");
    }
}
