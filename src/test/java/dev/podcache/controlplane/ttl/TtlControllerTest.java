package dev.podcache.controlplane.ttl;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.controlplane.cluster.MemoryCluster;
import dev.podcache.controlplane.cluster.TestNodes;
import dev.podcache.node.NodeTtlSource;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TtlControllerTest {

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final MemoryCluster cluster = new MemoryCluster(timekeeper);

    TtlControllerTest() {
        new TtlController(cluster.cache(), cluster).start();
        cluster.list();
    }

    private static Node node(int number, @Nullable String ttl) {
        NodeBuilder node = TestNodes.silent("n" + number);
        return ttl == null
                ? node.build()
                : node.editMetadata()
                        .addToAnnotations(NodeTtlSource.ANNOTATION, ttl)
                        .endMetadata()
                        .build();
    }

    private String ttl(int number) {
        return cluster.node("n" + number).getMetadata().getAnnotations().getOrDefault(NodeTtlSource.ANNOTATION, "");
    }

    private void add(int nodes) {
        for (int i = 1; i <= nodes; i++) {
            cluster.put(node(i, null));
        }
    }

    @Test
    void nodesAreAdded_eachGetsTheTtlOfItsTime() {
        add(101);

        assertThat(ttl(1)).isEqualTo("0");
        assertThat(ttl(100)).isEqualTo("0");
        assertThat(ttl(101)).isEqualTo("15");
    }

    @Test
    void start_withNodesThatHaveTheRightTtl_writesNothing() {
        MemoryCluster other = new MemoryCluster(timekeeper).quietUntilListed();
        new TtlController(other.cache(), other).start();
        for (int i = 1; i <= 101; i++) {
            other.put(node(i, "15"));
        }

        other.list();

        assertThat(other.calls()).isEmpty();
    }

    @Test
    void otherNodes_getTheNewTtlWhenTheyChange() {
        add(101);

        cluster.heartbeat("n1", "True");

        assertThat(ttl(1)).isEqualTo("15");
        assertThat(ttl(2)).isEqualTo("0");
    }

    @Test
    void nodesAreDeleted_theTtlFallsBelowTheLowerLimitOnly() {
        add(101);
        for (int i = 101; i > 90; i--) {
            cluster.deleteNode("n" + i);
        }
        cluster.heartbeat("n1", "True");
        assertThat(ttl(1)).isEqualTo("15");

        cluster.deleteNode("n90");
        cluster.heartbeat("n1", "True");

        assertThat(ttl(1)).isEqualTo("0");
    }

    /** TestUpdateNodeIfNeeded: the size of the cluster gives the TTL. */
    @ParameterizedTest(name = "{1} in a cluster of {0} nodes")
    @CsvSource(
            nullValues = "-",
            value = {"1, -, 0", "101, -, 15", "501, -, 30", "1001, 0, 60", "1001, 60, -", "501, 60, 30"})
    void annotation_differsFromTheTtlOfTheCluster_isWritten(
            int nodes, @Nullable String annotation, @Nullable String written) {
        MemoryCluster other = new MemoryCluster(timekeeper).quietUntilListed();
        new TtlController(other.cache(), other).start();
        other.put(node(1, annotation));
        for (int i = 2; i <= nodes; i++) {
            other.put(node(i, written == null ? annotation : written));
        }

        other.list();

        assertThat(other.calls()).isEqualTo(written == null ? List.of() : List.of("annotate n1 " + written));
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {"-, 1", "0, 0", "00, 0", "+0, 0", "60, 1", "soon, 1", "'', 1", "99999999999999999999, 1"})
    void annotation_isWrittenIfItsNumberDiffers(@Nullable String annotation, int writes) {
        cluster.put(node(1, annotation));

        assertThat(cluster.calls()).hasSize(writes);
        assertThat(cluster.calls()).allMatch("annotate n1 0"::equals);
    }

    @Test
    void unchangedNode_isNotWrittenAgain() {
        add(1);

        cluster.heartbeat("n1", "True");
        cluster.heartbeat("n1", "False");

        assertThat(cluster.calls()).hasSize(1);
    }

    @Test
    void writeFails_isRepeatedAfterPausesThatDouble() {
        cluster.failNext("annotate", FailureReason.TIMEOUT);
        cluster.failNext("annotate", FailureReason.FORBIDDEN);
        cluster.failNext("annotate", FailureReason.UNAVAILABLE);
        add(1);
        cluster.heartbeat("n1", "True");
        assertThat(cluster.calls()).hasSize(1);

        timekeeper.advance(Duration.ofSeconds(1));

        assertThat(ttl(1)).isEqualTo("0");
        assertThat(cluster.calls()).hasSize(4);
    }

    @Test
    void nodeIsDeletedWhileItsWriteFails_isForgotten() {
        cluster.failNext("annotate", FailureReason.UNAVAILABLE);
        add(1);

        cluster.deleteNode("n1");
        timekeeper.advance(Duration.ofHours(1));

        assertThat(cluster.calls()).hasSize(1);
    }

    @Test
    void ttlChangesWhileItIsWritten_isWrittenAgain() {
        add(99);
        cluster.hold();
        cluster.put(node(100, null));
        cluster.put(node(101, null));

        cluster.release();

        assertThat(ttl(100)).isEqualTo("15");
        assertThat(ttl(101)).isEqualTo("15");
    }

    @Test
    void nodeIsReplacedBeforeTheAnswer_theNewOneIsWrittenToo() {
        cluster.holdAnswers();
        add(1);
        cluster.deleteNode("n1");
        cluster.put(new NodeBuilder(node(1, null))
                .editMetadata()
                .withUid("uid-of-the-next")
                .endMetadata()
                .build());
        cluster.release();

        assertThat(ttl(1)).isEqualTo("0");
        assertThat(cluster.calls()).hasSize(2);
    }

    @Test
    void annotationIsOverwrittenBeforeTheAnswer_isWrittenAgain() {
        cluster.holdAnswers();
        add(1);
        cluster.put(node(1, "60"));
        cluster.release();

        assertThat(ttl(1)).isEqualTo("0");
        assertThat(cluster.calls()).hasSize(2);
    }

    @Test
    void nodeIsDeletedBeforeItIsWritten_isNotWrittenAgain() {
        cluster.hold();
        add(1);
        cluster.deleteNode("n1");
        cluster.release();

        assertThat(cluster.calls()).hasSize(1);
    }

    @Test
    void manyNodesAtOnce_areWrittenFiveAtATime() {
        cluster.hold();
        add(20);
        assertThat(cluster.calls()).hasSize(5);

        cluster.release();

        assertThat(cluster.calls()).hasSize(20);
    }
}
