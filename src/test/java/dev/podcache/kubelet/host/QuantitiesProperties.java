package dev.podcache.kubelet.host;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.Amounts;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

class QuantitiesProperties {

    /** Less than an exbibyte, because fabric8 reads its suffix with only 16 digits. */
    private static final long MOST = (1L << 60) - 2;

    /** Includes numbers near the powers of 1000 and 1024, where suffixes change. */
    @Property
    void of_anyWholeAmount_isWrittenWithoutLoss(
            @ForAll @LongRange(max = MOST) long any,
            @ForAll @IntRange(max = 4) int power,
            @ForAll @LongRange(min = -1, max = 1) long off) {
        BigDecimal binary = BigDecimal.valueOf(1024).pow(power).multiply(BigDecimal.valueOf(any % 1024));
        BigDecimal decimal = BigDecimal.valueOf(1000).pow(power).multiply(BigDecimal.valueOf(any % 1000));
        for (BigDecimal amount : new BigDecimal[] {BigDecimal.valueOf(any), binary, decimal}) {
            BigDecimal near = amount.add(BigDecimal.valueOf(off));
            assertReadsAs(near, Quantities.of("memory", near));
            assertReadsAs(near, Quantities.of("pods", near));
        }
    }

    private static void assertReadsAs(BigDecimal amount, Quantity quantity) {
        assertThat(Amounts.of(Quantities.parse("it", quantity.toString()))).isEqualByComparingTo(amount);
    }
}
