package dev.podcache.object;

import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.math.RoundingMode;

/**
 * Converts Kubernetes resource quantities to numbers.
 *
 * @hidden
 */
@NotApi
public final class Amounts {

    private static final BigDecimal MOST = BigDecimal.valueOf(Long.MAX_VALUE);
    private static final int NANO = 9;
    private static final BigDecimal LEAST = BigDecimal.ONE.movePointLeft(NANO);

    private Amounts() {}

    /**
     * Returns the number that {@code quantity} stands for, limited to plus or minus 2^63 - 1 and rounded up to whole
     * billionths, the limits of Kubernetes' own arithmetic. The result therefore has few digits and is cheap to compute
     * with. API servers also store other quantities: {@code 1e99999999} stands for a number of a hundred million
     * digits, to which adding one takes minutes.
     *
     * @throws IllegalArgumentException if {@code quantity} is not a valid quantity
     */
    public static BigDecimal of(Quantity quantity) {
        BigDecimal amount = number(quantity);
        // compareTo looks at the order of magnitude first; rounding would write out all digits
        if (amount.abs().compareTo(LEAST) < 0) {
            return amount.signum() > 0 ? LEAST : BigDecimal.ZERO;
        }
        return amount.min(MOST)
                .max(MOST.negate())
                .setScale(NANO, RoundingMode.CEILING)
                .stripTrailingZeros();
    }

    private static BigDecimal number(Quantity quantity) {
        try {
            return quantity.getNumericalAmount();
        } catch (ArithmeticException e) {
            throw new IllegalArgumentException(quantity + " is not a valid quantity: its exponent is too large", e);
        }
    }
}
