package dev.podcache.testing;

import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Executor;

/**
 * A {@link Timekeeper} that throws at one call of the thread that made it, so that a test can have each step of what it
 * builds fail in turn. Other threads, and all other calls, are forwarded.
 */
public final class FailingTimekeeper extends ForwardingTimekeeper {

    /** The message of the exception. */
    public static final String MESSAGE = "the clock is broken";

    private final Thread thread = Thread.currentThread();
    private int left;

    /** Creates one that does not throw yet. */
    public FailingTimekeeper(Timekeeper time) {
        super(time);
    }

    /** Has the {@code nth} call from now on throw, counted from 1. */
    public void throwAt(int nth) {
        left = nth;
    }

    /** Has no call throw. */
    public void throwNoMore() {
        left = 0;
    }

    private void count() {
        if (Thread.currentThread() == thread && left > 0) {
            left--;
            if (left == 0) {
                throw new IllegalStateException(MESSAGE);
            }
        }
    }

    @Override
    public long nanoTime() {
        count();
        return super.nanoTime();
    }

    @Override
    public Instant wallTime() {
        count();
        return super.wallTime();
    }

    @Override
    public Scheduled schedule(Duration delay, Runnable task) {
        count();
        return super.schedule(delay, task);
    }

    @Override
    public Executor workers() {
        count();
        return super.workers();
    }

    @Override
    public Executor blocking() {
        count();
        return super.blocking();
    }

    @Override
    public Executor urgent() {
        count();
        return super.urgent();
    }
}
