package dev.podcache.kubelet.probe;

import dev.podcache.time.Durations;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.DoubleSupplier;

/** Computes the times of checks. Thread-safe. */
final class ProbeSchedule {

    private final Timekeeper timekeeper;
    private final DoubleSupplier random;
    private final Instant agentStart;

    /**
     * Makes the schedule of an agent that starts now.
     *
     * @param random uniform in [0, 1); thread-safe
     */
    ProbeSchedule(Timekeeper timekeeper, DoubleSupplier random) {
        this.timekeeper = timekeeper;
        this.random = random;
        this.agentStart = timekeeper.wallTime();
    }

    /** Returns whether a container with this start ran before the agent. */
    boolean isBeforeAgent(Optional<Instant> containerStart) {
        return containerStart.isPresent() && containerStart.get().isBefore(agentStart);
    }

    /** Returns a random part of a period, so that the probes of a restarted agent do not all run at once. */
    Duration jitter(Duration period) {
        return Duration.ofNanos((long) (period.toNanos() * random.getAsDouble()));
    }

    /** Returns the part of an initial delay that has not passed since the start of the container. */
    Duration remaining(Duration initialDelay, Optional<Instant> containerStart) {
        Duration passed = containerStart
                .map(start -> Duration.between(start, timekeeper.wallTime()))
                .orElse(Duration.ZERO);
        if (passed.isNegative()) {
            return initialDelay;
        }
        Duration left = initialDelay.minus(passed);
        return left.isNegative() ? Duration.ZERO : left;
    }

    /** Returns the nanoseconds of the time after {@code delay}. */
    long in(Duration delay) {
        return timekeeper.nanoTime() + Durations.nanos(delay);
    }

    /** Runs a task on the timer thread at a time from {@link #in}, or as soon as possible if it has passed. */
    Timekeeper.Scheduled at(long nanos, Runnable task) {
        return timekeeper.schedule(Duration.ofNanos(Math.max(0, nanos - timekeeper.nanoTime())), task);
    }
}
