package dev.podcache.store;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.store.Fetches.Fetch;
import dev.podcache.store.Fetches.FetchOutcome;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Quorum reads of objects that are watched. All gets that ask while a read of their object is in flight share the next
 * one, because a get may only be answered by a read that began after it. Thread-safe.
 */
final class LatestReads<T extends HasMetadata> {

    private final WatchObjectStore<T> store;
    private final Fetches<T> fetches;
    private final Map<ObjectKey, InFlight<T>> byKey = new HashMap<>(); // guarded by this
    private boolean closed; // guarded by this

    LatestReads(WatchObjectStore<T> store, String strategy) {
        this.store = store;
        this.fetches = new Fetches<>(store.kind, strategy, this::read, store::now, store.options);
    }

    /** The read in flight, and the one that begins after it, if a get has asked for it. */
    private record InFlight<T>(Fetch<T> current, @Nullable Fetch<T> next) {}

    /** Returns a get of an object that waits for a read that begins after this call. */
    PendingGet<T> get(ObjectKey key) {
        return fetches.get(key, begin(key));
    }

    private Fetch<T> begin(ObjectKey key) {
        Fetch<T> fetch;
        synchronized (this) {
            InFlight<T> inFlight = byKey.get(key);
            if (inFlight != null && inFlight.next != null) {
                return inFlight.next;
            }
            fetch = Fetch.latest(1);
            if (closed) {
                fetch.outcome.complete(FetchOutcome.closed());
                return fetch;
            }
            byKey.put(key, inFlight == null ? new InFlight<>(fetch, null) : new InFlight<>(inFlight.current, fetch));
            if (inFlight != null) {
                return fetch;
            }
        }
        start(key, fetch);
        return fetch;
    }

    private void start(ObjectKey key, Fetch<T> fetch) {
        WatchEntry<T> entry = store.entries.find(key.namespace(), key.name());
        int epoch = entry == null ? 0 : entry.epoch();
        fetches.start(key, fetch, outcome -> {
            try {
                if (entry != null && outcome.answer() != null) {
                    entry.readLatest(outcome.answer(), epoch);
                }
            } finally {
                Fetch<T> next = nextAfter(key);
                fetch.outcome.complete(outcome);
                if (next != null) {
                    start(key, next);
                }
            }
        });
    }

    private synchronized @Nullable Fetch<T> nextAfter(ObjectKey key) {
        InFlight<T> inFlight = byKey.remove(key);
        Fetch<T> next = inFlight == null ? null : inFlight.next;
        if (next != null) {
            byKey.put(key, new InFlight<>(next, null));
        }
        return next;
    }

    /**
     * Lists the object, or reads it with a GET if the list is forbidden: a read needs no more access than a watch does.
     */
    private CompletableFuture<Fetched<T>> read(ObjectKey key, ReadSource source, Duration timeout) {
        ListOrGet<T> server = store.listOrGet(key);
        return server.read(timeout).thenCompose(read -> {
            Fetched<T> item = server.itemOf(read.items());
            return item == null
                    ? CompletableFuture.failedFuture(ApiServerException.withoutAnswer(
                            FailureReason.NOT_FOUND, "LIST " + store.kind + " " + key, "the list is empty", null))
                    : CompletableFuture.completedFuture(item);
        });
    }

    /** Ends waiting gets, and later ones. Idempotent. */
    void close() {
        List<Fetch<T>> unstarted;
        synchronized (this) {
            closed = true;
            unstarted = byKey.values().stream()
                    .map(InFlight::next)
                    .filter(Objects::nonNull)
                    .toList();
        }
        fetches.close();
        unstarted.forEach(next -> next.outcome.complete(FetchOutcome.closed()));
    }
}
