package dev.podcache.reflector;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What one watch has brought so far, and what follows from that. A pure record of times; all are nanoseconds of one
 * clock. Guarded by the lock of its {@link Reflector}.
 */
final class WatchSpell {

    private static final long EARLY = Duration.ofSeconds(1).toNanos();
    private static final long HEALTHY = Duration.ofSeconds(5).toNanos();
    private static final long SILENT = Duration.ofSeconds(90).toNanos();
    private static final long GRACE = Duration.ofSeconds(30).toNanos();

    private final String what;
    private final long begin;
    private final long patience;
    private boolean opened;
    private boolean eventful;
    private boolean bookmarked;
    private long heardAt;
    private long openedAt;

    /**
     * A watch that begins now.
     *
     * @param what is watched, for messages
     * @param serverTimeout after which the server was asked to end it; if it has not some time later, it is dead
     */
    WatchSpell(String what, Duration serverTimeout, long now) {
        this.what = what;
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

    void changed(long now) {
        eventful = true;
        heardAt = now;
    }

    /** Bookmarks come about every minute once they came at all, so from now on silence says something. */
    void bookmarked(long now) {
        eventful = true;
        bookmarked = true;
        heardAt = now;
    }

    /** Whether it shows that all is well again, so that the next failure is a first one. */
    boolean healthy(long now) {
        return eventful || (opened && now - openedAt >= HEALTHY);
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

    /**
     * How it ended.
     *
     * @param failure null if the server ended it without complaint
     */
    WatchEnd ended(@Nullable ApiServerException failure, long now) {
        if (failure != null) {
            // an HTTP code in an open watch comes from an ERROR event. The version may be the cause, but not of a 429
            boolean reported = opened && failure.httpCode() > 0 && failure.reason() != FailureReason.THROTTLED;
            return reported ? new WatchEnd.Unresumable(failure) : WatchEnd.of(failure);
        }
        if (!eventful && now - openedAt < EARLY) {
            return new WatchEnd.Broken(failure(
                    FailureReason.UNAVAILABLE, "the server ended the watch at once, without an event or a reason"));
        }
        return new WatchEnd.InGoodOrder();
    }

    private ApiServerException failure(FailureReason reason, String why) {
        return ApiServerException.withoutAnswer(reason, "WATCH " + what, why, null);
    }
}
