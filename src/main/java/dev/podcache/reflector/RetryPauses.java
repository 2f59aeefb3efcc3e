package dev.podcache.reflector;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Retries;
import dev.podcache.object.FailureReason;
import dev.podcache.reflector.AttemptQueues.NextAttempt;
import java.time.Duration;

/**
 * The pauses of one reflector after failures in a row: at most 200 ms after the first, then doubling up to 30 s. A
 * refusal for which the sink names a pause of its own does not count. A pause that the server asked for (Retry-After) is extended by up to 2 s at random,
 * so that clients that got the same answer do not return together. An expired version (410) needs no pause: the list
 * that repairs it is made at once, unless the attempt before failed the same way. During an outage, the {@link
 * Recovery} decides for all reflectors instead. Used in steps of its {@link Reflector} only.
 */
final class RetryPauses {

    private static final Retries RETRIES = new Retries(Duration.ofMillis(200), Duration.ofSeconds(30));
    private static final long ASKED_JITTER = Duration.ofSeconds(2).toNanos();

    /** How many watches in a row may end early; a server that restarts or moves its watches ends one or two. */
    private static final int EARLY_ENDS_ALLOWED = 2;

    private int failures;
    private int earlyEnds;
    private boolean lastExpired;

    /** Forgets the failures: the next one is a first failure. */
    void reset() {
        failures = 0;
        lastExpired = false;
    }

    /** Records the end of a watch. Returns whether it counts as a failure, because too many in a row ended early. */
    boolean endedEarlyAgain(boolean early) {
        earlyEnds = early ? earlyEnds + 1 : 0;
        return earlyEnds > EARLY_ENDS_ALLOWED;
    }

    /**
     * Returns the pause after one more failure of a reflector; zero if {@code recovery} decides when to try again.
     *
     * @param attempt of the reflector; its outcome is reported to {@code recovery}
     */
    Duration after(ApiServerException failure, boolean wasAnswered, Recovery recovery, NextAttempt attempt) {
        boolean silent = failure.httpCode() == 0
                && (failure.reason() == FailureReason.UNAVAILABLE || failure.reason() == FailureReason.TIMEOUT);
        boolean inOutage = false;
        if (Retries.asksForPause(failure)) {
            inOutage = recovery.refused(attempt, Retries.askedPause(failure));
        } else if (failure.httpCode() > 0) {
            recovery.served(attempt);
        } else if (silent && !wasAnswered) {
            inOutage = recovery.unanswered(attempt);
        }
        return inOutage ? Duration.ZERO : ofReflector(failure, recovery);
    }

    /** Returns the pause after one more failure of a reflector, as if there were no others. */
    Duration ofReflector(ApiServerException failure, Recovery recovery) {
        // events reset the failures, but not the early ends: each such watch may bring one event
        failures = Math.max(failures, earlyEnds - EARLY_ENDS_ALLOWED - 1) + 1;
        boolean expired = failure.reason() == FailureReason.EXPIRED;
        boolean atOnce = expired && !lastExpired;
        lastExpired = expired;
        Duration pause = (atOnce ? Retries.atOnce() : RETRIES).pause(failures, recovery.random(), failure);
        return Retries.asksForPause(failure) ? pause.plusNanos((long) (ASKED_JITTER * recovery.random())) : pause;
    }
}
