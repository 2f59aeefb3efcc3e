package dev.podcache.chaos;

import java.time.Duration;
import java.util.Random;
import java.util.SplittableRandom;

/**
 * Which run.
 *
 * @param test its class, for the command that repeats it
 * @param seed of everything that is random
 * @param faultsFor how long things go wrong at least; each fault strikes, however short that is
 * @param lengthy whether that was asked for in minutes
 */
record ChaosOptions(String test, long seed, Duration faultsFor, boolean lengthy) {

    private static final String MINUTES = "chaos.minutes";
    private static final String SEED = "chaos.seed";
    private static final String RANDOM = "random";
    private static final int SEEDS = 1_000_000;
    private static final int MILLIS_A_MINUTE = 60_000;

    /**
     * Those of the system properties {@value #MINUTES} and {@value #SEED}. Without the first the run ends when each fault
     * has struck once, and is always of the seed {@code usualSeed} unless that is {@value #RANDOM}; with it the seed is
     * another each time.
     */
    static ChaosOptions of(Class<?> test, long usualSeed) {
        return of(test, usualSeed, System.getProperty(MINUTES, ""), System.getProperty(SEED, ""));
    }

    /** The same of properties with these values, empty for none. */
    static ChaosOptions of(Class<?> test, long usualSeed, String minutes, String seed) {
        boolean lengthy = !minutes.isEmpty();
        Duration faultsFor =
                lengthy ? Duration.ofMillis(Math.round(Double.parseDouble(minutes) * MILLIS_A_MINUTE)) : Duration.ZERO;
        boolean random = seed.equals(RANDOM) || (seed.isEmpty() && lengthy);
        long chosen = seed.isEmpty() || random ? usualSeed : Long.parseLong(seed);
        return new ChaosOptions(
                test.getSimpleName(), random ? new Random().nextInt(SEEDS) : chosen, faultsFor, lengthy);
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
