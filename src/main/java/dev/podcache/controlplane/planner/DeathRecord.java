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

    DeathRecord(Timekeeper time) {
        this.time = time;
    }

    void died(String node) {
        died.put(node, time.nanoTime());
    }

    /** A node became Unknown; one that is alive would be a fault of the controllers or of the settings. */
    void detected(String node) {
        detections.accept(since(node));
    }

    void evicted(String node) {
        evictions.accept(since(node));
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
        Long at = died.get(node);
        if (at == null) {
            throw new IllegalStateException("Node " + node + " is alive, but was taken for dead");
        }
        return (time.nanoTime() - at) / SECOND;
    }

    private static TimeSpread spread(DoubleSummaryStatistics times) {
        return times.getCount() == 0
                ? new TimeSpread(0, 0, 0, 0)
                : new TimeSpread(times.getCount(), times.getMin(), times.getAverage(), times.getMax());
    }
}
