package dev.podcache.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
}
