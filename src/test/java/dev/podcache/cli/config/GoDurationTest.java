package dev.podcache.cli.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class GoDurationTest {

    private final GoDuration durations = new GoDuration();

    @ParameterizedTest
    @CsvSource({
        "15s, PT15S",
        "1m30s, PT1M30S",
        "500ms, PT0.5S",
        "1.5h, PT1H30M",
        "2h45m, PT2H45M",
        ".5s, PT0.5S",
        "1s500ms, PT1.5S",
        "7us, PT0.000007S",
        "7µs, PT0.000007S",
        "9ns, PT0.000000009S"
    })
    void convert_goSyntax_isThatLong(String text, Duration expected) {
        assertThat(durations.convert(text)).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "abc", "-5s", "15 s", "15S", "s", ".", "1m30", "1d", "PT15S", "1,5s", "+1s", "١s"})
    void convert_otherText_isRefusedWithTheTextAndTheRemedy(String text) {
        assertThatThrownBy(() -> durations.convert(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessage(
                        "\"" + text + "\" is not a duration: write a number with a unit, such as 15s, 1m30s or 500ms");
    }

    @ParameterizedTest
    @ValueSource(strings = {"10", "0.25", "0"})
    void convert_numberWithoutUnit_isRefusedAsInAFileAndNamesTheRemedy(String text) {
        assertThatThrownBy(() -> durations.convert(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessage("\"" + text + "\" has no unit: write " + text + "s for seconds");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0s", "0h0m", "0.1ns"})
    void convert_noTimeAtAll_isRefused(String text) {
        assertThatThrownBy(() -> durations.convert(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageStartingWith("\"" + text + "\" must be positive");
    }

    @Test
    void convert_longerThanALongOfNanoseconds_isRefused() {
        assertThatThrownBy(() -> durations.convert("9999999h"))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageStartingWith("\"9999999h\" is longer than 292 years");
    }

    @Test
    void convert_aPageOfText_isQuotedInPart() {
        assertThatThrownBy(() -> durations.convert("x".repeat(5000)))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageStartingWith("\"" + "x".repeat(80) + "...\" is not a duration");
    }
}
