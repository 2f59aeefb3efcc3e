package dev.podcache.reflector;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ResourceVersions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The history of one watch, and the conclusions from it. Holds only times and versions; all times are nanoseconds of
 * one clock. Used in steps of its {@link ReflectorLoop} only.
 */
final class WatchHealth {

    private static final Duration SHORTEST = Duration.ofMinutes(30);
    private static final long EARLY_END = Duration.ofSeconds(1).toNanos();
    private static final long HEALTHY_AFTER = Duration.ofSeconds(5).toNanos();
    private static final long MAX_SILENCE = Duration.ofSeconds(90).toNanos();
    private static final long GRACE = Duration.ofSeconds(30).toNanos();

    private final Object target; // its text is needed for a failure only
    private final boolean versionless;
    private final long overdue;
    private boolean opened;
    private boolean bookmarked;
    private boolean confirmed;
    private long lastReceived;
    private long openedAt;
    private int events;
    private String appliedUpTo;
    private String coveredUpTo = "";

    /**
     * Begins a watch.
     *
     * @param target the watched collection, for messages
     * @param from the version after which the watch begins; empty for a watch without one
     * @param serverTimeout the requested length of the watch; it counts as dead some time after that
     */
    WatchHealth(Object target, String from, Duration serverTimeout, long now) {
        this.target = target;
        this.versionless = from.isEmpty();
        this.appliedUpTo = from;
        this.overdue = now + serverTimeout.toNanos() + GRACE;
        this.lastReceived = now;
        this.openedAt = now;
    }

    /**
     * Returns how long the server is asked to keep a watch open: 30 to 60 minutes.
     *
     * @param random uniform in [0, 1)
     */
    static Duration length(double random) {
        return SHORTEST.plusNanos((long) (SHORTEST.toNanos() * random));
    }

    /** Records that the sink is up to date, or is once the watch is accepted. */
    void confirm() {
        confirmed = true;
    }

    boolean isConfirmed() {
        return confirmed;
    }

    void opened(long now) {
        opened = true;
        openedAt = now;
        lastReceived = now;
    }

    /** Returns whether the server accepted the watch. */
    boolean isOpen() {
        return opened;
    }

    /** Returns whether the watch began without a version, with the existing objects. */
    boolean isVersionless() {
        return versionless;
    }

    /**
     * Records an event or a bookmark.
     *
     * @param version empty if it has none
     */
    void received(String version, boolean bookmark, long now) {
        events++;
        // after the first one, bookmarks come about every minute, so silence becomes meaningful
        bookmarked |= bookmark;
        lastReceived = now;
        appliedUpTo = version.isEmpty() ? appliedUpTo : version;
    }

    /** Records a list that covers all changes up to {@code version}. */
    void listed(String version) {
        coveredUpTo = version;
        appliedUpTo = version.isEmpty() ? appliedUpTo : version;
    }

    /** Returns whether a list already covers an event with that version. */
    boolean covers(String version) {
        return !coveredUpTo.isEmpty()
                && (coveredUpTo.equals(version) || ResourceVersions.isOlder(version, coveredUpTo));
    }

    /** Returns the number of events and bookmarks. */
    int events() {
        return events;
    }

    /** Returns whether the sink has applied something newer than {@code version}. */
    boolean isBeyond(String version) {
        return ResourceVersions.isOlder(version, appliedUpTo);
    }

    /** Returns whether the watch shows that the server works again, so that the next failure is a first one. */
    boolean healthy(long now) {
        return events > 0 || (opened && now - openedAt >= HEALTHY_AFTER);
    }

    /** Returns the time until the watch counts as dead if nothing arrives; at most 0 if it does now. */
    Duration untilDead(long now) {
        long untilOverdue = overdue - now;
        long untilSilent = bookmarked ? lastReceived + MAX_SILENCE - now : untilOverdue;
        return Duration.ofNanos(Math.min(untilOverdue, untilSilent));
    }

    /** Returns why the watch counts as dead. */
    ApiServerException dead(long now) {
        return failure(
                FailureReason.TIMEOUT,
                "no event or bookmark for "
                        + Duration.ofNanos(now - lastReceived).toSeconds() + " s");
    }

    /** Returns whether the watch lasted less than a second. */
    boolean isEarly(long now) {
        return now - openedAt < EARLY_END;
    }

    /**
     * Returns how the watch ended.
     *
     * @param failure null if the server ended it without an error
     * @param tooEarly whether the previous watches ended within a second, too
     */
    WatchEnd ended(@Nullable ApiServerException failure, boolean tooEarly, long now) {
        if (failure != null) {
            // The HTTP code of an open watch comes from an ERROR event. The version may be its cause, but not of a 429.
            boolean reported = opened && failure.httpCode() > 0 && failure.reason() != FailureReason.THROTTLED;
            return reported ? new WatchEnd.Unresumable(failure) : WatchEnd.of(failure);
        }
        if (events == 0 && isEarly(now)) {
            return new WatchEnd.Broken(failure(
                    FailureReason.UNAVAILABLE, "the server ended the watch at once, without an event or an error"));
        }
        if (tooEarly) {
            return new WatchEnd.Broken(
                    failure(FailureReason.UNAVAILABLE, "the server repeatedly ended the watch within a second"));
        }
        return new WatchEnd.Orderly();
    }

    /** Returns why a list that is older than the sink's state cannot be applied. */
    ApiServerException storageRestored(String version) {
        return failure(
                FailureReason.EXPIRED,
                "a list has version " + version + ", older than " + appliedUpTo
                        + ": the API server's storage was restored; listing again");
    }

    private ApiServerException failure(FailureReason reason, String why) {
        return ApiServerException.withoutAnswer(reason, "WATCH " + target, why, null);
    }
}
