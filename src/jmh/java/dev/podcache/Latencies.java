package dev.podcache;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

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

    /** In milliseconds. */
    Map<String, Object> summary() {
        return new TreeMap<>(Map.of("n", size, "median", at(0.5), "p99", at(0.99), "max", at(1)));
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
