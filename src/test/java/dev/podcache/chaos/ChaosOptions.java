package dev.podcache.chaos;

import java.time.Duration;
import java.util.Random;
import java.util.SplittableRandom;

/**
 * Which run.
 *
 * @param test its class, for the command that repeats it
 * @param seed of everything that is random
 * @param faultsFor how long things go wrong
 * @param lengthy whether that was asked for in minutes
 */
record ChaosOptions(String test, long seed, Duration faultsFor, boolean lengthy) {

    private static final String MINUTES = "chaos.minutes";
    private static final String SEED = "chaos.seed";
    private static final int SEEDS = 1_000_000;
    private static final int MILLIS_A_MINUTE = 60_000;

    /**
     * Those of the system properties {@value #MINUTES} and {@value #SEED}. Without the first the run is as short as
     * {@code usual}, and always of the seed {@code usualSeed}; with it the seed is another each time.
     */
    static ChaosOptions of(Class<?> test, Duration usual, long usualSeed) {
        String minutes = System.getProperty(MINUTES, "");
        boolean lengthy = !minutes.isEmpty();
        Duration faultsFor =
                lengthy ? Duration.ofMillis(Math.round(Double.parseDouble(minutes) * MILLIS_A_MINUTE)) : usual;
        String seed = System.getProperty(SEED, "");
        long chosen = lengthy ? new Random().nextInt(SEEDS) : usualSeed;
        return new ChaosOptions(
                test.getSimpleName(), seed.isEmpty() ? chosen : Long.parseLong(seed), faultsFor, lengthy);
    }

    /** The source of one actor's choices, independent of what others choose. */
    SplittableRandom randomOf(int actor) {
        SplittableRandom root = new SplittableRandom(seed);
        SplittableRandom random = root.split();
        for (int i = 0; i < actor; i++) {
            random = root.split();
        }
        return random;
    }

    /** What repeats the run. */
    String command() {
        String minutes = lengthy ? " -D" + MINUTES + "=" + faultsFor.toMillis() / (double) MILLIS_A_MINUTE : "";
        return "mvn -q verify -Dtest=" + test + minutes + " -D" + SEED + "=" + seed;
    }
}
