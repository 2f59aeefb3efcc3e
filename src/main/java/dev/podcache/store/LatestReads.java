package dev.podcache.store;

import dev.podcache.object.ObjectKey;
import java.util.HashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Quorum reads of objects that are watched. All gets that ask while a read of their object is in flight share the next
 * one, because a get may only be answered by a read that began after it. Thread-safe.
 */
final class LatestReads<T> {

    private final BiConsumer<ObjectKey, Fetch<T>> start;
    private final Map<ObjectKey, InFlight<T>> byKey = new HashMap<>(); // guarded by this

    /**
     * Makes an instance without reads.
     *
     * @param start starts a read; calls {@link #ended} when it has ended
     */
    LatestReads(BiConsumer<ObjectKey, Fetch<T>> start) {
        this.start = start;
    }

    /** The read in flight, and the one that begins after it, if a get has asked for it. */
    private record InFlight<T>(Fetch<T> current, @Nullable Fetch<T> next) {}

    /** Returns a read that begins after this call. */
    Fetch<T> begin(ObjectKey key) {
        Fetch<T> fetch;
        synchronized (this) {
            InFlight<T> inFlight = byKey.get(key);
            if (inFlight != null && inFlight.next != null) {
                return inFlight.next;
            }
            fetch = Fetch.latest(0);
            byKey.put(key, inFlight == null ? new InFlight<>(fetch, null) : new InFlight<>(inFlight.current, fetch));
            if (inFlight != null) {
                return fetch;
            }
        }
        start.accept(key, fetch);
        return fetch;
    }

    /** Begins the read that was asked for while the one in flight, which has ended, went on. */
    void ended(ObjectKey key) {
        Fetch<T> next;
        synchronized (this) {
            InFlight<T> inFlight = byKey.remove(key);
            next = inFlight == null ? null : inFlight.next;
            if (next != null) {
                byKey.put(key, new InFlight<>(next, null));
            }
        }
        if (next != null) {
            start.accept(key, next);
        }
    }
}
