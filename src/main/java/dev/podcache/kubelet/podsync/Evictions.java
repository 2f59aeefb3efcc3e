package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.eviction.Eviction;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The pods that are being evicted, by UID. Thread-safe; no method blocks. */
final class Evictions {

    private final ConcurrentHashMap<String, Pending> pending = new ConcurrentHashMap<>();

    /** An eviction, and its end. */
    private record Pending(Eviction eviction, CompletableFuture<Void> ended) {}

    /**
     * Begins an eviction. If one of the same pod has not ended, goes on with the one that has the shorter grace period.
     *
     * @param worker of the pod; null if the node has no such pod
     * @return completed when the eviction has ended
     */
    CompletableFuture<Void> begin(Eviction eviction, @Nullable PodWorker worker) {
        String uid = String.valueOf(eviction.pod().getMetadata().getUid());
        Pending added = new Pending(eviction, new CompletableFuture<>());
        Pending earlier = pending.putIfAbsent(uid, added);
        boolean shorter = earlier != null
                && eviction.gracePeriod().compareTo(earlier.eviction().gracePeriod()) < 0
                && pending.replace(uid, earlier, new Pending(eviction, earlier.ended()));
        // after it was added: a worker that finishes later ends it
        if (worker == null || worker.isFinished()) {
            ended(uid);
        } else if (earlier == null || shorter) {
            worker.endSoon();
        }
        return earlier == null ? added.ended() : earlier.ended();
    }

    Optional<Eviction> of(String uid) {
        return Optional.ofNullable(pending.get(uid)).map(Pending::eviction);
    }

    /** Ends the eviction of a pod, because no container of it runs any more. Has no effect on other pods. */
    void ended(String uid) {
        Pending last = pending.remove(uid);
        if (last != null) {
            last.ended().complete(null);
        }
    }
}
