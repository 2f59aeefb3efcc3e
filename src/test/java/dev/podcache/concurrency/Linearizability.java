package dev.podcache.concurrency;

import dev.podcache.testing.Effort;
import org.jetbrains.lincheck.datastructures.StressOptions;

/** How long and hard all checkers on real threads here try; at night as they do by default. */
final class Linearizability {

    private Linearizability() {}

    /** Fails, with the program and its impossible outcome, if {@code operations} are not linearizable. */
    static void check(Class<?> operations) {
        new StressOptions()
                .iterations(Effort.NIGHTLY ? 100 : 6)
                .invocationsPerIteration(Effort.NIGHTLY ? 10_000 : 500)
                .threads(3)
                .actorsPerThread(3)
                .check(operations);
    }
}
