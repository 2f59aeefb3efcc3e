package dev.podcache.store;

import dev.podcache.object.Phase;
import org.jspecify.annotations.Nullable;

/**
 * What the API server last said about an object: it is there, or it is not. Immutable, so that publishing it in one volatile
 * field publishes all of it.
 */
abstract sealed class Answer<T> {

    /** On the scale of the coarse clock. */
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

        /** The same state of the object, heard of again: the object that callers already share stays the one. */
        Present<T> heardAgain(long at) {
            return new Present<>(at, object, resourceVersion, encodedBytes, immutable);
        }

        boolean isFresh(long now, long ttlNanos) {
            return immutable || now - receivedAt < ttlNanos;
        }
    }

    /** There is no such object. */
    static final class Absent<T> extends Answer<T> {
        Absent(long receivedAt) {
            super(receivedAt);
        }
    }

    /** What an answer, or none, means on its own, its age aside. */
    static Phase phaseOf(@Nullable Answer<?> answer) {
        if (answer == null) {
            return Phase.UNREAD;
        }
        return answer instanceof Absent ? Phase.ABSENT : Phase.FRESH;
    }
}
