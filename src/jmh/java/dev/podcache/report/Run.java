package dev.podcache.report;

import dev.podcache.cli.output.Spread;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * One benchmark with one set of parameters, as JMH ran it.
 *
 * @param benchmark class and method, such as {@code GetHitBenchmark.hit}
 * @param params the values of its parameters
 * @param threads how many threads ran it
 * @param unit such as {@code ns/op}
 * @param forks the time of each iteration, by fork
 * @param counters events of each iteration, by name and fork
 */
record Run(
        String benchmark,
        Map<String, String> params,
        int threads,
        String unit,
        List<List<Double>> forks,
        Map<String, List<List<Double>>> counters) {

    /** Whether both are the same benchmark with the same parameters. */
    boolean isLike(Run other) {
        return benchmark.equals(other.benchmark) && params.equals(other.params) && threads == other.threads;
    }

    /** Adds the forks of a later run. */
    Run plus(Run later) {
        Map<String, List<List<Double>>> allCounters = new LinkedHashMap<>();
        counters.forEach((name, values) ->
                allCounters.put(name, joined(values, later.counters.getOrDefault(name, List.of()))));
        return new Run(benchmark, params, threads, unit, joined(forks, later.forks), allCounters);
    }

    private static List<List<Double>> joined(List<List<Double>> first, List<List<Double>> second) {
        List<List<Double>> all = new ArrayList<>(first);
        all.addAll(second);
        return all;
    }

    /** The best iteration of each fork. */
    Spread best() {
        return Spread.of(forks.stream().map(Collections::min).toList());
    }

    /** The median iteration of each fork. */
    Spread typical() {
        return Spread.of(forks.stream().map(Run::median).toList());
    }

    /** The best iterations, fork by fork, to those of {@code other}. */
    Spread bestTo(Run other) {
        return compared(other, Collections::min, (mine, others) -> mine / others);
    }

    /** The median iterations, fork by fork, to those of {@code other}. */
    Spread typicalTo(Run other) {
        return compared(other, Run::median, (mine, others) -> mine / others);
    }

    /** The best iterations, fork by fork, less those of {@code other}. */
    Spread bestLess(Run other) {
        return compared(other, Collections::min, (mine, others) -> mine - others);
    }

    private interface PairwiseComparison {
        double of(double mine, double others);
    }

    private Spread compared(Run other, ToDoubleFunction<List<Double>> summary, PairwiseComparison comparison) {
        return Spread.of(IntStream.range(0, Math.min(forks.size(), other.forks.size()))
                .mapToObj(i ->
                        comparison.of(summary.applyAsDouble(forks.get(i)), summary.applyAsDouble(other.forks.get(i))))
                .toList());
    }

    /** The medians, fork by fork, of a counter that is a rate. */
    Spread rate(String counter) {
        return Spread.of(counters.get(counter).stream().map(Run::median).toList());
    }

    /** How many of {@code counter} there were for each of {@code events}, fork by fork. */
    Spread per(String counter, String events) {
        List<List<Double>> counted = counters.get(counter);
        List<List<Double>> of = counters.get(events);
        return Spread.of(IntStream.range(0, counted.size())
                .mapToObj(i -> sum(counted.get(i)) / sum(of.get(i)))
                .toList());
    }

    private static double sum(List<Double> values) {
        return values.stream().mapToDouble(Double::doubleValue).sum();
    }

    private static double median(List<Double> values) {
        return Spread.of(values).median();
    }
}
