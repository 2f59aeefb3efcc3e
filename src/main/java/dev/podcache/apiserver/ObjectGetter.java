package dev.podcache.apiserver;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ReadConsistency;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Reads one object by name. Thread-safe.
 *
 * @param <T> the model class
 */
@FunctionalInterface
public interface ObjectGetter<T> {

    /**
     * One attempt: at most one HTTP request, no retry. Returns at once and never throws; the future completes on a
     * thread of the implementation, within {@code timeout} and a little.
     *
     * @param key the object, with an empty namespace for an object of the whole cluster
     * @param freshness how new the answer must be
     * @param timeout positive
     * @return the object, or exceptionally an {@link ApiServerException}; there is no such object is one of its reasons
     */
    CompletableFuture<Fetched<T>> get(ObjectKey key, ReadConsistency freshness, Duration timeout);
}
