package dev.podcache.store;

import dev.podcache.apiserver.Fetched;
import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.HasMetadata;
import org.jspecify.annotations.Nullable;

/**
 * What the API server last said about an object: it is there, or it is not. Immutable, so that publishing it in one
 * volatile field publishes all of it.
 */
abstract sealed class Answer<T> {

    /** On the scale of {@code Timekeeper.nanoTime()}. */
    final long receivedAt;

    private Answer(long receivedAt) {
        this.receivedAt = receivedAt;
    }

    /** The object is there. */
    static final class Present<T> extends Answer<T> {
        final T object;
        final String resourceVersion;
        final int encodedBytes;
        final boolean immutable;

        Present(long receivedAt, T object, String resourceVersion, int encodedBytes, boolean immutable) {
            super(receivedAt);
            this.object = object;
            this.resourceVersion = resourceVersion;
            this.encodedBytes = encodedBytes;
            this.immutable = immutable;
        }

        /** Returns the answer received again at {@code at}, with the object that callers already share. */
        Present<T> heardAgain(long at) {
            return new Present<>(at, object, resourceVersion, encodedBytes, immutable);
        }

        /** Returns whether it was received after that moment, or is immutable. */
        boolean isFresh(long freshSince) {
            return receivedAt - freshSince > 0 || immutable;
        }
    }

    /** There is no such object. */
    static final class Absent<T> extends Answer<T> {
        Absent(long receivedAt) {
            super(receivedAt);
        }
    }

    /** Returns the answer that brought {@code fetched}. */
    static <T extends HasMetadata> Present<T> present(ObjectKind<T> kind, Fetched<T> fetched, long receivedAt) {
        T object = fetched.object();
        return new Present<>(
                receivedAt, object, fetched.resourceVersion(), fetched.encodedBytes(), kind.isImmutable(object));
    }

    /**
     * Returns {@code after}, or, if that is the same version of the same object, the instance that callers share already. Both
     * are compared: an etcd that was restored from a backup gives out a version twice.
     */
    static <T> @Nullable Answer<T> sharing(@Nullable Answer<T> before, @Nullable Answer<T> after) {
        return before instanceof Present<T> held
                        && after instanceof Present<T> heard
                        && !held.resourceVersion.isEmpty()
                        && held.resourceVersion.equals(heard.resourceVersion)
                        && held.object.equals(heard.object)
                ? held.heardAgain(heard.receivedAt)
                : after;
    }

    /** Returns whether both say the same: nothing, absence, or the same shared object. Their age does not matter. */
    static boolean isSame(@Nullable Answer<?> before, @Nullable Answer<?> after) {
        if (before instanceof Present<?> held && after instanceof Present<?> heard) {
            return held.object == heard.object;
        }
        return cacheStateOf(before) == cacheStateOf(after);
    }

    /** Returns the cache state that an answer, or none, means on its own, its age aside. */
    static CacheState cacheStateOf(@Nullable Answer<?> answer) {
        if (answer == null) {
            return CacheState.UNREAD;
        }
        return answer instanceof Absent ? CacheState.ABSENT : CacheState.FRESH;
    }
}
