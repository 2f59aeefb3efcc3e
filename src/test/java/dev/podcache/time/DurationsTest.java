package dev.podcache.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationsTest {

    @ParameterizedTest
    @CsvSource({
        "PT0S, 0s",
        "PT0.5S, 500ms",
        "PT0.0015S, 1.5ms",
        "PT1.5S, 1.5s",
        "PT1H30S, 1h0m30s",
        "PT20S, 20s",
        "PT-1S, -1s"
    })
    void text_duration_isAsGoPrintsIt(Duration duration, String text) {
        assertThat(Durations.text(duration)).isEqualTo(text);
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -9_300_000_000L, -1, 0, 1, 30, 9_300_000_000L, Long.MAX_VALUE})
    void ofSeconds_anyNumber_canBeComputedWith(long seconds) {
        Duration duration = Durations.ofSeconds(seconds);

        assertThat(duration.plus(duration).toNanos() / 2).isEqualTo(Durations.nanos(duration));
        assertThat(Long.signum(duration.toSeconds())).isEqualTo(Long.signum(seconds));
        assertThat(Durations.nanos(Duration.ofSeconds(seconds))).isEqualTo(duration.toNanos());
        if (seconds >= -30 && seconds <= 30) {
            assertThat(duration).isEqualTo(Duration.ofSeconds(seconds));
        }
    }
}
