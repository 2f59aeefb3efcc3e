package dev.podcache.time;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class TokenBucketTest {

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final TokenBucket bucket = new TokenBucket(10, 3, time);

    @Test
    void take_burst_isFreeAndThenOneIntervalEach() {
        for (int i = 0; i < 3; i++) {
            assertThat(bucket.take(PATIENCE)).contains(Duration.ZERO);
        }
        assertThat(bucket.take(PATIENCE)).contains(Duration.ofMillis(100));
        assertThat(bucket.take(PATIENCE)).contains(Duration.ofMillis(200));
    }

    @Test
    void take_afterAQuietTime_isFreeAgainButNeverMoreThanTheBurst() {
        time.advance(Duration.ofHours(1));
        for (int i = 0; i < 3; i++) {
            bucket.take(PATIENCE);
        }

        assertThat(bucket.take(PATIENCE)).contains(Duration.ofMillis(100));
    }

    @Test
    void take_longerWaitThanPatience_takesNothing() {
        for (int i = 0; i < 3; i++) {
            bucket.take(PATIENCE);
        }
        assertThat(bucket.take(Duration.ofMillis(100))).isEmpty();
        assertThat(bucket.take(Duration.ofMillis(100))).isEmpty();

        assertThat(bucket.take(PATIENCE)).contains(Duration.ofMillis(100));
    }

    /** Whoever wants no bound gives the largest burst there is. */
    @Test
    void take_largestBurst_isFree() {
        TokenBucket unbounded = new TokenBucket(0.2, Integer.MAX_VALUE, time);

        for (int i = 0; i < 1000; i++) {
            assertThat(unbounded.take(PATIENCE)).contains(Duration.ZERO);
        }
    }
}
