package dev.podcache;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;

/** Durations of which the median, the 99th percentile and the greatest count. */
final class Latencies {

    private static final double NANOS_PER_MILLI = 1e6;

    private final long[] nanos;
    private int size;

    Latencies(int capacity) {
        nanos = new long[capacity];
    }

    void add(long duration) {
        nanos[size++] = duration;
    }

    /** Puts them in milliseconds, under names that begin with {@code name}. */
    void putInto(Map<String, Object> figures, String name) {
        figures.put(name + "Median", at(0.5));
        figures.put(name + "P99", at(0.99));
        figures.put(name + "Max", at(1));
    }

    private double at(double quantile) {
        long[] sorted = Arrays.copyOf(nanos, size);
        Arrays.sort(sorted);
        int rank = (int) Math.ceil(quantile * size) - 1;
        return rounded(sorted[Math.max(0, rank)]);
    }

    /** Nanoseconds as milliseconds with two digits. */
    static double rounded(long nanos) {
        return Double.parseDouble(String.format(Locale.ROOT, "%.2f", nanos / NANOS_PER_MILLI));
    }
}
