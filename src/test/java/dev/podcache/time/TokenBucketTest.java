package dev.podcache.time;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class TokenBucketTest {

    private static final Duration INTERVAL = Duration.ofMillis(100);

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final TokenBucket bucket = new TokenBucket(10, 3, time);

    @Test
    void take_full_givesTheBurstAtOnce() {
        for (int i = 0; i < 3; i++) {
            assertThat(bucket.take(Duration.ZERO)).hasValue(Duration.ZERO);
        }

        assertThat(bucket.take(Duration.ZERO)).isEmpty();
        assertThat(bucket.untilNext()).isEqualTo(INTERVAL);
    }

    @Test
    void take_empty_saysHowLongToWait_inTheOrderOfAsking() {
        empty();

        assertThat(bucket.take(Duration.ofSeconds(1))).hasValue(INTERVAL);
        assertThat(bucket.take(Duration.ofSeconds(1))).hasValue(INTERVAL.multipliedBy(2));
    }

    @Test
    void take_tooLateForTheCaller_leavesTheToken() {
        empty();

        assertThat(bucket.take(INTERVAL)).isEmpty();
        assertThat(bucket.take(INTERVAL.plusNanos(1))).hasValue(INTERVAL);
    }

    @Test
    void take_afterAWhile_findsNoMoreThanTheBurst() {
        empty();
        time.advance(Duration.ofHours(1));

        empty();
        assertThat(bucket.take(Duration.ZERO)).isEmpty();
    }

    @Test
    void untilNext_full_isZero() {
        assertThat(bucket.untilNext()).isZero();
    }

    /** Whoever wants no bound gives the largest burst there is. */
    @Test
    void take_largestBurst_isFree() {
        TokenBucket unbounded = new TokenBucket(0.2, Integer.MAX_VALUE, time);

        for (int i = 0; i < 1000; i++) {
            assertThat(unbounded.take(Duration.ZERO)).contains(Duration.ZERO);
        }
    }

    private void empty() {
        for (int i = 0; i < 3; i++) {
            assertThat(bucket.take(Duration.ZERO)).isPresent();
        }
    }
}
