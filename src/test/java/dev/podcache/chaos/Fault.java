package dev.podcache.chaos;

import java.util.SplittableRandom;

/**
 * Something that goes wrong for a while.
 *
 * @param layer where
 * @param kind as it is counted
 * @param shortest how long it lasts at least, in milliseconds; {@code longest} at most
 * @param strike begins it
 */
record Fault(Layer layer, String kind, int shortest, int longest, Strike strike) {

    /** Where something goes wrong. Two faults of one layer would end one another, those of two do not. */
    enum Layer {
        NETWORK,
        /** The server, or what it answers. */
        SERVER,
        /** Who the caches are to the server. */
        ACCOUNT
    }

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

    /** A part of a fault that needs no particulars. */
    @FunctionalInterface
    interface Action {
        void run() throws Exception;
    }

    /** What begins and ends by itself. */
    static Strike by(Action strike, Action mend) {
        return random -> {
            strike.run();
            return mend::run;
        };
    }

    /** Whether it has to begin before another fault that overlaps it, and to end after it. */
    boolean encloses(Fault other) {
        // the server does what goes wrong with an account, and must be well for that
        return layer == Layer.ACCOUNT && other.layer == Layer.SERVER;
    }
}
