package dev.podcache.time;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;

/**
 * Runs an asynchronous task again and again, one run at a time. The pause between the end of a run and the next run is
 * the period, lengthened at random by up to 4 %, so that processes that started together drift apart. A run that fails
 * is followed by the next one like any other. Thread-safe.
 */
public final class PeriodicLoop implements AutoCloseable {

    private static final double JITTER = 0.04;

    private final Supplier<? extends CompletableFuture<?>> task;
    private final Duration period;
    private final DoubleSupplier random;
    private final Pause pause;
    private final Timekeeper timekeeper;
    private volatile long tickedAt; // nanoseconds

    private boolean running; // guarded by this
    private boolean again; // guarded by this
    private boolean closed; // guarded by this

    /**
     * Creates a loop that does not run yet.
     *
     * @param task starts a run, and completes its future when the run has ended. A run that throws has ended
     * @param random uniform in [0, 1)
     */
    public PeriodicLoop(
            Supplier<? extends CompletableFuture<?>> task,
            Duration period,
            Timekeeper timekeeper,
            DoubleSupplier random) {
        this.task = task;
        this.period = period;
        this.random = random;
        this.pause = new Pause(timekeeper);
        this.timekeeper = timekeeper;
        this.tickedAt = timekeeper.nanoTime();
    }

    /** Returns the longest pause of a loop with this period. */
    public static Duration longestPause(Duration period) {
        return pause(period, 1);
    }

    /** Returns the mean pause of a loop with this period. */
    public static Duration meanPause(Duration period) {
        return pause(period, 0.5);
    }

    /** Starts the first run, on the caller's thread. Call it once. Does nothing after {@link #close()}. */
    public void start() {
        run();
    }

    /**
     * Requests a run that begins after this call: at once, on the timer thread, or after the current run. Starts the
     * loop if it has not started. Does nothing after {@link #close()}.
     */
    public synchronized void runSoon() {
        again = running;
        if (!running) {
            pause.then(Duration.ZERO, this::run);
        }
    }

    /** Withdraws a {@link #runSoon} that was called during the current run. The period follows that run instead. */
    public synchronized void withdrawRunSoon() {
        again = false;
    }

    /**
     * Returns the time since a run last began or ended; since the creation of the loop if none has begun. A loop whose
     * value grows beyond its period and the longest run has died.
     */
    public Duration sinceTick() {
        return Duration.ofNanos(timekeeper.nanoTime() - tickedAt);
    }

    /** Starts no further run. The current run continues. Idempotent. */
    @Override
    public synchronized void close() {
        closed = true;
        pause.close();
    }

    private void run() {
        synchronized (this) {
            if (running || closed) {
                return;
            }
            running = true;
            again = false;
        }
        tickedAt = timekeeper.nanoTime();
        boolean begun = false;
        try {
            task.get().whenComplete((done, thrown) -> ended());
            begun = true;
        } finally {
            if (!begun) {
                ended();
            }
        }
    }

    private synchronized void ended() {
        running = false;
        tickedAt = timekeeper.nanoTime();
        double drawn = random.getAsDouble();
        pause.then(again ? Duration.ZERO : pause(period, drawn), this::run);
    }

    private static Duration pause(Duration period, double random) {
        return period.plusNanos((long) (period.toNanos() * JITTER * random));
    }
}
