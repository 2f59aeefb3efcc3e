package dev.podcache.apiserver.fabric8;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QpsLimiterTest {

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final QpsLimiter limiter = new QpsLimiter(new RequestLimit(10, 3), time);

    @Test
    void take_burst_isFreeAndThenOneIntervalEach() {
        for (int i = 0; i < 3; i++) {
            assertThat(limiter.take(PATIENCE)).contains(Duration.ZERO);
        }
        assertThat(limiter.take(PATIENCE)).contains(Duration.ofMillis(100));
        assertThat(limiter.take(PATIENCE)).contains(Duration.ofMillis(200));
    }

    @Test
    void take_afterAQuietTime_isFreeAgainButNeverMoreThanTheBurst() {
        time.advance(Duration.ofHours(1));
        for (int i = 0; i < 3; i++) {
            limiter.take(PATIENCE);
        }

        assertThat(limiter.take(PATIENCE)).contains(Duration.ofMillis(100));
    }

    @Test
    void take_longerWaitThanPatience_takesNothing() {
        for (int i = 0; i < 3; i++) {
            limiter.take(PATIENCE);
        }
        assertThat(limiter.take(Duration.ofMillis(100))).isEmpty();
        assertThat(limiter.take(Duration.ofMillis(100))).isEmpty();

        assertThat(limiter.take(PATIENCE)).contains(Duration.ofMillis(100));
    }

    /** Whoever wants no bound gives the largest burst there is. */
    @Test
    void take_largestBurst_isFree() {
        QpsLimiter unbounded = new QpsLimiter(new RequestLimit(0.2, Integer.MAX_VALUE), time);

        for (int i = 0; i < 1000; i++) {
            assertThat(unbounded.take(PATIENCE)).contains(Duration.ZERO);
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "-1, 1", "NaN, 1", "Infinity, 1", "1, 0"})
    void limit_thatLetsNothingThrough_isRefused(double perSecond, int burst) {
        assertThatThrownBy(() -> new RequestLimit(perSecond, burst))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(perSecond + " requests per second with a burst of " + burst);
    }
}
