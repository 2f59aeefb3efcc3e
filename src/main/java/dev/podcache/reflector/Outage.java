package dev.podcache.reflector;

import dev.podcache.reflector.AttemptQueues.NextAttempt;
import dev.podcache.time.Backoff;
import dev.podcache.time.OutageBackoff;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whether the server serves no reflector, and when the next one may try. Guarded by its {@link Recovery}.
 *
 * <p>In an outage, the server is unreachable or asks for a pause (Retry-After). An unreachable server is probed after
 * the pauses of {@link OutageBackoff}. A server that asks for a pause is probed after that pause and a random extra
 * time: at most 2 s the first time, doubled with each further request up to 30 s.
 */
final class Outage {

    private static final int THRESHOLD = 3;
    private static final long MIN_PAUSE = Duration.ofMillis(500).toNanos();
    private static final Backoff EXTRA_PAUSE = new Backoff(Duration.ofSeconds(2), Duration.ofSeconds(30));

    /** A requested pause this soon after the previous one counts as its continuation. */
    private static final long CONTINUATION = Duration.ofMinutes(1).toNanos();

    /** How long an unanswered probe keeps others from trying. */
    private static final long PROBE_TIMEOUT = Duration.ofSeconds(5).toNanos();

    private final Set<NextAttempt> failed = new HashSet<>(); // attempts that failed since the last success
    private int failuresInARow;
    private boolean lasts;
    private boolean pauseRequested; // whether the server asked for a pause in this outage
    private long since;
    private @Nullable NextAttempt probe;
    private long probeBegan;
    private long nextProbe;
    private final OutageBackoff backoff = new OutageBackoff();
    private int requestedPauses; // the number of pauses in a row that the server asked for
    private long requestedPauseEnd;

    boolean lasts() {
        return lasts;
    }

    /** Records that an attempt was not answered. */
    void unanswered(NextAttempt attempt, long reflectors, long now, double random) {
        probeEnded(attempt, random);
        if (countFailure(attempt, reflectors, now)) {
            nextProbe = now + backoff.pause(Duration.ZERO, random).toNanos();
        }
    }

    /** Records that the server asked to repeat an attempt after a pause. */
    void refused(NextAttempt attempt, long reflectors, Duration asked, long now, double random) {
        boolean begins = countFailure(attempt, reflectors, now);
        if (begins || attempt == probe) {
            probe = null;
            requestedPauses = now - requestedPauseEnd < CONTINUATION && requestedPauses > 0 ? requestedPauses + 1 : 1;
            long extra = (long) (random * EXTRA_PAUSE.pause(requestedPauses, 0).toNanos());
            requestedPauseEnd = now + Math.max(MIN_PAUSE, asked.toNanos()) + extra;
            nextProbe = requestedPauseEnd;
        } else if (lasts) {
            // an attempt that was in progress when the outage began
            nextProbe = Math.max(nextProbe, now + asked.toNanos());
        }
        pauseRequested = lasts;
    }

    /**
     * Records that the server served an attempt. Returns whether that ends the outage. If the server asked for a pause,
     * only a probe ends the outage, because attempts that were in progress before may still be served.
     */
    boolean served(NextAttempt attempt) {
        failuresInARow = 0;
        failed.clear();
        boolean ends = lasts && (!pauseRequested || attempt == probe);
        if (ends) {
            lasts = false;
            pauseRequested = false;
            probe = null;
        }
        return ends;
    }

    /** Removes the attempt of a closed reflector. */
    void closed(NextAttempt attempt, double random) {
        failed.remove(attempt);
        probeEnded(attempt, random);
    }

    /** Returns the nanoseconds until the next probe may be made; at most 0 if it may be made now. */
    long untilProbe(long now) {
        return nextProbe - now;
    }

    void probeBegins(NextAttempt attempt, long now) {
        probe = attempt;
        probeBegan = now;
        nextProbe = now + PROBE_TIMEOUT;
    }

    /** Counts a failed attempt. Returns whether an outage begins with it. */
    private boolean countFailure(NextAttempt attempt, long reflectors, long now) {
        failed.add(attempt);
        failuresInARow++;
        if (lasts || failuresInARow < THRESHOLD || failed.size() < Math.min(THRESHOLD, reflectors)) {
            return false;
        }
        lasts = true;
        since = now;
        backoff.reset();
        return true;
    }

    private void probeEnded(NextAttempt attempt, double random) {
        if (probe == attempt) {
            probe = null;
            Duration outage = Duration.ofNanos(probeBegan - since);
            nextProbe = probeBegan + backoff.pause(outage, random).toNanos();
        }
    }
}
