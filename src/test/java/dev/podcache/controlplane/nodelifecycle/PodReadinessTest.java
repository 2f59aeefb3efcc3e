package dev.podcache.controlplane.nodelifecycle;

import static dev.podcache.controlplane.cluster.TestNodes.reporting;
import static dev.podcache.controlplane.cluster.TestPods.on;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.controlplane.cluster.TestPods;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The pods of a node that is not Ready are marked as not ready. */
class PodReadinessTest extends NodeLifecycleFixture {

    /** Starts with the silent node a and the node b, and no evictions. */
    private void startWithSilentNode() {
        cluster.put(reporting("a", "True")).put(reporting("b", "True"));
        alive.add("b");
        start(OPTIONS.evictionRate(0));
    }

    @ParameterizedTest
    @EnumSource(names = {"TIMEOUT", "CONFLICT"})
    void podCannotBeMarked_isMarkedInTheNextPass(FailureReason failure) {
        cluster.put(on("a", "p")).put(on("a", "q"));
        cluster.failNext("patchReady shop/p", failure);
        startWithSilentNode();

        pass(46);
        assertThat(TestPods.status(cluster.pod("shop", "p"), "Ready")).isEqualTo("True");
        assertThat(TestPods.status(cluster.pod("shop", "q"), "Ready")).isEqualTo("False");

        pass(6);
        assertThat(TestPods.status(cluster.pod("shop", "p"), "Ready")).isEqualTo("False");
        assertThat(cluster.count("patchReady shop/q")).isEqualTo(1);
    }

    @Test
    void podChangesBeforeItsMarkIsRepeated_isMarkedNevertheless() {
        startWithSilentNode();
        pass(60);
        cluster.failNext("patchReady shop/late", FailureReason.TIMEOUT);

        cluster.put(on("a", "late"));
        cluster.put(on("a", "late"));
        timekeeper.advance(Duration.ofSeconds(2));

        assertThat(TestPods.status(cluster.pod("shop", "late"), "Ready")).isEqualTo("False");
    }

    @Test
    void podIsAssignedToAnUnknownNode_isMarkedAtOnce() {
        startWithSilentNode();
        pass(60);

        cluster.put(on("a", "late")).put(on("b", "fine"));

        assertThat(TestPods.status(cluster.pod("shop", "late"), "Ready")).isEqualTo("False");
        assertThat(TestPods.status(cluster.pod("shop", "fine"), "Ready")).isEqualTo("True");
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

    /** TestMonitorNodeHealthMarkPodsNotReadyRetry: the node reports Ready False in between. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void pod_isMarkedOnce_andAgainIfThatFails(boolean fails) {
        cluster.put(reporting("a", "True")).put(on("a", "p"));
        if (fails) {
            cluster.failNext("patchReady", FailureReason.UNAVAILABLE);
        }
        start();
        pass(46);
        assertThat(cluster.count("patchReady")).isEqualTo(1);

        cluster.heartbeat("a", "False");
        alive.add("a");
        pass(60);

        assertThat(cluster.count("patchReady")).isEqualTo(fails ? 2 : 1);
        assertThat(TestPods.status(cluster.pod("shop", "p"), "Ready")).isEqualTo("False");
    }

    /** TestMonitorNodeHealthMarkPodsNotReadyWithWorkerSize. */
    @Test
    void manyPodsOfManyNodes_areEachMarkedOnce() {
        for (int node = 0; node < 50; node++) {
            cluster.put(reporting("n" + node, "True"));
            for (int pod = 0; pod < 100; pod++) {
                cluster.put(on("n" + node, "p-" + node + "-" + pod));
            }
        }
        start();

        pass(60);

        assertThat(cluster.count("patchReady")).isEqualTo(5_000);
    }

    /** TestProcessPodMarkPodNotReady. */
    @ParameterizedTest
    @CsvSource({"False, false, True", "True, true, True", "False, true, False"})
    void podIsAssigned_isMarkedIfTheNodeIsKnownAsNotReady(String node, boolean isKnown, String pod) {
        start();
        cluster.put(reporting("a", node));
        alive.add("a");
        if (isKnown) {
            pass(6);
        }

        cluster.put(on("a", "p"));

        assertThat(TestPods.status(cluster.pod("shop", "p"), "Ready")).isEqualTo(pod);
    }
}
