package dev.podcache.concurrency;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import com.google.common.collect.ImmutableList;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;

/**
 * How long and hard all model checkers here try: not on real threads, but switching between them wherever they could
 * meet. Small programs, because their interleavings are too many otherwise.
 */
final class ModelChecking {

    /** What no thread can meet another in, or what is trusted: not switched in. */
    private static final ImmutableList<String> TRUSTED = ImmutableList.of(
            "io.fabric8.",
            "com.fasterxml.",
            "com.google.common.",
            "com.github.benmanes.",
            "org.slf4j.",
            "ch.qos.logback.");

    private ModelChecking() {}

    /** Fails, with the program, its switches and its impossible outcome, if {@code operations} are not linearizable. */
    static void check(Class<?> operations) {
        new ModelCheckingOptions()
                .iterations(Effort.NIGHTLY ? 100 : 3)
                .invocationsPerIteration(Effort.NIGHTLY ? 10_000 : 200)
                .threads(2)
                .actorsPerThread(3)
                .actorsBefore(1)
                .actorsAfter(1)
                .addGuarantee(forClasses(name -> TRUSTED.stream().anyMatch(name::startsWith))
                        .allMethods()
                        .treatAsAtomic())
                .check(operations);
    }
}
