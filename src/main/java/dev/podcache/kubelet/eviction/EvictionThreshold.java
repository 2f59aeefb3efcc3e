package dev.podcache.kubelet.eviction;

import dev.podcache.kubelet.host.HostFacts.Supply;
import dev.podcache.kubelet.host.Quantities;
import dev.podcache.object.Amounts;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The least that must be available of a resource: an amount, or a share of the capacity. Immutable.
 *
 * <p>A percentage is a 32-bit float, as upstream, because its rounding is visible in the node's allocatable memory: 5 %
 * of 10 GiB are 536870920 bytes, not 536870912.
 */
public final class EvictionThreshold {

    private static final Pattern PERCENTAGE = Pattern.compile("([+-]?(?:\\d+(?:\\.\\d*)?|\\.\\d+))%");

    private final long amount;
    private final float share;
    private final String text;

    private EvictionThreshold(long amount, float share, String text) {
        this.amount = amount;
        this.share = share;
        this.text = text;
    }

    /**
     * Parses a value of {@code evictionHard}.
     *
     * @return empty for {@code 0%} and {@code 100%}, which disable the signal
     * @throws IllegalArgumentException if {@code text} is neither a positive quantity nor a percentage from 0 to 100
     */
    static Optional<EvictionThreshold> parse(EvictionSignal signal, String text) {
        if (text.equals("0%") || text.equals("100%")) {
            return Optional.empty();
        }
        if (text.endsWith("%")) {
            float share = parsePercentage(text);
            if (share < 0 || share > 1) {
                throw new IllegalArgumentException("eviction percentage threshold " + signal
                        + " must be at least 0% and at most 100%, but is " + text);
            }
            return Optional.of(new EvictionThreshold(0, share, text));
        }
        Quantity quantity = Quantities.parse("the eviction threshold " + signal, text);
        if (Amounts.of(quantity).signum() <= 0) {
            throw new IllegalArgumentException("eviction threshold " + signal + " must be positive, but is " + text
                    + "; use 0% to disable the signal");
        }
        return Optional.of(new EvictionThreshold(Quantities.whole(quantity), 0, text));
    }

    /**
     * Parses a percentage to a fraction, such as {@code 25.5%} to 0.255.
     *
     * @throws IllegalArgumentException if {@code text} is not a number with a percent sign
     */
    static float parsePercentage(String text) {
        var percentage = PERCENTAGE.matcher(text);
        if (!percentage.matches()) {
            throw new IllegalArgumentException(Quoted.value(text)
                    + " is not a percentage: write a number with a percent sign, such as 10% or 7.5%");
        }
        return Float.parseFloat(percentage.group(1)) / 100;
    }

    /** Returns the least that must be available if the capacity is {@code capacity}. */
    public long of(long capacity) {
        return amount > 0 ? amount : (long) ((double) capacity * (double) share);
    }

    /** Returns whether less is available than this threshold. */
    boolean isMet(Supply supply) {
        return supply.available() < of(supply.capacity());
    }

    @Override
    public String toString() {
        return text;
    }
}
