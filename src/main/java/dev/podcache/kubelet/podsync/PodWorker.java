package dev.podcache.kubelet.podsync;

import dev.podcache.pod.PodEnd;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees to one pod, known by its UID, from the moment it is assigned until it is gone and
 * nothing of it is left. Thread-safe.
 */
final class PodWorker {

    /*
     * One turn at a time: `turn` is true from when a turn is handed to a thread until it has ended, and what comes
     * meanwhile sets `again`. So the runtime and the managers hear of a pod in order without a lock being held while
     * they work. A turn looks at the pod as it is when it begins, so any number of changes cost one.
     *
     * Between two turns at most one timer runs; whoever begins a turn cancels it.
     *
     * A pod that is gone is over with the first turn that knows it and leaves nothing to do. One that turns up again
     * before that, as in a list from a server that lags behind, goes on; one that turns up after that gets another
     * worker. So there never are two at one pod.
     *
     * The lock covers the fields below and nothing else is done under it.
     */

    private static final Logger log = LoggerFactory.getLogger(PodWorkers.class);

    private final PodTurns turns;
    private final PodThreads threads;
    private final Timekeeper timekeeper;

    private Pod pod; // guarded by this, like all that follows
    private boolean gone;
    private boolean over;
    private boolean turn;
    private boolean again;
    private boolean closed;
    private Timekeeper.@Nullable Scheduled timer;

    /** What a worker does in its turns. */
    interface PodTurns {

        /**
         * Does what there is to do for the pod. May block.
         *
         * @param gone whether the API server has it no more
         * @return when to come again if nothing changes, or empty for never
         */
        Optional<Duration> take(Pod pod, boolean gone);

        /** There will be no further turn: the pod is gone, and the last turn left nothing to do. */
        void over();
    }

    PodWorker(Pod pod, PodTurns turns, PodThreads threads, Timekeeper timekeeper) {
        this.pod = pod;
        this.turns = turns;
        this.threads = threads;
        this.timekeeper = timekeeper;
    }

    /** Takes the first turn. */
    void begin() {
        wake();
    }

    /**
     * The pod changed; a turn is taken unless only what we report of it did.
     *
     * @return false if the pod was gone and is over: it needs another worker
     */
    boolean changed(Pod now) {
        boolean news;
        synchronized (this) {
            if (over) {
                return false;
            }
            news = gone || PodChange.matters(pod, now);
            pod = now;
            gone = false;
        }
        if (news) {
            wake();
        }
        return true;
    }

    /** The pod is gone. Idempotent. */
    void gone() {
        synchronized (this) {
            if (gone) {
                return;
            }
            gone = true;
        }
        wake();
    }

    /** Whether the pod is gone and nothing of it is left. */
    synchronized boolean isOver() {
        return over;
    }

    /** Begins no turn from now on. Idempotent. */
    synchronized void close() {
        closed = true;
        stopTimerLocked();
    }

    private void wake() {
        synchronized (this) {
            stopTimerLocked();
            again = true;
            if (turn || closed || over) {
                return;
            }
            turn = true;
        }
        handOver();
    }

    private void handOver() {
        boolean ends;
        synchronized (this) {
            ends = endsLocked();
        }
        try {
            (ends ? threads.ending() : threads.syncing()).execute(() -> begin(ends));
        } catch (RejectedExecutionException ended) {
            log.debug("the threads that see to pods have ended, so no turn is taken", ended);
        }
    }

    /** On the thread for it, unless the pod is to end since it was chosen. */
    private void begin(boolean mayEnd) {
        boolean elsewhere;
        synchronized (this) {
            elsewhere = !mayEnd && endsLocked();
        }
        if (elsewhere) {
            handOver();
        } else {
            takeTurn();
        }
    }

    private boolean endsLocked() {
        return gone || PodEnd.isDue(pod);
    }

    private void takeTurn() {
        Pod current;
        boolean isGone;
        synchronized (this) {
            again = false;
            current = pod;
            isGone = gone;
        }
        Optional<Duration> next = turns.take(current, isGone);
        boolean onceMore;
        boolean isOver;
        synchronized (this) {
            onceMore = again && !closed;
            turn = onceMore;
            isOver = isGone && gone && next.isEmpty() && !onceMore;
            over = isOver;
            if (!onceMore && !closed) {
                timer = next.map(delay -> timekeeper.schedule(delay, this::wake))
                        .orElse(null);
            }
        }
        if (onceMore) {
            handOver();
        } else if (isOver) {
            turns.over();
        }
    }

    private void stopTimerLocked() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }
}
