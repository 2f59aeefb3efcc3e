package dev.podcache.store;

import dev.podcache.object.ObjectKey;
import dev.podcache.store.Fetch.FetchOutcome;
import io.fabric8.kubernetes.api.model.HasMetadata;
import org.jspecify.annotations.Nullable;

/**
 * A get that is answered by one quorum read: any get under GET, or a get with a {@code ReadConsistency} under WATCH.
 */
final class LatestGet<T extends HasMetadata> extends PendingGet<T> {

    private final Fetches<T> fetches;
    private final Fetch<T> fetch;
    private final long deadline;
    private boolean begun;

    /**
     * Makes a get.
     *
     * @param fetch a quorum read that did not begin before the get
     */
    LatestGet(Fetches<T> fetches, ObjectKey key, Fetch<T> fetch, StoreOptions options) {
        super(fetches.kind, key, options);
        this.fetches = fetches;
        this.fetch = fetch;
        this.deadline = now() + options.readTimeout().toNanos();
    }

    @Override
    @Nullable
    T proceed(boolean inTime) {
        if (!begun) {
            begun = true;
            return waitFor(fetch.outcome, deadline);
        }
        @Nullable FetchOutcome<T> outcome = fetch.outcome.getNow(null);
        return outcome == null ? fetches.serveStale(key, null, null) : fetches.conclude(key, null, outcome);
    }
}
