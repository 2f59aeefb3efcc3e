package dev.podcache.apiserver.fabric8;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RequestLimitTest {

    @ParameterizedTest
    @CsvSource({"0, 1", "-1, 1", "NaN, 1", "Infinity, 1", "1, 0"})
    void limit_thatLetsNothingThrough_isRefused(double perSecond, int burst) {
        assertThatThrownBy(() -> new RequestLimit(perSecond, burst))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(perSecond + " requests per second with a burst of " + burst);
    }
}
