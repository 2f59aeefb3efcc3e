package dev.podcache.concurrency;

import org.jetbrains.lincheck.datastructures.StressOptions;

/** How long and hard all checkers here try. */
final class Linearizability {

    private Linearizability() {}

    /** Fails, with the program and its impossible outcome, if {@code operations} are not linearizable. */
    static void check(Class<?> operations) {
        new StressOptions()
                .iterations(10)
                .invocationsPerIteration(1000)
                .threads(3)
                .actorsPerThread(3)
                .check(operations);
    }
}
