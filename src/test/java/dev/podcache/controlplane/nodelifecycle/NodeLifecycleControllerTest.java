package dev.podcache.controlplane.nodelifecycle;

import static dev.podcache.controlplane.cluster.TestNodes.inZone;
import static dev.podcache.controlplane.cluster.TestNodes.reporting;
import static dev.podcache.controlplane.cluster.TestNodes.status;
import static dev.podcache.controlplane.cluster.TestNodes.taints;
import static dev.podcache.controlplane.cluster.TestPods.on;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.controlplane.cluster.MemoryCluster;
import dev.podcache.controlplane.cluster.TestNodes;
import dev.podcache.controlplane.cluster.TestPods;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The whole controller on hand-driven time, with a grace period of 40 s. */
class NodeLifecycleControllerTest {

    private static final NodeLifecycleOptions OPTIONS =
            NodeLifecycleOptions.DEFAULT.monitorGracePeriod(Duration.ofSeconds(40));

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final MemoryCluster cluster = new MemoryCluster(timekeeper).quietUntilListed();
    private final List<String> events = new ArrayList<>();
    private final Set<String> alive = new TreeSet<>();

    private void start() {
        start(OPTIONS);
    }

    private void start(NodeLifecycleOptions options) {
        new NodeLifecycleController(
                        cluster.cache(),
                        cluster,
                        (about, type, reason, message) -> events.add(type + " " + reason + " " + message),
                        options)
                .start();
        cluster.list();
    }

    /** Lets time pass, in which the nodes that are alive renew their Leases. */
    private void pass(long seconds) {
        for (long second = 0; second < seconds; second++) {
            if (second % 5 == 0) {
                alive.forEach(cluster::renew);
            }
            timekeeper.advance(Duration.ofSeconds(1));
        }
    }

    private String ready(String node) {
        return status(cluster.node(node), "Ready");
    }

    private boolean isEvicting(String node) {
        return taints(cluster.node(node)).stream().anyMatch(taint -> taint.endsWith(":NoExecute"));
    }

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
    void podCannotBeMarked_isMarkedInTheNextPass() {
        cluster.put(reporting("a", "True"))
                .put(reporting("b", "True"))
                .put(on("a", "p"))
                .put(on("a", "q"));
        alive.add("b");
        cluster.failNext("patchReady shop/p", FailureReason.TIMEOUT);
        start(OPTIONS.evictionRate(0));

        pass(46);
        assertThat(TestPods.status(cluster.pod("shop", "p"), "Ready")).isEqualTo("True");
        assertThat(TestPods.status(cluster.pod("shop", "q"), "Ready")).isEqualTo("False");

        pass(6);
        assertThat(TestPods.status(cluster.pod("shop", "p"), "Ready")).isEqualTo("False");
        assertThat(cluster.count("patchReady shop/q")).isEqualTo(1);
    }

    @Test
    void markOfAPodConflicts_isRepeatedInTheNextPass() {
        cluster.put(reporting("a", "True")).put(reporting("b", "True")).put(on("a", "p"));
        alive.add("b");
        cluster.failNext("patchReady shop/p", FailureReason.CONFLICT);
        start(OPTIONS.evictionRate(0));

        pass(46);
        assertThat(TestPods.status(cluster.pod("shop", "p"), "Ready")).isEqualTo("True");

        pass(6);
        assertThat(TestPods.status(cluster.pod("shop", "p"), "Ready")).isEqualTo("False");
    }

    @Test
    void podChangesBeforeItsMarkIsRepeated_isMarkedNevertheless() {
        cluster.put(reporting("a", "True")).put(reporting("b", "True"));
        alive.add("b");
        start(OPTIONS.evictionRate(0));
        pass(60);
        cluster.failNext("patchReady shop/late", FailureReason.TIMEOUT);

        cluster.put(on("a", "late"));
        cluster.put(on("a", "late"));
        timekeeper.advance(Duration.ofSeconds(2));

        assertThat(TestPods.status(cluster.pod("shop", "late"), "Ready")).isEqualTo("False");
    }

    @Test
    void podIsAssignedToAnUnknownNode_isMarkedAtOnce() {
        cluster.put(reporting("a", "True")).put(reporting("b", "True"));
        alive.add("b");
        start(OPTIONS.evictionRate(0));
        pass(60);

        cluster.put(on("a", "late")).put(on("b", "fine"));

        assertThat(TestPods.status(cluster.pod("shop", "late"), "Ready")).isEqualTo("False");
        assertThat(TestPods.status(cluster.pod("shop", "fine"), "Ready")).isEqualTo("True");
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

    // TestMonitorNodeHealthEvictPodsWithDisruption

    @Test
    void oneZone_allNodesSilent_noneIsTainted() {
        cluster.put(inZone("a", "1", "True")).put(inZone("b", "1", "True"));
        start();

        pass(600);

        assertThat(ready("a")).isEqualTo("Unknown");
        assertThat(isEvicting("a") || isEvicting("b")).isFalse();
    }

    @Test
    void twoZones_bothSilent_noneIsTainted() {
        cluster.put(inZone("a", "1", "True")).put(inZone("b", "2", "True"));
        start();

        pass(600);

        assertThat(isEvicting("a") || isEvicting("b")).isFalse();
    }

    @Test
    void twoZones_oneSilent_isTainted() {
        cluster.put(inZone("a", "1", "True")).put(inZone("b", "2", "True"));
        alive.add("b");
        start();

        pass(60);

        assertThat(isEvicting("a")).isTrue();
    }

    @Test
    void onlyAnExcludedNodeIsHealthy_noneIsTainted() {
        Node excluded = new NodeBuilder(inZone("b", "1", "True"))
                .editMetadata()
                .addToLabels("node.kubernetes.io/exclude-disruption", "")
                .endMetadata()
                .build();
        cluster.put(inZone("a", "1", "True")).put(excluded);
        alive.add("b");
        start();

        pass(600);

        assertThat(isEvicting("a")).isFalse();
    }

    @Test
    void allSilentThenOneIsBack_theOthersGetANewGracePeriod_andAreTainted() {
        cluster.put(inZone("a", "1", "True")).put(inZone("b", "1", "True"));
        start();
        pass(600);

        alive.add("b");
        cluster.heartbeat("b", "True");
        pass(30);

        assertThat(isEvicting("a")).isTrue();
        assertThat(isEvicting("b")).isFalse();
    }

    @Test
    void taintsOfAnOutageOfAll_areTakenBack() {
        cluster.put(inZone("a", "1", "True")).put(inZone("b", "1", "True"));
        alive.add("b");
        start();
        pass(60);
        assertThat(isEvicting("a")).isTrue();

        alive.clear();
        pass(60);

        assertThat(isEvicting("a")).isFalse();
        assertThat(ready("b")).isEqualTo("Unknown");
    }

    @Test
    void smallZonePartlyDisrupted_hasNoEvictions_largeOneAtTheSecondRate() {
        for (int i = 0; i < 5; i++) {
            cluster.put(inZone("n" + i, "1", "True"));
        }
        alive.addAll(Set.of("n3", "n4"));
        start();
        pass(600);
        assertThat(List.of("n0", "n1", "n2")).noneMatch(this::isEvicting);

        // the same zone, taken for a large one
        MemoryCluster large = new MemoryCluster(timekeeper).quietUntilListed();
        for (int i = 0; i < 5; i++) {
            large.put(inZone("n" + i, "1", "True"));
        }
        new NodeLifecycleController(
                        large.cache(),
                        large,
                        (about, type, reason, message) -> {},
                        OPTIONS.largeClusterSizeThreshold(4))
                .start();
        large.list();
        for (int second = 0; second < 400; second += 5) {
            large.renew("n3");
            large.renew("n4");
            timekeeper.advance(Duration.ofSeconds(5));
        }
        assertThat(List.of("n0", "n1", "n2"))
                .filteredOn(node -> taints(large.node(node)).contains("unreachable:NoExecute"))
                .hasSizeBetween(2, 3);
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

    @Test
    void podIsGone_doesNotKeepThePassFromItsEnd() {
        cluster.put(reporting("a", "True")).put(reporting("b", "True")).put(on("a", "p"));
        alive.add("b");
        start();
        cluster.failNext("patchReady", FailureReason.NOT_FOUND);

        pass(60);

        assertThat(isEvicting("a")).isTrue();
        assertThat(events).noneMatch(event -> event.contains("Node is not ready"));
        assertThat(cluster.pod("shop", "p")).isNotNull();
        cluster.removePod(ObjectKey.of("shop", "p"));
    }
}
