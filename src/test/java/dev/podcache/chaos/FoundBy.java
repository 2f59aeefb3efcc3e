package dev.podcache.chaos;

import dev.podcache.testing.Patience;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What finds a mutant: a program in a JVM of its own, which prints a line for each {@link Finding}. */
sealed interface FoundBy {

    /** The arguments of that JVM, after its class path. */
    List<String> arguments();

    /** How long it may take. */
    Duration within();

    /** What it must find, the one or the other; another finding does not count. */
    List<String> findings();

    /**
     * A chaos run.
     *
     * @param shapes its findings
     * @param nightly whether only the long run finds it for certain
     */
    record OneRun(ChaosProgram.On on, List<Shape> shapes, boolean nightly) implements FoundBy {

        private static final int NIGHTLY_MINUTES = 5;

        @Override
        public List<String> arguments() {
            List<String> arguments = new ArrayList<>();
            if (nightly) {
                arguments.add("-Dchaos.minutes=" + NIGHTLY_MINUTES);
            }
            arguments.addAll(List.of(ChaosProgram.class.getName(), on.name()));
            return arguments;
        }

        @Override
        public Duration within() {
            return Duration.ofMinutes(nightly ? 4 + NIGHTLY_MINUTES : 4);
        }

        @Override
        public List<String> findings() {
            return shapes.stream().map(Shape::id).toList();
        }
    }

    /**
     * One test, alone.
     *
     * @param type the name of its class
     * @param method the name of its method
     */
    record OneTest(String type, String method) implements FoundBy {

        @Override
        public List<String> arguments() {
            // the flags of the JVM in which the build runs its tests
            List<String> arguments =
                    new ArrayList<>(ManagementFactory.getRuntimeMXBean().getInputArguments());
            // neither the build nor the next run begins with the tries that found a mutant
            arguments.addAll(List.of("-ea", "-Djqwik.database=", "-Dpodcache.property.seeds="));
            arguments.addAll(List.of(OneTestProgram.class.getName(), type, method));
            return arguments;
        }

        @Override
        public Duration within() {
            // a test of two strategies may wait in vain for each
            return Duration.ofSeconds(3 * Patience.SECONDS);
        }

        @Override
        public List<String> findings() {
            return List.of(OneTestProgram.Outcome.FAILED.id());
        }

        @Override
        public String toString() {
            return type + '#' + method;
        }
    }
}
