package dev.podcache.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullAndEmptySource;
import org.junit.jupiter.params.provider.ValueSource;

class ApiTimeTest {

    @Test
    void of_fractionOfASecond_isLeftOut() {
        assertThat(ApiTime.of(Instant.parse("2026-01-01T00:00:00.999999999Z"))).isEqualTo("2026-01-01T00:00:00Z");
    }

    @ParameterizedTest
    @CsvSource({
        "2026-01-01T00:00:00Z, 2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00.999Z, 2026-01-01T00:00:00Z",
        "2026-01-01T02:00:00+02:00, 2026-01-01T00:00:00Z",
        "2026-01-01t00:00:00z, 2026-01-01T00:00:00Z",
        "2026-01-01t00:00:00Z, 2026-01-01T00:00:00Z",
        "2026-01-01T00:00:00z, 2026-01-01T00:00:00Z",
        "2026-01-01T24:00:00Z, 2026-01-02T00:00:00Z",
        "2026-12-31T23:59:60Z, 2026-12-31T23:59:59Z",
    })
    void truncated_time_isWholeSecondsInUtc(String time, String expected) {
        assertThat(ApiTime.truncated(time)).isEqualTo(expected);
    }

    @ParameterizedTest
    @NullAndEmptySource
    void truncated_noText_isNull(String none) {
        assertThat(ApiTime.truncated(none)).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"yesterday", "2026-13-01T00:00:00Z", "2026-01-01T00:00:0.Z", "2026/01/01T00/00/00Z"})
    void truncated_noTime_staysForTheServerToRefuse(String noTime) {
        assertThat(ApiTime.truncated(noTime)).isEqualTo(noTime);
    }
}
