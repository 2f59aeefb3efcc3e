package dev.podcache.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Measures what the tables and plots show, and writes it to {@code src/jmh/results}. Takes about nine minutes; give it
 * a quiet machine.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.main=dev.podcache.report.Measure
 * mvn -q -Pjmh verify -Djmh.main=dev.podcache.report.Measure -Djmh.args="hits register"
 * }</pre>
 *
 * <p>Each round runs one fork of everything in turn, so that what is compared ran within the same minute: noise that
 * lasts longer hits both. There are five rounds; the system properties {@code measure.rounds} and {@code measure.millis},
 * the length of an iteration, shorten a trial.
 */
public final class Measure {

    private static final int ROUNDS = Integer.getInteger("measure.rounds", 5);
    private static final TimeValue ITERATION = TimeValue.milliseconds(Integer.getInteger("measure.millis", 100));
    private static final int WARMUP_ITERATIONS = 5;
    private static final int ITERATIONS = 10;
    /** Registrations need more: most of an iteration is the decoding of pods. */
    private static final int MORE = 5;

    private static final Path RAW = Path.of("target", "measured");

    private enum Part {
        /** A hit, on one thread and on eight. */
        HITS {
            @Override
            List<ChainedOptionsBuilder> options() {
                return List.of(
                        only("GetHitBenchmark").threads(1).addProfiler(GCProfiler.class),
                        only("GetHitBenchmark")
                                .param("by", "TTL", "WATCH", "CONCURRENT_HASH_MAP", "CAFFEINE", "CAFFEINE_REFRESH")
                                .threads(8)
                                .addProfiler(GCProfiler.class));
            }
        },
        /** Registrations. */
        REGISTER {
            @Override
            List<ChainedOptionsBuilder> options() {
                return List.of(
                        longer("RegisterPodBenchmark").param("entries", "TTL"),
                        longer("RegisterPodBenchmark.sharedComeAndGo").param("entries", "WATCH"));
            }
        },
        /** Gets of expired objects. */
        EXPIRED {
            @Override
            List<ChainedOptionsBuilder> options() {
                return List.of(only("ExpiredKeyBenchmark").addProfiler(GCProfiler.class));
            }
        },
        /** Many gets at once of an object that nobody holds. */
        STORMS {
            @Override
            List<ChainedOptionsBuilder> options() {
                return List.of(only("StormBenchmark"));
            }
        };

        abstract List<ChainedOptionsBuilder> options();

        private static ChainedOptionsBuilder only(String benchmarks) {
            return new OptionsBuilder()
                    .include("dev.podcache." + benchmarks)
                    .forks(1)
                    .warmupIterations(WARMUP_ITERATIONS)
                    .warmupTime(ITERATION)
                    .measurementIterations(ITERATIONS)
                    .measurementTime(ITERATION)
                    .shouldFailOnError(true)
                    .resultFormat(ResultFormatType.JSON);
        }

        private static ChainedOptionsBuilder longer(String benchmarks) {
            TimeValue iteration = TimeValue.milliseconds(ITERATION.getTime() * MORE);
            return only(benchmarks)
                    .warmupIterations(WARMUP_ITERATIONS)
                    .warmupTime(iteration)
                    .measurementIterations(ITERATIONS / 2)
                    .measurementTime(iteration);
        }
    }

    private Measure() {}

    /** Takes the names of the parts, or nothing for all. */
    public static void main(String[] args) throws IOException, RunnerException {
        Files.createDirectories(RAW);
        // once, because after the first part the load is our own
        Machine machine = Machine.now();
        Set<String> wanted = Set.copyOf(Arrays.asList(args));
        for (Part part : Part.values()) {
            String name = part.name().toLowerCase(Locale.ROOT);
            if (wanted.isEmpty() || wanted.contains(name)) {
                measure(part, name, machine);
            }
        }
    }

    private static void measure(Part part, String name, Machine machine) throws IOException, RunnerException {
        List<Path> files = new ArrayList<>();
        for (int round = 1; round <= ROUNDS; round++) {
            for (ChainedOptionsBuilder options : part.options()) {
                Path file = RAW.resolve(name + "-" + files.size() + ".json");
                new Runner(options.result(file.toString()).build()).run();
                files.add(file);
            }
        }
        new Results(machine, Reduce.runs(files)).write(Draw.RESULTS.resolve(name + ".json"));
    }
}
