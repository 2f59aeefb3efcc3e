package dev.podcache.reflector;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Retries;
import dev.podcache.object.FailureReason;
import java.time.Duration;
import java.util.function.DoubleSupplier;

/**
 * How long one reflector waits after each of its failures in a row: at most 200 ms after the first, twice as long after
 * each further one, up to 30 s; shorter after a refusal, see {@link Retries}. Hence a list that is refused (403) is made
 * four times in its first second, which is how long a get waits for it. What the server asks for (Retry-After) is
 * lengthened by up to 2 s at random, so that those who were asked together do not come back together. A forgotten
 * version (410) needs no pause: the list that mends it is made at once, unless the one before it failed. It does not apply while the {@link Recovery} decides for all. Touched in
 * steps of its {@link ReflectorLoop} only.
 */
final class RetryPauses {

    private static final Retries RETRIES = new Retries(Duration.ofMillis(200), Duration.ofSeconds(30));
    private static final long ASKED_JITTER = Duration.ofSeconds(2).toNanos();

    /** So many watches in a row may end early; a server that restarts or moves its watches ends one or two. */
    private static final int EARLY_ENDS_ALLOWED = 2;

    private final DoubleSupplier random;
    private int failures;
    private int earlyEnds;
    private boolean lastForgotten;

    /**
     * No failures yet.
     *
     * @param random uniform in [0, 1)
     */
    RetryPauses(DoubleSupplier random) {
        this.random = random;
    }

    /** All is well: the next failure is a first one. */
    void reset() {
        failures = 0;
        lastForgotten = false;
    }

    /** A watch ended, early or not. Returns whether that was one early end too many, and so is a failure. */
    boolean endedEarlyAgain(boolean early) {
        earlyEnds = early ? earlyEnds + 1 : 0;
        return earlyEnds > EARLY_ENDS_ALLOWED;
    }

    /** The pause after one more failure. */
    Duration after(ApiServerException failure) {
        // an event resets the failures, but not the early ends of watches that bring one each
        failures = Math.max(failures, earlyEnds - EARLY_ENDS_ALLOWED - 1) + 1;
        boolean forgotten = failure.reason() == FailureReason.EXPIRED;
        boolean atOnce = forgotten && !lastForgotten;
        lastForgotten = forgotten;
        Duration pause = (atOnce ? Retries.atOnce() : RETRIES).pause(failures, random.getAsDouble(), failure);
        return Retries.asksForPause(failure) ? pause.plusNanos((long) (ASKED_JITTER * random.getAsDouble())) : pause;
    }
}
