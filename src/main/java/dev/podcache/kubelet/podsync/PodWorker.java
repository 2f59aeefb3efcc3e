package dev.podcache.kubelet.podsync;

import dev.podcache.time.SerialRun;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Schedules the syncs of one pod, identified by its UID, from its assignment until it is gone and cleaned up.
 * Thread-safe.
 */
final class PodWorker {

    /*
     * Syncs of a pod run one at a time: `syncs` sees to that, whatever is thrown. So the calls to the runtime and the managers
     * are in order, although no lock is held during a sync. A sync uses the newest state of the pod at its start, so any
     * number of changes before it cause only one sync. `wanted` is true from a request until the sync that it causes begins.
     *
     * A sync is interrupted if the pod is to end, is evicted, is gone, or got a shorter grace period since the sync began: its calls
     * to the runtime may take long. The next sync then does what is left to do. close() interrupts it, too, and no next
     * sync follows.
     *
     * Between two syncs at most one timer runs. Requesting a sync cancels it.
     *
     * A pod that is gone is finished after the first sync that starts after its removal and has nothing left to do. If
     * the pod reappears before that, as in a list from a server that lags behind, its syncs continue. If it reappears
     * later, it gets a new worker. So a pod never has two active workers.
     *
     * Whatever is thrown, even where memory is missing, the future of close() completes, and the pod is synced again: at the
     * end of a sync the fields are set first, without an allocation, then the rest is tried.
     *
     * The lock guards the fields below. No foreign code is called under it, except the timer's.
     */

    /** When a sync is repeated that threw in spite of its contract. Made here, because memory may be missing then. */
    private static final Optional<Duration> AFTER_THROW = Optional.of(Duration.ofSeconds(10));

    private final PodSync sync;
    private final SerialRun syncs;
    private final Timekeeper timekeeper;

    private Pod pod; // guarded by this, like the fields below
    private boolean gone;
    private boolean finished;
    private boolean wanted;
    private boolean closed;
    private @Nullable Thread thread; // runs the sync
    private @Nullable CompletableFuture<Void> lastSync; // set if one runs while this is closed
    private Timekeeper.@Nullable Scheduled timer;

    /** The sync of one pod. Should not throw; a sync that does is repeated after 10 s. */
    interface PodSync {

        /**
         * Syncs the pod. May block.
         *
         * @param gone whether the API server no longer has the pod
         * @return the delay until the next sync if the pod does not change; empty for no next sync
         */
        Optional<Duration> sync(Pod pod, boolean gone);

        /** Called when a probe of the pod has a new result, also while a sync runs. Must not block. */
        default void probed(Pod pod) {}

        /** Called when there will be no further sync, because the pod is gone and nothing is left to do. */
        void finished();
    }

    PodWorker(Pod pod, PodSync sync, Executor threads, Timekeeper timekeeper) {
        this.pod = pod;
        this.sync = sync;
        this.syncs = SerialRun.on(threads, this::runSync);
        this.timekeeper = timekeeper;
    }

    /**
     * Takes the newest state of the pod, and requests a sync if the change requires one.
     *
     * @return false if this worker is finished, so that the pod needs a new worker
     */
    boolean changed(Pod newest) {
        boolean requiresSync;
        synchronized (this) {
            if (finished) {
                return false;
            }
            requiresSync = gone || PodChange.requiresSync(pod, newest);
            boolean urgent = PodChange.isUrgent(pod, newest);
            pod = newest;
            gone = false;
            if (urgent) {
                interruptLocked();
            }
        }
        if (requiresSync) {
            requestSync();
        }
        return true;
    }

    /**
     * Marks the pod as gone, interrupts a sync that runs, and requests another. Idempotent.
     *
     * @param last the last state of the pod
     */
    void gone(Pod last) {
        synchronized (this) {
            if (gone) {
                return;
            }
            pod = last;
            gone = true;
            interruptLocked();
        }
        requestSync();
    }

    /** Interrupts a sync that runs, because the pod is to end, and requests another. */
    void endSoon() {
        synchronized (this) {
            interruptLocked();
        }
        requestSync();
    }

    /** Tells that a probe of the pod has a new result, and requests a sync. */
    void probed() {
        try {
            sync.probed(pod());
        } finally {
            requestSync();
        }
    }

    /** Marks a pod as gone before its first sync, so that it is stopped unless it appears. */
    synchronized void assumeGone() {
        gone = true;
    }

    private void interruptLocked() {
        if (thread != null) {
            thread.interrupt();
        }
    }

    /** Returns the last known state of the pod, which must not be modified. */
    synchronized Pod pod() {
        return pod;
    }

    /** Returns whether the pod is gone and nothing is left to do. */
    synchronized boolean isFinished() {
        return finished;
    }

    /**
     * Starts no further sync, and interrupts the running one. Idempotent.
     *
     * @return completed when no sync runs; at once if the sync itself calls this
     */
    synchronized CompletableFuture<Void> close() {
        closed = true;
        cancelTimerLocked();
        if (thread == null || thread == Thread.currentThread()) {
            return CompletableFuture.completedFuture(null);
        }
        interruptLocked();
        if (lastSync == null) {
            lastSync = new CompletableFuture<>();
        }
        return lastSync;
    }

    /** Requests a sync, which starts as soon as none is running. */
    void requestSync() {
        synchronized (this) {
            cancelTimerLocked();
            if (closed || finished) {
                return;
            }
            wanted = true;
        }
        syncs.request();
    }

    private void runSync() {
        Pod newest;
        boolean isGone;
        synchronized (this) {
            if (closed || finished) {
                return;
            }
            wanted = false;
            newest = pod;
            isGone = gone;
            thread = Thread.currentThread();
        }
        Optional<Duration> delay = AFTER_THROW;
        try {
            delay = sync.sync(newest, isGone);
        } finally {
            end(isGone, delay);
        }
    }

    private void end(boolean wasGone, Optional<Duration> delay) {
        boolean another;
        boolean isFinished;
        CompletableFuture<Void> last;
        synchronized (this) {
            thread = null;
            last = lastSync;
            // an interrupt that came after the last wait must not reach the next task of the thread
            Thread.interrupted();
            another = wanted;
            isFinished = wasGone && gone && delay.isEmpty() && !another;
            finished = isFinished;
        }
        try {
            if (isFinished) {
                sync.finished();
            } else if (!another && delay.isPresent()) {
                setTimer(delay.get());
            }
        } finally {
            if (last != null) {
                last.complete(null);
            }
        }
    }

    private synchronized void setTimer(Duration delay) {
        // a change meanwhile has requested a sync, which sets the next timer
        if (!wanted && !closed && timer == null) {
            timer = timekeeper.schedule(delay, this::requestSync);
        }
    }

    private void cancelTimerLocked() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }
}
