package dev.podcache.kubelet.nodestatus;

import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;

/**
 * Syncs at once, and again each time a period after the end of the sync before, or earlier if somebody asks. The
 * period is made longer at random by up to 4 %, so that nodes which started together drift apart. However a sync ends,
 * the next one comes. Thread-safe.
 */
final class SyncLoop implements AutoCloseable {

    private static final double JITTER = 0.04;

    private final Supplier<CompletableFuture<Void>> sync;
    private final Duration period;
    private final DoubleSupplier random;
    private final Pause pause;

    private boolean started; // guarded by this
    private boolean running; // guarded by this
    private boolean again; // guarded by this

    /**
     * A loop that does nothing yet.
     *
     * @param sync must not throw
     * @param random uniform in [0, 1)
     */
    SyncLoop(Supplier<CompletableFuture<Void>> sync, Duration period, Timekeeper timekeeper, DoubleSupplier random) {
        this.sync = sync;
        this.period = period;
        this.random = random;
        this.pause = new Pause(timekeeper);
    }

    /** Begins with the first sync. Once only. */
    void start() {
        synchronized (this) {
            started = true;
        }
        run();
    }

    /** A sync that begins after this call: at once, or after the one that runs now. Without effect before the start. */
    synchronized void soon() {
        again = running;
        if (started && !running) {
            pause.then(Duration.ZERO, this::run);
        }
    }

    /** The sync that runs is the last. Idempotent. */
    @Override
    public void close() {
        pause.close();
    }

    private void run() {
        synchronized (this) {
            if (running) {
                return;
            }
            running = true;
            again = false;
        }
        sync.get().whenComplete((done, thrown) -> ended());
    }

    private synchronized void ended() {
        running = false;
        Duration length = Duration.ofNanos((long) (period.toNanos() * (1 + JITTER * random.getAsDouble())));
        pause.then(again ? Duration.ZERO : length, this::run);
    }
}
