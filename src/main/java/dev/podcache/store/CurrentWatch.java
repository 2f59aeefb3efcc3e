package dev.podcache.store;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The watch of one entry, if it has one, and the gets that wait for what it brings. Guarded by the entry. */
final class CurrentWatch<T extends HasMetadata> {

    private static final long LONGEST = Duration.ofSeconds(10).toNanos();

    // a watch that is being replaced may call once more before it is closed: only calls of this one count
    private @Nullable ObjectWatch<T> watch;
    private boolean joined;
    private @Nullable Change<T> change; // null if no get waits

    /** Completes with the next change. */
    private static final class Change<T> extends CompletableFuture<@Nullable Answer<T>> {

        private final long madeAt;

        Change(long madeAt) {
            this.madeAt = madeAt;
        }
    }

    boolean is(ObjectWatch<T> other) {
        return watch == other;
    }

    boolean isNone() {
        return watch == null;
    }

    /** Records a new reference, which may be newer than what the watch has read. */
    void joins() {
        joined = watch != null;
    }

    /** Returns whether a reference was added since the watch was opened. */
    boolean isJoined() {
        return joined;
    }

    /** Has the watch closed. */
    void endLocked(Entry<T> entry) {
        if (watch != null) {
            entry.deferLocked(watch::close);
            watch = null;
            joined = false;
        }
    }

    /** Has a watch opened, unless there is one. */
    void openLocked(WatchEntry<T> entry, WatchObjectStore<T> store) {
        if (watch == null || watch.isOver()) {
            watch = store.watch(entry);
            joined = false;
            entry.deferLocked(watch::open);
        }
    }

    void hurryLocked(Entry<T> entry, boolean getWaits) {
        if (watch != null && getWaits) {
            entry.deferLocked(watch::hurry);
        }
    }

    /** Names the connection that carries the watch, or returns "". */
    String connection() {
        return watch == null ? "" : watch.connection();
    }

    /** Returns what to add to the freshness of the object. */
    String note() {
        return watch == null ? "" : watch.note();
    }

    /**
     * Returns a future that completes with the next change, or after a while without one: in a long outage, gets that
     * have given up must not pile up in one future.
     */
    CompletableFuture<@Nullable Answer<T>> futureLocked(Entry<T> entry, long now) {
        if (change != null && now - change.madeAt > LONGEST) {
            wakeLocked(entry, null);
        }
        if (change == null) {
            change = new Change<>(now);
        }
        return change;
    }

    /** Wakes the gets. Gives them the answer if it is not null, because it may be evicted before they look it up. */
    void wakeLocked(Entry<T> entry, @Nullable Answer<T> current) {
        CompletableFuture<@Nullable Answer<T>> awaited = change;
        if (awaited != null) {
            change = null;
            entry.deferLocked(() -> awaited.complete(current));
        }
    }
}
