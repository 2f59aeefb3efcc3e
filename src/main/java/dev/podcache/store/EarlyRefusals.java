package dev.podcache.store;

import com.google.common.collect.Comparators;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * For how long a refusal (403) of an object whose reference is new means "not yet", and when the server is asked again:
 * after 50, 100, 200, 400 ms and so on, at most a second, and for the last time when the window ends. Immutable.
 *
 * <p>A reference is new until its object was read once. Access comes after the reference in two cases: the Node
 * authorizer refuses for some milliseconds after a pod was bound (kubernetes/kubernetes PR 136211), which may happen to
 * any identity, because a refusal does not show whether it is a node's; and a controller adds the name to a Role once it
 * has seen the owner that refers to it.
 *
 * @param window counts from the first refusal under WATCH, and from the first get under CACHE; a refusal after it is
 *     final until the next reference
 * @param getWaits the longest that a get waits for access where nothing else bounds it: under CACHE and GET, and with a
 *     {@code ReadConsistency}; at most the window
 * @param grantsFollow whether the state says that access is awaited, and no warning is logged before the window is over
 */
public record EarlyRefusals(Duration window, Duration getWaits, boolean grantsFollow) {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
    private static final Duration AFTER_FIRST_SYNC = Duration.ofSeconds(5);

    /** What a Node authorizer needs that lags: a second. */
    public static final EarlyRefusals NODE = new EarlyRefusals(Duration.ofSeconds(1), Duration.ofSeconds(1), false);

    /** Returns the times for Roles that follow references: the first-sync timeout, and 5 s more. */
    public static EarlyRefusals ofGrants(Duration firstSync) {
        return new EarlyRefusals(firstSync.plus(AFTER_FIRST_SYNC), firstSync, true);
    }

    /**
     * Returns the pause after a refusal, or null if it is final.
     *
     * @param refusals since the reference, this one included; at least 1
     * @param since the time since the window began
     * @param window {@link #window}, or less
     */
    static @Nullable Duration pause(int refusals, Duration since, Duration window) {
        Duration left = window.minus(since);
        if (left.isNegative() || left.isZero()) {
            return null;
        }
        Duration own = refusals > 5 ? LONGEST_PAUSE : FIRST_PAUSE.multipliedBy(1L << (refusals - 1));
        return Comparators.min(own, left);
    }
}
