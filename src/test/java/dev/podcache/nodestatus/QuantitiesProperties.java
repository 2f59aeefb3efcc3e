package dev.podcache.nodestatus;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;

class QuantitiesProperties {

    /** Among others numbers near the powers of 1000 and 1024, where suffixes change. */
    @Property
    void of_anyWholeAmount_isWrittenWithoutLossForBytesAndOthers(
            @ForAll long any, @ForAll @LongRange(max = 5) long power, @ForAll @LongRange(min = -1, max = 1) long off) {
        long binary = (any % 1024 << 10 * power) + off;
        long decimal = any % 1000 * (long) Math.pow(1000, power) + off;
        for (long amount : new long[] {any, binary, decimal}) {
            assertReadsAs(amount, Quantities.of("memory", amount));
            assertReadsAs(amount, Quantities.of("pods", amount));
        }
    }

    private static void assertReadsAs(long amount, Quantity quantity) {
        assertThat(Quantities.number(Quantities.parse("it", quantity.toString())))
                .isEqualByComparingTo(BigDecimal.valueOf(amount));
    }
}
