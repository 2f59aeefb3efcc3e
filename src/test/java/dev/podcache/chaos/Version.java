package dev.podcache.chaos;

import org.jspecify.annotations.Nullable;

/**
 * One state of an object, of which the absence of the object is one, as its writer knows it. Immutable.
 *
 * @param index which state of this object this is, from 0
 * @param marker what its payload says, which no other state of any object does; null for absence
 * @param immutable whether it says of itself that it never changes
 * @param began the server did not have it before then: when its write was sent
 * @param ended the server had it by then: when its write was answered; {@link #UNKNOWN} until that is known
 * @param result what became of the write
 */
record Version(int index, @Nullable String marker, boolean immutable, long began, long ended, WriteResult result) {

    static final long UNKNOWN = Long.MAX_VALUE;

    /** What became of a write. */
    enum WriteResult {
        /** Sent; nobody knows yet. */
        PENDING,
        APPLIED,
        /** It is certain that it did not happen and will not. */
        REFUSED
    }

    boolean isAbsence() {
        return marker == null;
    }

    Version applied(long when) {
        return new Version(index, marker, immutable, began, when, WriteResult.APPLIED);
    }

    Version refused() {
        return new Version(index, marker, immutable, began, UNKNOWN, WriteResult.REFUSED);
    }

    @Override
    public String toString() {
        return "#" + index + " " + (marker == null ? "absent" : marker) + (immutable ? " immutable" : "") + " "
                + result;
    }
}
