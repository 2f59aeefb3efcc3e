package dev.podcache;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * How much more does a hit cost than a {@code ConcurrentHashMap}, with ten listeners?
 *
 * <p>Both are in one JVM and are asked in turns, an iteration each. {@link GetHitBenchmark} asks them in JVMs of their
 * own; there the map alone differs by 6 ns from JVM to JVM, which is as much as is to be measured here.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.main=dev.podcache.GetHitBesideMapBenchmark
 * }</pre>
 *
 * <p>Prints, for each JVM, the best and the median iteration of both, in nanoseconds. Takes three minutes.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(5)
@Warmup(iterations = 10, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 60, time = 200, timeUnit = TimeUnit.MILLISECONDS)
public class GetHitBesideMapBenchmark {

    /** The map, and whose turn it is. */
    @State(Scope.Benchmark)
    public static class Turns {

        private Lookup map;
        private boolean mapsTurn;

        /** Puts everything in. */
        @Setup
        public void fill(GetHitBenchmark.HeldObjects held) {
            map = held.held(HeldBy.CONCURRENT_HASH_MAP);
        }

        /** Gives the turn to the other. */
        @Setup(Level.Iteration)
        public void turn() {
            mapsTurn = !mapsTurn;
        }
    }

    /** A hit. */
    @Benchmark
    public HasMetadata hit(GetHitBenchmark.HeldObjects held, Turns turns, GetHitBenchmark.RequestOrder requests) {
        return turns.mapsTurn ? requests.next(turns.map) : held.find(requests);
    }

    /** Measures and prints. */
    public static void main(String[] args) throws Exception {
        List<String> rows = new ArrayList<>();
        for (RunResult run : new Runner(new OptionsBuilder()
                        .include(GetHitBesideMapBenchmark.class.getSimpleName())
                        .param("by", HeldBy.TTL_LISTENED.name(), HeldBy.WATCH_LISTENED.name())
                        .jvmArgs("-Xmx2g")
                        .build())
                .run()) {
            for (BenchmarkResult jvm : run.getBenchmarkResults()) {
                List<Double> map = new ArrayList<>();
                List<Double> ours = new ArrayList<>();
                for (IterationResult iteration : jvm.getIterationResults()) {
                    // the ten iterations that warm up are an even number, so the map begins
                    (map.size() == ours.size() ? map : ours)
                            .add(iteration.getPrimaryResult().getScore());
                }
                map.sort(null);
                ours.sort(null);
                rows.add(String.format(
                        Locale.ROOT,
                        "| %s | %.1f | %.1f | %+.1f | %+.1f |",
                        run.getParams().getParam("by"),
                        map.get(0),
                        ours.get(0),
                        ours.get(0) - map.get(0),
                        ours.get(ours.size() / 2) - map.get(map.size() / 2)));
            }
        }
        System.out.println(
                "| | map, best, ns | ours, best | difference of the best | of the medians |\n|---|---|---|---|---|");
        rows.forEach(System.out::println);
    }
}
