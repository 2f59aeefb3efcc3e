package dev.podcache.reflector;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ResourceVersions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What one watch has brought so far, and what follows from that. A pure record of times and versions; all times are
 * nanoseconds of one clock. Touched in steps of its {@link ReflectorLoop} only.
 */
final class WatchHealth {

    private static final long EARLY = Duration.ofSeconds(1).toNanos();
    private static final long HEALTHY = Duration.ofSeconds(5).toNanos();
    private static final long SILENT = Duration.ofSeconds(90).toNanos();
    private static final long GRACE = Duration.ofSeconds(30).toNanos();

    private final String what;
    private final String from;
    private final long begin;
    private final long patience;
    private boolean opened;
    private boolean bookmarked;
    private long heardAt;
    private long openedAt;
    private long events;
    private String upTo;
    private String covered = "";

    /**
     * A watch that begins now.
     *
     * @param what is watched, for messages
     * @param from the version that it begins after; empty for a watch without one
     * @param serverTimeout after which the server was asked to end it; if it has not some time later, it is dead
     */
    WatchHealth(String what, String from, Duration serverTimeout, long now) {
        this.what = what;
        this.from = from;
        this.upTo = from;
        this.begin = now;
        this.patience = serverTimeout.toNanos() + GRACE;
        this.heardAt = now;
        this.openedAt = now;
    }

    void opened(long now) {
        opened = true;
        openedAt = now;
        heardAt = now;
    }

    /** Whether the server accepted it. */
    boolean isOpen() {
        return opened;
    }

    /** Whether it began without a version, with the objects that were there. */
    boolean isVersionless() {
        return from.isEmpty();
    }

    /**
     * An event or a bookmark came.
     *
     * @param version empty if it brought none
     */
    void heard(String version, boolean bookmark, long now) {
        events++;
        // bookmarks come about every minute once they came at all, so from now on silence says something
        bookmarked |= bookmark;
        heardAt = now;
        upTo = version.isEmpty() ? upTo : version;
    }

    /** A list told everything up to that version. */
    void listed(String version) {
        covered = version;
        upTo = version.isEmpty() ? upTo : version;
    }

    /** Whether a list has told already what an event with that version tells. */
    boolean covers(String version) {
        return !covered.isEmpty() && (covered.equals(version) || ResourceVersions.isOlder(version, covered));
    }

    /** How many events and bookmarks it has brought. */
    long events() {
        return events;
    }

    /** Whether what has been taken in is newer than that version. */
    boolean isBeyond(String version) {
        return ResourceVersions.isOlder(version, upTo);
    }

    /** Whether it shows that all is well again, so that the next failure is a first one. */
    boolean healthy(long now) {
        return events > 0 || (opened && now - openedAt >= HEALTHY);
    }

    /** How long until {@link #dead} could become true if nothing is heard; at most 0 if it is. */
    Duration untilDead(long now) {
        long untilOverdue = begin + patience - now;
        long untilSilent = bookmarked ? heardAt + SILENT - now : untilOverdue;
        return Duration.ofNanos(Math.min(untilOverdue, untilSilent));
    }

    /** Why it can no longer be believed to be alive. */
    ApiServerException dead(long now) {
        return failure(
                FailureReason.TIMEOUT,
                "nothing came for " + Duration.ofNanos(now - heardAt).toSeconds() + " s, not even a bookmark");
    }

    /** Whether it was over within a second. */
    boolean isEarly(long now) {
        return now - openedAt < EARLY;
    }

    /**
     * How it ended.
     *
     * @param failure null if the server ended it without complaint
     * @param tooEarly whether the ones before it ended within a second, too
     */
    WatchEnd ended(@Nullable ApiServerException failure, boolean tooEarly, long now) {
        if (failure != null) {
            // an HTTP code in an open watch comes from an ERROR event. The version may be the cause, but not of a 429
            boolean reported = opened && failure.httpCode() > 0 && failure.reason() != FailureReason.THROTTLED;
            return reported ? new WatchEnd.Unresumable(failure) : WatchEnd.of(failure);
        }
        if (events == 0 && isEarly(now)) {
            return new WatchEnd.Broken(failure(
                    FailureReason.UNAVAILABLE, "the server ended the watch at once, without an event or a reason"));
        }
        if (tooEarly) {
            return new WatchEnd.Broken(
                    failure(FailureReason.UNAVAILABLE, "the server ends the watch within a second again and again"));
        }
        return new WatchEnd.InGoodOrder();
    }

    /** Why a list that is older than what the watch was resumed from cannot be taken in. */
    ApiServerException older(String version) {
        return failure(
                FailureReason.EXPIRED,
                "a list has version " + version + ", older than " + upTo
                        + ": the API server's storage was restored; listing again");
    }

    private ApiServerException failure(FailureReason reason, String why) {
        return ApiServerException.withoutAnswer(reason, "WATCH " + what, why, null);
    }
}
