package dev.podcache.testing;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** The time that tests wait for an expected event. */
public final class Patience {

    /**
     * Ends a test that hangs. Most events occur within milliseconds, but a busy machine may suspend this process for
     * many seconds. Shorter than the time limit of five minutes per test, so that the test can report the missing
     * event.
     */
    public static final long SECONDS = 60;

    private Patience() {}

    /** Returns an Awaitility condition factory with this time limit. */
    public static ConditionFactory await() {
        return Awaitility.await().atMost(Duration.ofSeconds(SECONDS));
    }
}
