package dev.podcache.podsync;

import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** Sees to one pod, known by its UID, from the moment it is assigned until it is gone. Thread-safe. */
final class PodWorker {

    /*
     * One turn at a time: `turn` is true from when a turn is handed to the executor until it has ended, and what comes meanwhile
     * sets `again`. So the runtime and the managers hear of a pod in order without a lock being held while they work. A turn looks at the pod
     * as it is when it begins, so any number of changes cost one.
     *
     * Between two turns at most one timer runs; whoever begins a turn cancels it.
     *
     * The lock covers the fields below and nothing else is done under it.
     */

    private final PodTurns turns;
    private final Executor executor;
    private final Timekeeper timekeeper;

    private Pod pod; // guarded by this, like all that follows
    private boolean gone;
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
    }

    PodWorker(Pod pod, PodTurns turns, Executor executor, Timekeeper timekeeper) {
        this.pod = pod;
        this.turns = turns;
        this.executor = executor;
        this.timekeeper = timekeeper;
    }

    /** Takes the first turn. */
    void begin() {
        wake();
    }

    /** The pod changed; a turn is taken unless only what we report of it did. */
    void changed(Pod now) {
        boolean news;
        synchronized (this) {
            news = PodChange.matters(pod, now);
            pod = now;
        }
        if (news) {
            wake();
        }
    }

    /** The pod is gone. */
    void gone() {
        synchronized (this) {
            gone = true;
        }
        wake();
    }

    /** The last known state of the pod. */
    synchronized Pod pod() {
        return pod;
    }

    /** Begins no turn from now on. Idempotent. */
    synchronized void close() {
        closed = true;
        stopTimer();
    }

    private void wake() {
        synchronized (this) {
            stopTimer();
            again = true;
            if (turn || closed) {
                return;
            }
            turn = true;
        }
        executor.execute(this::takeTurn);
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
        synchronized (this) {
            onceMore = again && !closed;
            turn = onceMore;
            if (!onceMore && !closed) {
                timer = next.map(delay -> timekeeper.schedule(delay, this::wake))
                        .orElse(null);
            }
        }
        if (onceMore) {
            executor.execute(this::takeTurn);
        }
    }

    private void stopTimer() {
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
    }
}
