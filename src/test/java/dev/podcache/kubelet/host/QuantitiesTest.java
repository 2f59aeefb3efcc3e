package dev.podcache.kubelet.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.object.Amounts;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class QuantitiesTest {

    /** The expected texts are those of Go's Quantity. */
    @ParameterizedTest
    @CsvSource({
        "cpu, 2, 2",
        "cpu, 1.8, 1800m",
        "cpu, 0.0001, 1m",
        "cpu, 0, 0",
        "pods, 110, 110",
        "pods, 5000, 5k",
        "example.com/gpu, 1000000, 1M",
        "memory, 1024, 1Ki",
        "memory, 1000, 1000",
        "memory, 25276514304, 24684096Ki",
        "memory, 20000000000, 19531250Ki",
        "memory, 694157320, 694157320",
        "ephemeral-storage, 270553174016, 264212084Ki",
        "hugepages-2Mi, 1073741824, 1Gi",
        "hugepages-1Gi, 0, 0",
        "memory, 1180591620717411303424, 1024Ei",
        "pods, 1000000000000000000000, 1000E"
    })
    void of_amount_isCanonical(String resource, BigDecimal amount, String expected) {
        Quantity quantity = Quantities.of(resource, amount);
        assertThat(quantity).hasToString(expected);
    }

    @ParameterizedTest
    @CsvSource({"10Gi, 10737418240", "500m, 0.5", "+2, 2", "1e3, 1000", ".5, 0.5", "2., 2", "-1k, -1000"})
    void parse_quantity_isThatNumber(String text, BigDecimal expected) {
        assertThat(Amounts.of(Quantities.parse("cpu", text))).isEqualByComparingTo(expected);
    }

    @ParameterizedTest
    @CsvSource({"0.5, 1", "1Ki, 1024", "9Ei, 9223372036854775807", "1e30, 9223372036854775807"})
    void whole_quantity_isRoundedUpAndBounded(String text, long expected) {
        assertThat(Quantities.whole(Quantities.parse("memory", text))).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "10 Gi", "Gi", "1GB", "1,5", "0x10", "10gi", "5%", "١", "1e9999"})
    void parse_otherText_isRefused(String text) {
        assertThatThrownBy(() -> Quantities.parse("cpu", text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("\"" + text + "\" is not a quantity for cpu: ");
    }
}
