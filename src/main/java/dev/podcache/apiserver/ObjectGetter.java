package dev.podcache.apiserver;

import dev.podcache.object.ObjectKey;
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
     * Reads one object, in a single attempt: at most one HTTP request, no retry. Returns at once and never throws; the
     * future completes on a thread of the implementation, soon after {@code timeout} at the latest.
     *
     * @param key the name of the object, with an empty namespace for a cluster-scoped object
     * @param source where the API server reads the object from
     * @param timeout positive
     * @return the object, or exceptionally an {@link ApiServerException}, whose reason is {@link
     *     dev.podcache.object.FailureReason#NOT_FOUND} if the object does not exist
     */
    CompletableFuture<Fetched<T>> get(ObjectKey key, ReadSource source, Duration timeout);
}
