package dev.podcache.chaos;

import java.util.SplittableRandom;

/**
 * Something that goes wrong for a while.
 *
 * @param kind as it is counted
 * @param shortest how long it lasts at least, in milliseconds; {@code longest} at most
 * @param strike begins it
 */
record Fault(String kind, int shortest, int longest, Strike strike) {

    /** Begins a fault. */
    @FunctionalInterface
    interface Strike {
        /** Begins it, with chosen particulars, and answers how to end it. */
        Mend with(SplittableRandom random) throws Exception;
    }

    /** Ends a fault; blocks until it has. */
    @FunctionalInterface
    interface Mend {
        void mend() throws Exception;
    }

    /** One that begins by itself and ends by itself. */
    static Fault of(String kind, int shortest, int longest, Action strike, Action mend) {
        return new Fault(kind, shortest, longest, random -> {
            strike.run();
            return mend::run;
        });
    }

    /** A part of a fault. */
    @FunctionalInterface
    interface Action {
        void run() throws Exception;
    }
}
