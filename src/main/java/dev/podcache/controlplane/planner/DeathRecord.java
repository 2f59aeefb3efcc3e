package dev.podcache.controlplane.planner;

import dev.podcache.controlplane.planner.SimulationResult.TimeSpread;
import dev.podcache.time.Timekeeper;
import java.util.DoubleSummaryStatistics;
import java.util.HashMap;
import java.util.Map;

/** When the nodes of a simulation died, and how long it took until that was noticed. For one thread. */
final class DeathRecord {

    private static final double SECOND = 1e9;

    private final Timekeeper time;
    private final Map<String, Long> died = new HashMap<>();
    private final DoubleSummaryStatistics detections = new DoubleSummaryStatistics();
    private final DoubleSummaryStatistics evictions = new DoubleSummaryStatistics();
    private long falseAlarms;

    DeathRecord(Timekeeper time) {
        this.time = time;
    }

    void died(String node) {
        died.put(node, time.nanoTime());
    }

    /** A node became Unknown. */
    void detected(String node) {
        if (died.containsKey(node)) {
            detections.accept(since(node));
        } else {
            falseAlarms++;
        }
    }

    /** The pod of a node was deleted. That of a node that is alive is not counted: its false alarm is. */
    void evicted(String node) {
        if (died.containsKey(node)) {
            evictions.accept(since(node));
        }
    }

    /** Returns how often a node that was alive became Unknown. */
    long falseAlarms() {
        return falseAlarms;
    }

    int deaths() {
        return died.size();
    }

    /** Returns how long the dead nodes have been dead, all together. */
    double deadSeconds() {
        return died.keySet().stream().mapToDouble(this::since).sum();
    }

    TimeSpread detectionSeconds() {
        return spread(detections);
    }

    TimeSpread evictionSeconds() {
        return spread(evictions);
    }

    private double since(String node) {
        return (time.nanoTime() - died.getOrDefault(node, time.nanoTime())) / SECOND;
    }

    private static TimeSpread spread(DoubleSummaryStatistics times) {
        return times.getCount() == 0
                ? new TimeSpread(0, 0, 0, 0)
                : new TimeSpread(times.getCount(), times.getMin(), times.getAverage(), times.getMax());
    }
}
