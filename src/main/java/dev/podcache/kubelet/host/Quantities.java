package dev.podcache.kubelet.host;

import com.google.common.collect.ImmutableList;
import dev.podcache.object.Amounts;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.api.model.Quantity;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.regex.Pattern;

/**
 * Parses quantities, and formats them as the API server stores them, so that a computed status and the stored one have
 * the same text.
 */
public final class Quantities {

    private static final Pattern SYNTAX =
            Pattern.compile("[+-]?(\\d+(\\.\\d*)?|\\.\\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\\d{1,3})?");
    private static final ImmutableList<String> BINARY = ImmutableList.of("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei");
    private static final ImmutableList<String> DECIMAL = ImmutableList.of("", "k", "M", "G", "T", "P", "E");
    private static final BigDecimal MILLIS = BigDecimal.valueOf(1000);

    private Quantities() {}

    /**
     * Parses a quantity.
     *
     * @param what the use of the quantity, for the message
     * @throws IllegalArgumentException if {@code text} is not a quantity
     */
    public static Quantity parse(String what, String text) {
        if (!SYNTAX.matcher(text).matches()) {
            throw new IllegalArgumentException(Quoted.value(text) + " is not a quantity for " + what
                    + ": write a number with an optional suffix, such as 500m, 2, 100Mi or 10Gi");
        }
        return Quantity.parse(text);
    }

    /** Returns the amount as a whole number, rounded up, and limited to the range of a {@code long}. */
    public static long whole(Quantity quantity) {
        return Amounts.of(quantity).setScale(0, RoundingMode.CEILING).longValueExact();
    }

    public static Quantity of(String resource, long amount) {
        return of(resource, BigDecimal.valueOf(amount));
    }

    /** Returns {@code amount} in canonical form: bytes in powers of 1024, other resources in powers of 1000. */
    public static Quantity of(String resource, BigDecimal amount) {
        BigDecimal stripped = amount.stripTrailingZeros();
        if (stripped.scale() > 0) {
            BigDecimal millis = amount.multiply(MILLIS).setScale(0, RoundingMode.CEILING);
            return new Quantity(millis.toPlainString(), "m");
        }
        return ResourceNames.isBytes(resource) ? scaled(stripped, 1024, BINARY) : scaled(stripped, 1000, DECIMAL);
    }

    private static Quantity scaled(BigDecimal whole, long step, ImmutableList<String> suffixes) {
        BigDecimal base = BigDecimal.valueOf(step);
        BigDecimal rest = whole;
        int power = 0;
        while (rest.signum() != 0
                && power + 1 < suffixes.size()
                && rest.remainder(base).signum() == 0) {
            rest = rest.divide(base);
            power++;
        }
        return new Quantity(rest.toPlainString(), suffixes.get(power));
    }
}
