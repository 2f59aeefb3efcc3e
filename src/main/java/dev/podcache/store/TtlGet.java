package dev.podcache.store;

import dev.podcache.object.ObjectKey;
import dev.podcache.store.Fetch.FetchOutcome;
import dev.podcache.store.TtlEntry.TtlLookup;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A get of strategy CACHE that found no hit. Looks up the entry at most three times; see {@code TtlEntry}. */
final class TtlGet<T extends HasMetadata> extends PendingGet<T> {

    /** The longest that a get with a held answer waits for a newer one. */
    private static final long REFRESH_WAIT = Duration.ofSeconds(1).toNanos();

    private final TtlObjectStore<T> store;
    private final boolean latest;
    private final long deadline;
    private @Nullable TtlEntry<T> entry;
    private @Nullable TtlLookup<T> lookup;
    private long begunBefore; // the fetches that had begun when this get found its entry
    private boolean ageAllowed;

    /**
     * Makes a get that has not begun.
     *
     * @param latest whether only a quorum read that began after this get may answer it
     */
    TtlGet(TtlObjectStore<T> store, ObjectKey key, boolean latest) {
        super(store.kind, key, store.options);
        this.store = store;
        this.latest = latest;
        this.deadline = now() + store.options.readTimeout().toNanos();
    }

    @Override
    @Nullable
    T proceed(boolean inTime) {
        TtlEntry<T> found = entry;
        TtlLookup<T> before = lookup;
        if (found != null && before != null && before.awaited() != null) {
            T object = afterWait(found, before, before.awaited(), inTime);
            if (object != null) {
                return object;
            }
        }
        return look();
    }

    /** Returns the object of the awaited fetch, or null if it may not answer this get. */
    private @Nullable T afterWait(TtlEntry<T> found, TtlLookup<T> before, Fetch<T> awaited, boolean inTime) {
        Answer<T> known = latest ? null : before.known();
        if (!inTime && !awaited.outcome.isDone()) {
            if (!latest) {
                found.markSlow(awaited);
            }
            return store.fetches.serveStale(key, known, null);
        }
        FetchOutcome<T> outcome = awaited.outcome.join();
        boolean began = awaited.number > begunBefore;
        boolean mayAnswer = latest
                ? outcome.isClosed() || (began && awaited.isLatest())
                : began || mayAnswerLaterGet(outcome, known);
        return mayAnswer ? store.fetches.conclude(key, known, outcome) : null;
    }

    /** Returns whether a fetch that began before this get may answer it. */
    private boolean mayAnswerLaterGet(FetchOutcome<T> outcome, @Nullable Answer<T> known) {
        return outcome.answer() == null ? known != null || outcome.isClosed() : outcome.isPresent() && ageAllowed;
    }

    private @Nullable T look() {
        while (true) {
            TtlEntry<T> found = entry == null ? find() : entry;
            TtlLookup<T> now = latest
                    ? found.lookupLatest(now(), begunBefore)
                    : found.lookup(now(), store.ttl.ttlNanos(), begunBefore);
            if (now.dropped()) {
                // an object that is referenced again has another entry
                store.entries.remove(found);
                entry = null;
                continue;
            }
            lookup = now;
            Fetch<T> started = now.started();
            if (started != null) {
                store.fetches.start(key, started, outcome -> found.end(started, outcome, now()));
            }
            Fetch<T> awaited = now.awaited();
            if (awaited != null) {
                boolean refreshes = now.known() != null && !latest;
                return waitFor(awaited.outcome, refreshes ? Math.min(deadline, now() + REFRESH_WAIT) : deadline);
            }
            return now.usable() != null ? now.usable() : store.fetches.serveStale(key, now.known(), now.lastFailure());
        }
    }

    private TtlEntry<T> find() {
        TtlEntry<T> found = store.entries.find(key.namespace(), key.name());
        if (found == null) {
            throw store.entries.missingException(key);
        }
        entry = found;
        ageAllowed = store.ttl.ttlNanos() > 0;
        begunBefore = found.fetchesBegun();
        return found;
    }
}
