package dev.podcache.kubelet.eviction;

import dev.podcache.kubelet.host.Quantities;
import dev.podcache.object.Amounts;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A part of a resource: an amount, or a share of the capacity. Immutable. Equal to a value of the same amount or share.
 *
 * <p>A percentage is a 32-bit float, as upstream, because its rounding is visible in the node's allocatable memory: 5 %
 * of 10 GiB are 536870920 bytes, not 536870912.
 */
public final class ThresholdValue {

    private static final Pattern PERCENTAGE = Pattern.compile("([+-]?(?:\\d+(?:\\.\\d*)?|\\.\\d+))%");

    private final long amount;
    private final float share;
    private final String text;

    private ThresholdValue(long amount, float share, String text) {
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
    static Optional<ThresholdValue> parse(EvictionSignal signal, String text) {
        if (text.equals("0%") || text.equals("100%")) {
            return Optional.empty();
        }
        if (text.endsWith("%")) {
            float share = parsePercentage(text);
            if (share < 0 || share > 1) {
                throw new IllegalArgumentException("eviction percentage threshold " + signal
                        + " must be at least 0% and at most 100%, but is " + text);
            }
            return Optional.of(new ThresholdValue(0, share, text));
        }
        Quantity quantity = Quantities.parse("the eviction threshold " + signal, text);
        if (Amounts.of(quantity).signum() <= 0) {
            throw new IllegalArgumentException("eviction threshold " + signal + " must be positive, but is " + text
                    + "; use 0% to disable the signal");
        }
        return Optional.of(new ThresholdValue(Quantities.whole(quantity), 0, text));
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

    /**
     * Parses a value of {@code evictionMinimumReclaim}.
     *
     * @throws IllegalArgumentException if {@code text} is neither a quantity of at least 0 nor a positive percentage
     */
    static ThresholdValue parseReclaim(EvictionSignal signal, String text) {
        if (text.endsWith("%")) {
            float share = parsePercentage(text);
            if (share <= 0) {
                throw new IllegalArgumentException("eviction percentage minimum reclaim " + signal
                        + " must be positive, but is " + text + "; leave it out to reclaim no more than the threshold");
            }
            return new ThresholdValue(0, share, text);
        }
        Quantity quantity = Quantities.parse("the minimum reclaim of " + signal, text);
        if (Amounts.of(quantity).signum() < 0) {
            throw new IllegalArgumentException(
                    "negative eviction minimum reclaim specified for " + signal + ": " + text + "; use 0 or more");
        }
        return new ThresholdValue(Quantities.whole(quantity), 0, text);
    }

    /** Returns the amount if the capacity is {@code capacity}. */
    public long of(long capacity) {
        return share == 0 ? amount : (long) ((double) capacity * (double) share);
    }

    /** Returns the amount as a quantity, such as {@code 2Gi}, for people. */
    String quantity(long capacity) {
        boolean binary = share != 0 || text.endsWith("i");
        return binary ? ResourceText.bytes(of(capacity)) : ResourceText.count(of(capacity));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ThresholdValue value && amount == value.amount && share == value.share;
    }

    @Override
    public int hashCode() {
        return Objects.hash(amount, share);
    }

    @Override
    public String toString() {
        return text;
    }
}
