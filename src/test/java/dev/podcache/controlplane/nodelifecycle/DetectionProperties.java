package dev.podcache.controlplane.nodelifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.controlplane.cluster.MemoryCluster;
import dev.podcache.controlplane.cluster.TestNodes;
import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** How soon a dead node is found, whatever the phases of heartbeats, passes and delays are. */
class DetectionProperties {

    private static final int PERIOD = 5_000;
    private static final int GRACE = 50_000;
    private static final int LONGEST_RENEWAL = 10_400;

    // new for each try
    private ManualTimekeeper timekeeper = new ManualTimekeeper();
    private MemoryCluster cluster = new MemoryCluster(timekeeper);

    private void start() {
        timekeeper = new ManualTimekeeper();
        cluster = new MemoryCluster(timekeeper).quietUntilListed();
        cluster.put(TestNodes.reporting("alive", "True")).put(TestNodes.reporting("dies", "True"));
        new NodeLifecycleController(
                        cluster.cache(), cluster, (about, type, reason, message) -> {}, NodeLifecycleOptions.DEFAULT)
                .start();
        cluster.list();
        renewForEver();
    }

    private void renewForEver() {
        cluster.renew("alive");
        timekeeper.schedule(Duration.ofSeconds(10), this::renewForEver);
    }

    private void renew(List<Integer> intervals, int next) {
        cluster.renew("dies");
        if (next < intervals.size()) {
            timekeeper.schedule(Duration.ofMillis(intervals.get(next)), () -> renew(intervals, next + 1));
        }
    }

    private long millisUntil(BooleanSupplier condition) {
        long passed = 0;
        while (!condition.getAsBoolean() && passed < 1_000_000) {
            timekeeper.advance(Duration.ofMillis(100));
            passed += 100;
        }
        return passed;
    }

    private boolean isUnknown() {
        return TestNodes.status(cluster.node("dies"), "Ready").equals("Unknown");
    }

    private boolean isEvicting() {
        return TestNodes.taints(cluster.node("dies")).contains("unreachable:NoExecute");
    }

    /** The bounds of detection and of the taint; the time of death is anywhere before the renewal that is missing. */
    @Property(tries = 300)
    void deadNode_isFoundAndTaintedWithinTheBounds(
            @ForAll @Size(min = 1, max = 8) List<@IntRange(min = 10_000, max = LONGEST_RENEWAL) Integer> intervals,
            @ForAll @IntRange(max = PERIOD) int phase,
            @ForAll @IntRange(max = 2_000) int lag,
            @ForAll @IntRange(max = LONGEST_RENEWAL) int diesAfterRenewal) {
        start();
        cluster.lag(Duration.ofMillis(lag));
        timekeeper.advance(Duration.ofMillis(phase));
        renew(intervals, 0);
        timekeeper.advance(
                Duration.ofMillis(intervals.stream().mapToInt(Integer::intValue).sum() + (long) diesAfterRenewal));

        long found = millisUntil(this::isUnknown);
        long tainted = found + millisUntil(this::isEvicting);

        assertThat(found + diesAfterRenewal).isBetween((long) GRACE, lag + 2L * PERIOD + GRACE + 100);
        assertThat(found).isBetween((long) GRACE - LONGEST_RENEWAL, lag + 2L * PERIOD + GRACE + 100);
        assertThat(tainted).isLessThanOrEqualTo(found + PERIOD + 200 + lag);
    }

    @Property(tries = 200)
    void healthyNode_isNeverTouched(
            @ForAll @Size(min = 1, max = 20) List<@IntRange(min = 1, max = GRACE - PERIOD - 2_000) Integer> intervals,
            @ForAll @IntRange(max = PERIOD) int phase,
            @ForAll @IntRange(max = 2_000) int lag) {
        start();
        cluster.lag(Duration.ofMillis(lag));
        timekeeper.advance(Duration.ofMillis(phase));
        renew(intervals, 0);

        timekeeper.advance(
                Duration.ofMillis(intervals.stream().mapToInt(Integer::intValue).sum()));

        assertThat(cluster.calls()).isEmpty();
    }
}
