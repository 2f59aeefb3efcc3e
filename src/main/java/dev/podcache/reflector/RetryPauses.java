package dev.podcache.reflector;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Retries;
import dev.podcache.object.FailureReason;
import java.time.Duration;
import java.util.function.DoubleSupplier;

/**
 * How long to wait after each of the failures in a row: at most 200 ms after the first, twice as long after each
 * further one, up to 30 s; longer if the server asked for it, and shorter after a refusal, see {@link Retries}. Hence a
 * list that is refused (403) is made four times in its first second, which is how long a get waits for it. A forgotten
 * version (410) is no trouble: the list that mends it is made at once, unless the one before it was in vain. Guarded by
 * the lock of its {@link Reflector}.
 */
final class RetryPauses {

    private static final Retries RETRIES = new Retries(Duration.ofMillis(200), Duration.ofSeconds(30));

    private final DoubleSupplier random;
    private int failures;
    private boolean lastForgotten;

    /**
     * No failures yet.
     *
     * @param random uniform in [0, 1)
     */
    RetryPauses(DoubleSupplier random) {
        this.random = random;
    }

    /**
     * Whether the last attempt failed, or all is so newly well that the next failure still
     * counts as another one in a row.
     */
    boolean failing() {
        return failures > 0;
    }

    /** All is well: the next failure is a first one. */
    void reset() {
        failures = 0;
        lastForgotten = false;
    }

    /** The pause after one more failure. */
    Duration after(ApiServerException failure) {
        failures++;
        // after a restart of the server this is the answer that ends the outage: waiting would only prolong it
        boolean forgotten = failure.reason() == FailureReason.EXPIRED;
        boolean atOnce = forgotten && !lastForgotten;
        lastForgotten = forgotten;
        return (atOnce ? Retries.atOnce() : RETRIES).pause(failures, random.getAsDouble(), failure);
    }
}
