package dev.podcache.object;

import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.math.RoundingMode;

/** The numbers that quantities of resources stand for. */
public final class Amounts {

    private static final BigDecimal MOST = BigDecimal.valueOf(Long.MAX_VALUE);
    private static final int NANO = 9;
    private static final BigDecimal LEAST = BigDecimal.ONE.movePointLeft(NANO);

    private Amounts() {}

    /**
     * What {@code quantity} amounts to, within 2^63 - 1 either way, which is as far as Kubernetes itself computes with
     * amounts, and rounded up to whole billionths, its smallest unit. So it has few digits, whatever is computed with
     * it. API servers store others, too: ten characters such as {@code 1e99999999} name a number of a hundred million
     * digits, to which adding one takes minutes.
     *
     * @throws IllegalArgumentException if that is no quantity
     */
    public static BigDecimal of(Quantity quantity) {
        BigDecimal amount = number(quantity);
        // comparing looks at the order of magnitude first, rounding would write down all digits
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
            throw new IllegalArgumentException(quantity + " is no quantity: its exponent is beyond all numbers", e);
        }
    }
}
