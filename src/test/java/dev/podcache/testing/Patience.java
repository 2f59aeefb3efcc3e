package dev.podcache.testing;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.awaitility.pollinterval.IterativePollInterval;
import org.awaitility.pollinterval.PollInterval;

/** The time that tests wait for an expected event. */
public final class Patience {

    /**
     * Ends a test that hangs. Most events occur within milliseconds, but a busy machine may suspend this process for
     * many seconds. Shorter than the time limit of five minutes per test, so that the test can report the missing
     * event.
     */
    public static final long SECONDS = 120;

    private static final Duration LONGEST_PAUSE = Duration.ofMillis(100);

    /** From 2 ms on, and each half as long again as the one before: so a wait is at most half as long again as the event takes. */
    private static final PollInterval PAUSES =
            IterativePollInterval.iterative(Patience::nextPause, Duration.ofMillis(2));

    private Patience() {}

    /**
     * Returns an Awaitility condition factory with this time limit. It looks after a few milliseconds for the first time,
     * then less and less often, down to ten times a second.
     */
    public static ConditionFactory await() {
        return Awaitility.await().pollInterval(PAUSES).atMost(Duration.ofSeconds(SECONDS));
    }

    private static Duration nextPause(Duration pause) {
        Duration next = pause.multipliedBy(3).dividedBy(2);
        return next.compareTo(LONGEST_PAUSE) < 0 ? next : LONGEST_PAUSE;
    }
}
