package dev.podcache.controlplane.nodelifecycle;

import static dev.podcache.controlplane.cluster.TestPods.on;
import static dev.podcache.controlplane.cluster.TestPods.tolerates;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.google.common.base.Splitter;
import dev.podcache.controlplane.cluster.MemoryCluster;
import dev.podcache.controlplane.cluster.TestNodes;
import dev.podcache.controlplane.cluster.TestPods;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.ObjectReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.Toleration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Cases of upstream's tests of its taint-eviction controller. */
class TaintEvictionTest {

    private static final Toleration FOREVER = tolerates("one", null);
    private static final Toleration LONG = tolerates("one", 100L);
    private static final Toleration SHORT = tolerates("one", 1L);

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final MemoryCluster cluster = new MemoryCluster(timekeeper);
    private final List<String> events = new ArrayList<>();
    private final List<ObjectReference> subjects = new ArrayList<>(); // of the events
    private final TaintEviction eviction = new TaintEviction(
            cluster.cache(),
            new LifecycleEvents((about, type, reason, message) -> {
                events.add(type + " " + reason + " " + message);
                subjects.add(about);
            }),
            new PodDeletion(cluster.cache().loop(), cluster));

    TaintEvictionTest() {
        cluster.cache().addListener(eviction);
    }

    private static Node node(String... taints) {
        return TestNodes.withTaints(
                TestNodes.reporting("n", "True"),
                Stream.of(taints).map(key -> TestNodes.taint(key, "NoExecute")).toArray(Taint[]::new));
    }

    private boolean isDeleted(String pod) {
        return cluster.pod("shop", pod).getMetadata().getDeletionTimestamp() != null;
    }

    /** TestCreatePod, TestUpdatePod, TestCreateNode, TestUpdateNode: the last two columns say what happens, and when. */
    static Stream<Object[]> changes() {
        return Stream.of(
                row("pod without node", List.of(node("one"), on("", "p")), -1),
                row("pod on untainted node", List.of(node(), on("n", "p")), -1),
                row("pod on tainted node", List.of(node("one"), on("n", "p")), 0),
                row("finite toleration", List.of(node("one"), on("n", "p", LONG)), 100),
                row("infinite toleration", List.of(node("one"), on("n", "p", FOREVER)), -1),
                row("toleration of another", List.of(node("one"), on("n", "p", tolerates("two", null))), 0),
                row("pod gets a tainted node", List.of(node("one"), on("", "p"), on("n", "p")), 0),
                row("gets it with a toleration", List.of(node("one"), on("", "p", FOREVER), on("n", "p", FOREVER)), -1),
                row("gets it with a finite one", List.of(node("one"), on("", "p", LONG), on("n", "p", LONG)), 100),
                row("toleration removed", List.of(node("one"), on("n", "p", LONG), on("n", "p")), 0),
                row("toleration lengthened", List.of(node("one"), on("n", "p", SHORT), on("n", "p", LONG)), 1),
                row("toleration shortened", List.of(node("one"), on("n", "p", LONG), on("n", "p", SHORT)), 1),
                row("node appears after its pod", List.of(on("n", "p"), node()), -1),
                row("tainted node appears after its pod", List.of(on("n", "p"), node("one")), 0),
                row("tolerated one appears", List.of(on("n", "p", FOREVER), node("one")), -1),
                row("taint added", List.of(on("n", "p"), node(), node("one")), 0),
                row("tolerated taint added", List.of(on("n", "p", LONG), node(), node("one")), 100),
                row("one of two taints tolerated", List.of(on("n", "p", LONG), node(), node("one", "two")), 0),
                row("taint removed", List.of(on("n", "p", SHORT), node("one"), node()), -1),
                row(
                        "taint for ever, then one for a time, then not",
                        List.of(both(), node("one"), node("one", "two"), node("one")),
                        -1),
                row("taint for ever, then one for a time", List.of(both(), node("one"), node("one", "two")), 60),
                row("two limits", List.of(on("n", "p", SHORT, tolerates("two", 100L)), node("one", "two")), 1),
                row("pod appears late", List.of(node("one"), on("n", "p2"), on("n", "p")), 0),
                row("pod is being deleted", List.of(node("one"), deleted()), -1));
    }

    private static Object[] row(String name, List<Object> objects, long deletedAfter) {
        return new Object[] {name, objects, deletedAfter};
    }

    private static Pod both() {
        return on("n", "p", FOREVER, tolerates("two", 60L));
    }

    private static Pod deleted() {
        return new PodBuilder(on("n", "p"))
                .editMetadata()
                .withDeletionTimestamp("2026-01-01T00:00:00Z")
                .endMetadata()
                .build();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("changes")
    void changes_deleteThePodAfter(String name, List<Object> objects, long deletedAfter) {
        for (Object object : objects) {
            if (object instanceof Pod pod) {
                cluster.put(pod);
            } else {
                cluster.put((Node) object);
            }
        }

        timekeeper.advance(Duration.ofMillis(1_000 * deletedAfter - 1));
        assertThat(cluster.calls())
                .filteredOn(call -> call.endsWith("shop/p") && deletedAfter > 0)
                .isEmpty();
        timekeeper.advance(Duration.ofMillis(1));
        List<String> expected = deletedAfter < 0 ? List.of() : List.of("patchDisruptionTarget shop/p", "delete shop/p");
        assertThat(cluster.calls()).filteredOn(call -> call.endsWith("shop/p")).isEqualTo(expected);
        timekeeper.advance(Duration.ofHours(1));
        assertThat(cluster.calls()).filteredOn(call -> call.endsWith("shop/p")).isEqualTo(expected);
    }

    /** TestUpdateNodeWithMultiplePods. */
    @Test
    void podsOfANode_areDeletedEachAtItsTime() {
        cluster.put(on("n", "now")).put(on("n", "soon", SHORT)).put(on("n", "never", FOREVER));

        cluster.put(node("one"));

        assertThat(isDeleted("now")).isTrue();
        timekeeper.advance(Duration.ofMillis(999));
        assertThat(isDeleted("soon")).isFalse();
        timekeeper.advance(Duration.ofMillis(1));
        assertThat(isDeleted("soon")).isTrue();
        timekeeper.advance(Duration.ofDays(1));
        assertThat(isDeleted("never")).isFalse();
    }

    @Test
    void podsThatDoNotTolerateAllTaints_areDeletedAtOnce() {
        cluster.put(on("n", "now")).put(on("n", "soon", SHORT)).put(on("n", "never", FOREVER));

        cluster.put(node("one", "two"));

        assertThat(List.of("now", "soon", "never")).allMatch(this::isDeleted);
    }

    @Test
    void laterTaintWithLessTime_isDeletedEarlier_andWithMoreTime_isNot() {
        cluster.put(on("n", "p", LONG, tolerates("two", 10L), tolerates("three", 300L)));
        cluster.put(node("one"));

        cluster.put(node("one", "three"));
        assertThat(eviction.dueAt(ObjectKey.of("shop", "p")))
                .isEqualTo(Duration.ofSeconds(100).toNanos());

        cluster.put(node("one", "two", "three"));
        assertThat(eviction.dueAt(ObjectKey.of("shop", "p")))
                .isEqualTo(Duration.ofSeconds(10).toNanos());
    }

    /** TestPodDeletionEvent. */
    @Test
    void deletionAndCancellation_areEvents() {
        cluster.put(on("n", "p", LONG));

        cluster.put(node("one"));
        assertThat(events).isEmpty();
        cluster.put(node());
        assertThat(events).containsExactly("Normal TaintManagerEviction Cancelling deletion of Pod shop/p");

        cluster.put(node("other"));
        assertThat(events).last().isEqualTo("Normal TaintManagerEviction Marking for deletion Pod shop/p");
        assertThat(subjects)
                .extracting(ObjectReference::getApiVersion, ObjectReference::getKind, ObjectReference::getNamespace)
                .containsOnly(tuple("v1", "Pod", "shop"));
        assertThat(subjects).extracting(ObjectReference::getName).containsOnly("p");
    }

    /** TestExecuteDelayed, TestCancel and TestCancelAndRead: each of five pods is scheduled twice. */
    @ParameterizedTest
    @CsvSource({"'', '', 5", "p2 p4, '', 3", "p2 p4, p2, 4"})
    void pods_areDeletedOnceUnlessCancelled(String cancelled, String again, int deleted) {
        for (String pod : List.of("p1", "p2", "p3", "p4", "p5")) {
            cluster.put(on("n", pod, LONG, tolerates("two", 100L)));
        }
        cluster.put(node("one"));
        cluster.put(node("one", "two"));

        names(cancelled).forEach(pod -> cluster.put(on("n", pod, FOREVER, tolerates("two", null))));
        names(again).forEach(pod -> cluster.put(on("n", pod, LONG, tolerates("two", 100L))));

        timekeeper.advance(Duration.ofSeconds(99));
        assertThat(cluster.calls()).isEmpty();
        timekeeper.advance(Duration.ofSeconds(1));
        assertThat(cluster.count("delete")).isEqualTo(deleted);
        timekeeper.advance(Duration.ofHours(1));
        assertThat(cluster.count("delete")).isEqualTo(deleted);
    }

    private static Iterable<String> names(String list) {
        return Splitter.on(' ').omitEmptyStrings().split(list);
    }

    /** TestRunningWorkerCompletionDoesNotRemoveReplacement: the first deletion begins at once, or when it is due. */
    @ParameterizedTest
    @ValueSource(longs = {0, 1})
    void deletionIsCancelledWhileItRuns_theNextOneStaysAndCanBeCancelled(long seconds) {
        ObjectKey pod = ObjectKey.of("shop", "p");
        cluster.put(on("n", "p", tolerates("one", seconds), tolerates("two", 10L)));
        cluster.hold();
        cluster.put(node("one"));
        timekeeper.advance(Duration.ofSeconds(seconds));
        assertThat(cluster.calls()).containsExactly("patchDisruptionTarget shop/p");

        cluster.put(node());
        cluster.put(node("two"));
        cluster.release();

        assertThat(eviction.dueAt(pod))
                .isEqualTo(Duration.ofSeconds(seconds + 10).toNanos());
        cluster.put(node());
        assertThat(eviction.dueAt(pod)).isNull();
        timekeeper.advance(Duration.ofHours(1));
        assertThat(isDeleted("p")).isFalse();
    }

    @Test
    void deletedPod_saysWhyInItsStatus() {
        cluster.put(on("n", "p")).put(node("one"));

        assertThat(cluster.pod("shop", "p").getStatus().getConditions())
                .filteredOn(condition -> condition.getType().equals("DisruptionTarget"))
                .singleElement()
                .satisfies(condition -> {
                    assertThat(condition.getStatus()).isEqualTo("True");
                    assertThat(condition.getReason()).isEqualTo("DeletionByTaintManager");
                    assertThat(condition.getMessage()).isEqualTo("Taint manager: deleting due to NoExecute taint");
                });
    }

    /** TestDeletePod and TestDeleteNode. */
    @Test
    void podOrNodeIsDeleted_nothingHappensAtTheDeadline() {
        cluster.put(on("n", "p", LONG)).put(node("one"));

        cluster.removePod(ObjectKey.of("shop", "p"));
        timekeeper.advance(Duration.ofHours(1));
        assertThat(cluster.calls()).isEmpty();

        cluster.deleteNode("n");
        cluster.put(on("n", "q"));
        assertThat(cluster.calls()).isEmpty();
    }

    @Test
    void podIsReplacedByAnother_theOtherHasItsOwnTime() {
        cluster.put(on("n", "p", LONG)).put(node("one"));
        timekeeper.advance(Duration.ofSeconds(60));

        Pod other = new PodBuilder(on("n", "p", LONG))
                .editMetadata()
                .withUid("other")
                .endMetadata()
                .build();
        cluster.put(other);

        timekeeper.advance(Duration.ofSeconds(99));
        assertThat(cluster.calls()).isEmpty();
        timekeeper.advance(Duration.ofSeconds(1));
        assertThat(isDeleted("p")).isTrue();
    }

    @Test
    void deletionFails_isRepeated_withOneEvent() {
        cluster.failNext("patchDisruptionTarget", FailureReason.TIMEOUT);
        cluster.failNext("delete", FailureReason.UNAVAILABLE);
        cluster.failNext("delete", FailureReason.UNAVAILABLE);

        cluster.put(on("n", "p")).put(node("one"));
        timekeeper.advance(Duration.ofSeconds(1));

        assertThat(isDeleted("p")).isTrue();
        assertThat(events).hasSize(1);
        assertThat(cluster.count("delete")).isEqualTo(3);
    }

    @Test
    void taintIsRemovedWhileTheDeletionFails_isNotRepeated() {
        cluster.failNext("patchDisruptionTarget", FailureReason.UNAVAILABLE);
        cluster.put(on("n", "p")).put(node("one"));

        cluster.put(node());
        timekeeper.advance(Duration.ofHours(1));

        assertThat(isDeleted("p")).isFalse();
        assertThat(TestPods.status(cluster.pod("shop", "p"), "DisruptionTarget"))
                .isEmpty();
    }

    @Test
    void podIsGone_isNotTriedAgain() {
        cluster.failNext("patchDisruptionTarget", FailureReason.NOT_FOUND);

        cluster.put(on("n", "p")).put(node("one"));
        timekeeper.advance(Duration.ofHours(1));

        assertThat(cluster.calls()).containsExactly("patchDisruptionTarget shop/p");
    }

    @Test
    void deletionConflicts_isRepeated() {
        cluster.failNext("patchDisruptionTarget", FailureReason.CONFLICT);
        cluster.failNext("delete", FailureReason.CONFLICT);

        cluster.put(on("n", "p")).put(node("one"));
        timekeeper.advance(Duration.ofSeconds(1));

        assertThat(isDeleted("p")).isTrue();
    }

    @Test
    void deletionConflictsBecauseAnotherPodHasTheName_isNotRepeated() {
        cluster.failNext("delete", FailureReason.CONFLICT);
        cluster.put(on("n", "p")).put(node("one"));

        cluster.put(new PodBuilder(on("n", "p", FOREVER))
                .editMetadata()
                .withUid("other")
                .endMetadata()
                .build());
        timekeeper.advance(Duration.ofHours(1));

        assertThat(isDeleted("p")).isFalse();
        assertThat(cluster.count("delete")).isEqualTo(1);
    }

    @Test
    void taintIsRemovedWhileThePodWaitsForASlot_nothingIsSent() {
        cluster.hold();
        for (int i = 0; i < 20; i++) {
            cluster.put(on("n", "p" + i));
        }
        cluster.put(node("one"));
        long sent = cluster.calls().size();

        cluster.put(node());
        cluster.release();
        timekeeper.advance(Duration.ofHours(1));

        assertThat(sent).isLessThan(20);
        assertThat(cluster.calls()).hasSize((int) sent);
    }
}
