package dev.podcache.nodelease;

import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** Hand-driven time whose time of day can be set, as by an administrator. */
final class SteppingClock implements Timekeeper {

    private final ManualTimekeeper time;
    private volatile Duration offset = Duration.ZERO;

    SteppingClock(ManualTimekeeper time) {
        this.time = time;
    }

    /** Sets the clock by that much, forward or back. */
    void step(Duration by) {
        offset = offset.plus(by);
    }

    @Override
    public long nanoTime() {
        return time.nanoTime();
    }

    @Override
    public Instant wallTime() {
        return time.wallTime().plus(offset);
    }

    @Override
    public Scheduled schedule(Duration delay, Runnable task) {
        return time.schedule(delay, task);
    }

    @Override
    public Executor workers() {
        return time.workers();
    }

    @Override
    public Executor blocking() {
        return time.blocking();
    }

    @Override
    public boolean await(CompletableFuture<?> future, Duration timeout) throws InterruptedException {
        return time.await(future, timeout);
    }

    @Override
    public void close() {
        time.close();
    }
}
