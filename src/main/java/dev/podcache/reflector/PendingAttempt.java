package dev.podcache.reflector;

import org.jspecify.annotations.Nullable;

/** What one reflector is to a {@link Recovery}: the attempt that it is about to make, if any. Guarded by the Recovery. */
final class PendingAttempt {

    /** Breaks ties, so that no two are equal to a sorted set. */
    long number;

    /** Whether the reflector is closed. */
    boolean closed;

    /** Makes the attempt; null while none is pending. */
    @Nullable
    Runnable task;

    /** Whether it is a list, or else a watch. */
    boolean isList;

    /** Whether a get waits for the object: it goes before others, and is not spread. */
    boolean isUrgent;

    /** Whether it is an outage that keeps it, not a pause of its own. */
    boolean unserved;

    /** When it may be made at the earliest: the end of the pause after a failure. */
    long earliest;

    /** When it is to be made: the same and its part of what spreads those that failed together. */
    long due;
}
