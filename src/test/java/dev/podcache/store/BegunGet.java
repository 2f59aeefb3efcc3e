package dev.podcache.store;

import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** A get that has begun and may wait, and in a word or two what it ends with. For one thread. */
final class BegunGet {

    private final StaleGets staleGets;
    private final int staleBefore;
    private final CompletableFuture<Secret> result;

    /** Counts the gets that were served stale. */
    static class StaleGets implements PodcacheMetrics {

        private int count;

        final int count() {
            return count;
        }

        @Override
        public void staleServed(ObjectKind<?> kind, ObjectKey key, String strategy) {
            count++;
        }
    }

    /**
     * Begins a get.
     *
     * @param staleGets a listener of the store
     */
    BegunGet(Store<Secret> store, ObjectKey key, StaleGets staleGets) {
        this.staleGets = staleGets;
        this.staleBefore = staleGets.count;
        this.result = store.getAsync(key.namespace(), key.name());
        NoLeaks.saw(store.state(key));
    }

    /**
     * Returns "waits", or the value of the object, with " stale" if a get was served stale since this one began, or the
     * name of the exception, with " unsure" if absence could not be checked.
     */
    String outcome() {
        if (!result.isDone()) {
            return "waits";
        }
        try {
            return Secrets.value(result.join()) + (staleGets.count > staleBefore ? " stale" : "");
        } catch (CompletionException e) {
            Throwable thrown = NoLeaks.saw(Objects.requireNonNull(e.getCause()));
            boolean unsure = thrown instanceof NotFound && thrown.getCause() != null;
            return thrown.getClass().getSimpleName() + (unsure ? " unsure" : "");
        }
    }

    /** Has {@code action} run when it ends, on the thread that ends it. */
    void thenRun(Runnable action) {
        result.whenComplete((secret, thrown) -> action.run());
    }
}
