package dev.podcache.store;

import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectState;
import dev.podcache.object.Referrer;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a store knows of one referenced object, all read at one moment. Immutable.
 *
 * @param life identifies the time from the first reference to the last: another instance after the object was dropped
 * @param state the state, which has no content
 * @param object null if it is absent, or if nothing is known
 * @param bytes how long the object was on the wire, or 0
 * @param stale whether nothing confirms what is known: its watch is lost, or its last refresh failed
 * @param connection names the connection that carries its watch, or "" if it is not watched
 * @param referrers the owners that refer to it
 * @param restricted those of them whose references are {@link Restricted}
 */
public record KnownObject<T>(
        Object life,
        ObjectState state,
        @Nullable T object,
        int bytes,
        boolean stale,
        String connection,
        Set<Referrer> referrers,
        Set<Referrer> restricted) {

    /** Returns whether the API server said that there is no such object. */
    public boolean absent() {
        return state.cacheState() == CacheState.ABSENT;
    }

    /** Returns the version of the object, or "" if there is none. */
    public String resourceVersion() {
        return state.resourceVersion();
    }

    /** Without the object, which may be a Secret. */
    @Override
    public String toString() {
        String what = object == null ? absent() ? "absent" : "unknown" : resourceVersion();
        return "KnownObject[" + what + (stale ? ", stale" : "") + ", referrers=" + referrers + "]";
    }
}
