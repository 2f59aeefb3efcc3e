package dev.podcache.concurrency;

import dev.podcache.testing.Effort;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;

/**
 * How long and hard all model checkers here try: not on real threads, but switching between them wherever they could
 * meet. Small programs, because their interleavings are too many otherwise.
 */
final class ModelChecking {

    private ModelChecking() {}

    /** Fails, with the program, its switches and its impossible outcome, if {@code operations} are not linearizable. */
    static void check(Class<?> operations) {
        new ModelCheckingOptions()
                .iterations(Effort.NIGHTLY ? 100 : 5)
                .invocationsPerIteration(Effort.NIGHTLY ? 10_000 : 200)
                .threads(2)
                .actorsPerThread(3)
                .actorsBefore(0)
                .actorsAfter(1)
                .check(operations);
    }
}
