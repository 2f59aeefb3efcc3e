package dev.podcache.store;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A get of strategy WATCH that found no hit: waits for the next change of its entry, up to the first-sync timeout. */
final class WatchGet<T extends HasMetadata> extends PendingGet<T> {

    private final WatchObjectStore<T> store;
    private final long deadline;
    private @Nullable WatchEntry<T> entry;
    private @Nullable CompletableFuture<@Nullable Answer<T>> change;
    private boolean missed;

    /** Makes a get that has not begun. */
    WatchGet(WatchObjectStore<T> store, ObjectKey key) {
        super(store.kind, key, store.options);
        this.store = store;
        this.deadline = now() + store.times.firstSync().toNanos();
    }

    @Override
    @Nullable
    T proceed(boolean inTime) {
        if (entry != null) {
            Answer<T> current = change == null ? null : change.getNow(null);
            if (current != null) {
                return serve(current, false, null);
            }
            if (!inTime) {
                return answerAfterTimeout(entry);
            }
        }
        while (true) {
            WatchEntry<T> found = store.entries.find(key.namespace(), key.name());
            WatchLookup<T> lookup = found == null ? null : found.lookup();
            if (!missed && (lookup == null || !(lookup.answer() instanceof Answer.Present))) {
                missed = true;
                store.missed(key);
            }
            if (found == null || lookup == null) {
                throw store.entries.missingException(key);
            }
            entry = found;
            if (lookup.dropped()) {
                store.entries.remove(found);
            } else if (lookup.answer() != null) {
                return serve(lookup.answer(), lookup.stale(), lookup.failure());
            } else if (deadline - now() < 0) {
                return answerAfterTimeout(found);
            } else {
                change = Objects.requireNonNull(lookup.change());
                return waitFor(change, deadline);
            }
        }
    }

    private T answerAfterTimeout(WatchEntry<T> found) {
        Answer<T> fallback = found.answerAfterTimeout();
        Throwable failure = found.state().lastFailure();
        if (fallback == null) {
            throw notSynced(failure);
        }
        return serve(fallback, true, failure);
    }

    private T serve(Answer<T> answer, boolean stale, @Nullable Throwable failedCheck) {
        if (answer instanceof Answer.Present<T> present) {
            if (stale) {
                store.staleServed(key);
            }
            return present.object;
        }
        // what nobody confirms must not look confirmed because the check is slow instead of failing
        throw new NotFound(kind, key, stale && failedCheck == null ? notSynced(null) : failedCheck);
    }

    private NotSynced notSynced(@Nullable Throwable failure) {
        return new NotSynced(kind, key, store.times.firstSync(), failure);
    }
}
