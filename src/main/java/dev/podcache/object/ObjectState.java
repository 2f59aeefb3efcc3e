package dev.podcache.object;

import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The state of an object in a store, without its content. Immutable.
 *
 * @param cacheState how much is known; {@link CacheState#UNREAD} also for an object that is not referenced
 * @param resourceVersion the version held, or "" if none
 * @param age the time since the API server last confirmed what is held; null if it has not answered for this object
 *     since the last new reference
 * @param lastFailure why the latest request failed; null after an answer
 * @param references the number of references
 * @param freshness how long an answer counts as fresh, and why, as text for people
 */
public record ObjectState(
        CacheState cacheState,
        String resourceVersion,
        @Nullable Duration age,
        @Nullable Throwable lastFailure,
        int references,
        String freshness) {

    public ObjectState {
        Objects.requireNonNull(cacheState, "cacheState");
        Objects.requireNonNull(resourceVersion, "resourceVersion");
        Objects.requireNonNull(freshness, "freshness");
    }

    /** Returns the state of an object that is not held. */
    public static ObjectState unknown(String freshness) {
        return new ObjectState(CacheState.UNREAD, "", null, null, 0, freshness);
    }
}
