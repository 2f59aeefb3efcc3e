package dev.podcache.reflector;

import org.jspecify.annotations.Nullable;

/** The state of one reflector in a {@link Recovery}: its next attempt, if any. Guarded by the Recovery. */
final class PendingAttempt {

    /** Breaks ties in sorted sets. */
    int number;

    /** Whether the reflector is closed. */
    boolean closed;

    /** Makes the attempt; null if none is pending. */
    @Nullable
    Runnable task;

    /** Whether the attempt is a list; otherwise it is a watch. */
    boolean isList;

    /** Whether a get waits for the object: the attempt goes before others and is not spread. */
    boolean isUrgent;

    /** Whether the attempt waits for the end of an outage, and not for a pause of its own. */
    boolean waitsForOutage;

    /** The earliest time of the attempt: the end of the pause after a failure. */
    long earliest;

    /** The time of the attempt: {@link #earliest} plus the delay that spreads reflectors that failed together. */
    long due;
}
