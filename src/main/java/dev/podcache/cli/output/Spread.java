package dev.podcache.cli.output;

import dev.podcache.object.Numbers;
import java.util.List;

/** The median of some values, with the lowest and the highest. */
public record Spread(double low, double median, double high) {

    /**
     * Returns the spread of some values.
     *
     * @throws IllegalArgumentException if there are none
     */
    public static Spread of(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        if (sorted.isEmpty()) {
            throw new IllegalArgumentException("nothing was measured");
        }
        int middle = sorted.size() / 2;
        double median = sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
        return new Spread(sorted.get(0), median, sorted.get(sorted.size() - 1));
    }

    /** Returns the same in another unit. */
    public Spread times(double factor) {
        return new Spread(low * factor, median * factor, high * factor);
    }

    /** Whether every value is at most {@code limit}. */
    public boolean isWithin(double limit) {
        return high <= limit;
    }

    /** The median, and in brackets the lowest and the highest where they differ from it. */
    public String text() {
        String shown = Numbers.text(median);
        String from = Numbers.text(low);
        String to = Numbers.text(high);
        return from.equals(shown) && to.equals(shown) ? shown : shown + " (" + from + " to " + to + ")";
    }
}
