package dev.podcache.controlplane.nodelifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.podcache.controlplane.cluster.ClusterCache;
import dev.podcache.controlplane.cluster.ObservedNode;
import dev.podcache.controlplane.cluster.ReadyStatus;
import dev.podcache.controlplane.cluster.TestNodes;
import dev.podcache.time.ApiTime;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeCondition;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Cases of upstream's tests of the monitor, as pure decisions. */
class HealthRulesTest {

    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
    private static final long RENEWED = ApiTime.micros(START.atZone(ZoneOffset.UTC));
    private static final long SECOND = 1_000_000;
    private static final HealthRules RULES = new HealthRules(Duration.ofSeconds(40), Duration.ofSeconds(60));

    private static CheckTime after(long seconds) {
        return new CheckTime(Duration.ofSeconds(seconds).toNanos(), START.plusSeconds(seconds));
    }

    private static ObservedNode ready(String status, Instant heartbeat) {
        return ObservedNode.of(TestNodes.withReady(TestNodes.silent("a").build(), status, heartbeat));
    }

    private static ObservedNode silent() {
        return ObservedNode.of(TestNodes.silent("a").build());
    }

    @Test
    void oldNodeWithoutStatus_getsFourUnknownConditionsInOrder() {
        HealthVerdict verdict = RULES.check(null, silent(), ClusterCache.NEVER, after(0));

        assertThat(verdict.observed()).isEqualTo(ReadyStatus.UNKNOWN);
        assertThat(verdict.current()).isEqualTo(ReadyStatus.UNKNOWN);
        assertThat(verdict.changes())
                .extracting(
                        NodeCondition::getType,
                        NodeCondition::getStatus,
                        NodeCondition::getReason,
                        NodeCondition::getMessage,
                        NodeCondition::getLastHeartbeatTime,
                        NodeCondition::getLastTransitionTime)
                .containsExactly(
                        neverUpdated("Ready"),
                        neverUpdated("MemoryPressure"),
                        neverUpdated("DiskPressure"),
                        neverUpdated("PIDPressure"));
    }

    private static org.assertj.core.groups.Tuple neverUpdated(String type) {
        return tuple(
                type,
                "Unknown",
                "NodeStatusNeverUpdated",
                "Kubelet never posted node status.",
                "2012-01-01T00:00:00Z",
                "2026-01-01T00:00:00Z");
    }

    @ParameterizedTest
    @CsvSource({"0, false", "60, false", "61, true"})
    void newNodeWithoutStatus_isUnknownAfterTheStartupGracePeriod(long seconds, boolean unknown) {
        ObservedNode node = ObservedNode.of(TestNodes.created("a", START).build());

        HealthVerdict verdict = RULES.check(null, node, ClusterCache.NEVER, after(seconds));

        assertThat(verdict.changes().isEmpty()).isEqualTo(!unknown);
        assertThat(verdict.current()).isEqualTo(unknown ? ReadyStatus.UNKNOWN : ReadyStatus.ABSENT);
    }

    @Test
    void firstSeenWithAnOldHeartbeat_hasTheGracePeriodFromNow() {
        ObservedNode node = ready("True", START.minusSeconds(3_600));

        HealthVerdict first = RULES.check(null, node, ClusterCache.NEVER, after(0));
        HealthVerdict late = RULES.check(first.health(), node, ClusterCache.NEVER, after(40));
        HealthVerdict tooLate = RULES.check(late.health(), node, ClusterCache.NEVER, after(41));

        assertThat(first.changes()).isEmpty();
        assertThat(late.changes()).isEmpty();
        assertThat(tooLate.changes())
                .extracting(NodeCondition::getType, NodeCondition::getReason, NodeCondition::getLastHeartbeatTime)
                .containsExactly(
                        tuple(
                                "Ready",
                                "NodeStatusUnknown",
                                START.minusSeconds(3_600).toString()),
                        tuple("MemoryPressure", "NodeStatusNeverUpdated", "2012-01-01T00:00:00Z"),
                        tuple("DiskPressure", "NodeStatusNeverUpdated", "2012-01-01T00:00:00Z"),
                        tuple("PIDPressure", "NodeStatusNeverUpdated", "2012-01-01T00:00:00Z"));
        assertThat(tooLate.changes().get(0).getMessage()).isEqualTo("Kubelet stopped posting node status.");
        assertThat(tooLate.changes().get(0).getLastTransitionTime()).isEqualTo("2026-01-01T00:00:41Z");
        assertThat(tooLate.isNewlyNotReady()).isTrue();
    }

    /** Upstream: both signals fresh, one of them stale, both stale. */
    @ParameterizedTest
    @CsvSource({"true, true, false", "true, false, false", "false, true, false", "false, false, true"})
    void eitherSignal_keepsTheNodeAlive(boolean newHeartbeat, boolean newLease, boolean unknown) {
        HealthVerdict first = RULES.check(null, ready("True", START), RENEWED, after(0));

        HealthVerdict verdict = RULES.check(
                first.health(),
                ready("True", newHeartbeat ? START.plusSeconds(50) : START),
                newLease ? RENEWED + 50 * SECOND : RENEWED,
                after(60));

        assertThat(verdict.changes().isEmpty()).isEqualTo(!unknown);
    }

    @Test
    void leaseWithoutStatus_keepsTheNodeAliveForEver() {
        NodeHealth health = null;
        for (long seconds = 0; seconds < 3_600; seconds += 50) {
            HealthVerdict verdict = RULES.check(health, silent(), RENEWED + seconds * SECOND, after(seconds));

            assertThat(verdict.changes()).isEmpty();
            assertThat(verdict.current()).isEqualTo(ReadyStatus.ABSENT);
            health = verdict.health();
        }
    }

    @Test
    void leaseGoesBackInTime_isNoSignOfLife() {
        HealthVerdict first = RULES.check(null, ready("True", START), RENEWED, after(0));

        HealthVerdict verdict = RULES.check(first.health(), ready("True", START), RENEWED - 5 * SECOND, after(41));

        assertThat(verdict.changes()).isNotEmpty();
    }

    @Test
    void heartbeatInStatus_doesNotMakeTheKnownLeaseNew() {
        HealthVerdict first = RULES.check(null, ready("True", START), RENEWED, after(0));
        HealthVerdict second = RULES.check(first.health(), ready("True", START.plusSeconds(5)), RENEWED, after(5));

        HealthVerdict third = RULES.check(second.health(), ready("True", START.plusSeconds(5)), RENEWED, after(10));

        assertThat(third.health().probedAt()).isEqualTo(after(5).nanos());
    }

    /** TestTryUpdateNodeHealth: the remembered status is the one that was decided. */
    @ParameterizedTest
    @CsvSource({
        "True, 0, TRUE",
        "True, 100, UNKNOWN",
        "False, 0, FALSE",
        "False, 100, UNKNOWN",
        "Unknown, 0, UNKNOWN",
        "Unknown, 100, UNKNOWN",
        "'', 0, ABSENT",
        "'', 100, UNKNOWN"
    })
    void currentStatus_isTheSavedOne(String reported, long silentFor, ReadyStatus current) {
        ObservedNode node = reported.isEmpty() ? silent() : ready(reported, START);
        NodeHealth known = new NodeHealth(node.ready(), 0, ClusterCache.NEVER);

        HealthVerdict verdict = RULES.check(known, node, ClusterCache.NEVER, after(silentFor));

        assertThat(verdict.current()).isEqualTo(current);
        NodeHealth saved = verdict.changes().isEmpty()
                ? verdict.health()
                : verdict.health()
                        .written(ObservedNode.of(
                                TestNodes.withConditions(TestNodes.silent("a").build(), verdict.changes())));
        assertThat(ReadyStatus.of(saved.ready())).isEqualTo(current);
    }

    @Test
    void alreadyUnknown_isNotWrittenAgain() {
        ObservedNode node = ready("Unknown", START);

        HealthVerdict verdict = RULES.check(
                new NodeHealth(node.ready(), 0, ClusterCache.NEVER), node, ClusterCache.NEVER, after(3_600));

        assertThat(verdict.changes()).isEmpty();
        assertThat(verdict.isNewlyNotReady()).isFalse();
    }

    @Test
    void networkUnavailable_isNeverTouched() {
        Node node = TestNodes.withConditions(
                TestNodes.silent("a").build(),
                List.of(
                        TestNodes.condition("Ready", "True", START),
                        TestNodes.condition("NetworkUnavailable", "False", START)));
        NodeHealth known = new NodeHealth(ObservedNode.of(node).ready(), 0, ClusterCache.NEVER);

        HealthVerdict verdict = RULES.check(known, ObservedNode.of(node), ClusterCache.NEVER, after(41));

        assertThat(verdict.changes())
                .extracting(NodeCondition::getType)
                .containsExactly("Ready", "MemoryPressure", "DiskPressure", "PIDPressure");
    }

    @Test
    void readyIsRemovedFromTheStatus_isASignOfLife() {
        HealthVerdict first = RULES.check(null, ready("True", START), ClusterCache.NEVER, after(0));

        HealthVerdict removed = RULES.check(first.health(), silent(), ClusterCache.NEVER, after(100));
        assertThat(removed.changes()).isEmpty();
        assertThat(RULES.check(removed.health(), silent(), ClusterCache.NEVER, after(160))
                        .changes())
                .isEmpty();
        assertThat(RULES.check(removed.health(), silent(), ClusterCache.NEVER, after(161))
                        .changes())
                .isNotEmpty();
    }
}
