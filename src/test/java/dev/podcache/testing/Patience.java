package dev.podcache.testing;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;

/** How long tests wait for what is sure to come. */
public final class Patience {

    /**
     * Only ends what hangs. What is waited for mostly comes within milliseconds, but a busy machine may not let us run
     * for many seconds. Less than the five minutes that a test may take, so that the test says what did not come.
     */
    public static final long SECONDS = 60;

    private Patience() {}

    /** Awaitility's, with this patience. */
    public static ConditionFactory await() {
        return Awaitility.await().atMost(Duration.ofSeconds(SECONDS));
    }
}
