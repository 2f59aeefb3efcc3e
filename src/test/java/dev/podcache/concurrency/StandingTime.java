package dev.podcache.concurrency;

import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** Time that does not pass, in so little code that a model checker can look through it. No timer ever runs. */
final class StandingTime implements Timekeeper {

    @Override
    public long nanoTime() {
        return 0;
    }

    @Override
    public Instant wallTime() {
        return Instant.EPOCH;
    }

    @Override
    public Scheduled schedule(Duration delay, Runnable task) {
        return () -> {};
    }

    @Override
    public Executor workers() {
        return Runnable::run;
    }

    @Override
    public Executor blocking() {
        return Runnable::run;
    }

    @Override
    public Executor urgent() {
        return Runnable::run;
    }

    /** For as long as it takes. */
    @Override
    public boolean await(CompletableFuture<?> future, Duration timeout) {
        future.join();
        return true;
    }

    @Override
    public void close() {}
}
