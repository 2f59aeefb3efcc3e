package dev.podcache.chaos;

import java.util.List;

/**
 * A chaos run as a program, for runs on classes that are not those of the build. Ends with 0 if nothing was found, with 1
 * otherwise; every finding is a line that begins with {@value Finding#PREFIX}.
 */
final class ChaosProgram {

    private ChaosProgram() {}

    /** Which server a run is on. */
    enum On {
        EMBEDDED(EmbeddedChaosTest.class, EmbeddedChaosTest.SEED) {
            @Override
            ChaosServer server() {
                return new EmbeddedChaosServer();
            }
        },
        REAL(ChaosTest.class, ChaosTest.SEED) {
            @Override
            ChaosServer server() throws Exception {
                return new RealChaosServer();
            }
        };

        private final Class<?> test;
        private final long seed;

        On(Class<?> test, long seed) {
            this.test = test;
            this.seed = seed;
        }

        abstract ChaosServer server() throws Exception;

        /** The run of the test of this server: what it found. */
        List<Finding> run() throws Exception {
            try (ChaosServer server = server()) {
                return new ChaosRun(server, ChaosOptions.of(test, seed)).run().findings();
            }
        }
    }

    /**
     * Runs.
     *
     * @param arguments EMBEDDED or REAL
     */
    public static void main(String[] arguments) throws Exception {
        List<Finding> findings = On.valueOf(arguments[0]).run();
        findings.forEach(System.out::println);
        System.exit(findings.isEmpty() ? 0 : 1);
    }
}
