package dev.podcache.kubelet.eviction;

import dev.podcache.kubelet.host.HostFacts.Supply;
import dev.podcache.kubelet.nodestatus.Quantities;
import dev.podcache.object.Amounts;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * How little of something is too little: an amount, or a part of the capacity. Immutable.
 *
 * <p>A percentage is a 32-bit float, as it is upstream, because what is reserved for it shows in the allocatable memory
 * of the node: 5 % of 10 GiB are 536870920 bytes, not 536870912.
 */
public final class EvictionThreshold {

    private static final Pattern PERCENTAGE = Pattern.compile("([+-]?(?:\\d+(?:\\.\\d*)?|\\.\\d+))%");

    private final long amount;
    private final float part;
    private final String text;

    private EvictionThreshold(long amount, float part, String text) {
        this.amount = amount;
        this.part = part;
        this.text = text;
    }

    /**
     * Reads a value of {@code evictionHard}.
     *
     * @return empty for what switches the signal off, {@code 0%} and {@code 100%}
     * @throws IllegalArgumentException if it is neither a positive quantity nor a percentage of at most 100
     */
    static Optional<EvictionThreshold> parse(EvictionSignal signal, String text) {
        if (text.equals("0%") || text.equals("100%")) {
            return Optional.empty();
        }
        if (text.endsWith("%")) {
            float part = parsePercentage(text);
            if (part < 0 || part > 1) {
                throw new IllegalArgumentException("eviction percentage threshold " + signal
                        + " must be at least 0% and at most 100%, and is " + text);
            }
            return Optional.of(new EvictionThreshold(0, part, text));
        }
        Quantity quantity = Quantities.parse("the eviction threshold " + signal, text);
        if (Amounts.of(quantity).signum() <= 0) {
            throw new IllegalArgumentException("eviction threshold " + signal + " must be positive, and is " + text
                    + ": 0% switches the signal off");
        }
        return Optional.of(new EvictionThreshold(Quantities.whole(quantity), 0, text));
    }

    /**
     * The part of one, such as 0.255 for {@code 25.5%}.
     *
     * @throws IllegalArgumentException if that is not a number with a percent sign
     */
    static float parsePercentage(String text) {
        var percentage = PERCENTAGE.matcher(text);
        if (!percentage.matches()) {
            throw new IllegalArgumentException(Quoted.value(text)
                    + " is not a percentage: write a number with a percent sign, such as 10% or 7.5%");
        }
        return Float.parseFloat(percentage.group(1)) / 100;
    }

    /** The least of {@code capacity} that must be left. */
    public long of(long capacity) {
        return amount > 0 ? amount : (long) ((double) capacity * (double) part);
    }

    /** Whether less is available than there must be. */
    boolean isMet(Supply supply) {
        return supply.available() < of(supply.capacity());
    }

    @Override
    public String toString() {
        return text;
    }
}
