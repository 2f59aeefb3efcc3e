package dev.podcache.controlplane.planner;

import com.google.common.collect.ImmutableMap;
import java.time.Duration;

/**
 * What a simulation counted. Immutable.
 *
 * @param time the simulated time
 * @param requestsPerSecond after the start-up, as if no node had died
 * @param deaths how many nodes died, one after the other
 * @param falseAlarms how often a node that was alive became Unknown, in the whole time
 * @param detectionSeconds from the death of a node until it was Unknown
 * @param evictionSeconds from the death of a node until its pod was deleted
 */
public record SimulationResult(
        Duration time,
        ImmutableMap<SimulatedRequest, Double> requestsPerSecond,
        int deaths,
        long falseAlarms,
        TimeSpread detectionSeconds,
        TimeSpread evictionSeconds) {

    /**
     * The distribution of some times, in seconds.
     *
     * @param count how many there were; if it is 0, so are the others
     */
    public record TimeSpread(long count, double best, double mean, double worst) {}
}
