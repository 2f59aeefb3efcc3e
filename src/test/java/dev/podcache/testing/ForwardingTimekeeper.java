package dev.podcache.testing;

import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** A {@link Timekeeper} that forwards every call to another one. Test doubles override single methods. */
public abstract class ForwardingTimekeeper implements Timekeeper {

    private final Timekeeper time;

    /** Creates a timekeeper that forwards to {@code time}. */
    protected ForwardingTimekeeper(Timekeeper time) {
        this.time = time;
    }

    @Override
    public long nanoTime() {
        return time.nanoTime();
    }

    @Override
    public Instant wallTime() {
        return time.wallTime();
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
    public Executor urgent() {
        return time.urgent();
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
