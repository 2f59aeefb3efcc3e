package dev.podcache.testing;

import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.concurrent.Executor;

/**
 * A {@link Timekeeper} with the threads of {@link Timekeeper#system()} and the time and timers of a {@link
 * ManualTimekeeper}. For tests of code whose tasks block, and which shall not wait for its timeouts. Must be
 * {@linkplain #close() closed}. Thread-safe.
 */
public final class ManualTimers extends ForwardingTimekeeper {

    private final ManualTimekeeper time;
    private final Timekeeper threads = Timekeeper.system();

    /** Creates a timekeeper whose time passes only in {@link #advance}. */
    public ManualTimers() {
        this(new ManualTimekeeper());
    }

    private ManualTimers(ManualTimekeeper time) {
        super(time);
        this.time = time;
    }

    /** Advances the time and runs the timers that become due, on the calling thread. */
    public void advance(Duration duration) {
        time.advance(duration);
    }

    @Override
    public Executor workers() {
        return threads.workers();
    }

    @Override
    public Executor blocking() {
        return threads.blocking();
    }

    @Override
    public Executor urgent() {
        return threads.urgent();
    }

    @Override
    public void close() {
        super.close();
        threads.close();
    }
}
