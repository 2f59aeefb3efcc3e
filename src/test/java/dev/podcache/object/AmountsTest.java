package dev.podcache.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class AmountsTest {

    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "2, 2",
        "2000m, 2",
        "10Gi, 10737418240",
        "-1k, -1000",
        "1e3, 1000",
        "1n, 0.000000001",
        "0.1n, 0.000000001",
        "1.5n, 0.000000002",
        "-0.1n, 0",
        "9Ei, 9223372036854775807",
        "-9Ei, -9223372036854775807",
        "12345678901234567890123, 9223372036854775807"
    })
    void of_quantity_isThatNumberWithinBounds(String text, BigDecimal expected) {
        assertThat(Amounts.of(Quantity.parse(text))).isEqualByComparingTo(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "1e999999999, 9223372036854775807",
        "-1e999999999, -9223372036854775807",
        "1e-999999999, 0.000000001",
        "-1e-999999999, 0"
    })
    void of_exponentOfAMilliard_costsNothing(String text, BigDecimal expected) {
        assertThat(Amounts.of(Quantity.parse(text)).add(BigDecimal.ONE))
                .isEqualByComparingTo(expected.add(BigDecimal.ONE));
    }

    @ParameterizedTest
    @ValueSource(strings = {"1e1000000000", "1e2147483647"})
    void of_exponentBeyondAllNumbers_isRefused(String text) {
        assertThatThrownBy(() -> Amounts.of(new Quantity("1", text.substring(1))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(text);
    }
}
