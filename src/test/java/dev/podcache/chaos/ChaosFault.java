package dev.podcache.chaos;

import java.time.Duration;
import java.util.SplittableRandom;

/**
 * Something that goes wrong for a while.
 *
 * @param layer where
 * @param kind as it is counted
 * @param shortest how long it lasts at least, in milliseconds; {@code longest} at most
 * @param strike begins it
 * @param behind how long after it what the server says may still be old; zero if it never is
 */
record ChaosFault(Layer layer, String kind, int shortest, int longest, Strike strike, Duration behind) {

    /** One that leaves the server's own memory alone. */
    ChaosFault(Layer layer, String kind, int shortest, int longest, Strike strike) {
        this(layer, kind, shortest, longest, strike, Duration.ZERO);
    }

    /** The same, but the server may be behind until so long after it. */
    ChaosFault leavingBehind(Duration newBehind) {
        return new ChaosFault(layer, kind, shortest, longest, strike, newBehind);
    }

    /**
     * The same, which shows what must be seen within {@code bound}.
     *
     * @throws IllegalArgumentException if it may be over before that
     */
    ChaosFault showing(Duration bound) {
        if (bound.compareTo(Duration.ofMillis(shortest)) >= 0) {
            throw new IllegalArgumentException(
                    kind + " lasts " + shortest + " ms, and cannot show what must be seen within " + bound);
        }
        return this;
    }

    /** Whether it is the server's own memory that is old. */
    boolean isServerBehind() {
        return !behind.isZero();
    }

    /** Where something goes wrong. Two faults of one layer would end one another, those of two do not. */
    enum Layer {
        NETWORK,
        /** The process of the caches. */
        PROCESS,
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
    interface FaultAction {
        void run() throws Exception;
    }

    /** What begins and ends by itself. */
    static Strike by(FaultAction strike, FaultAction mend) {
        return random -> {
            strike.run();
            return mend::run;
        };
    }

    /** Whether it has to begin before another fault that overlaps it, and to end after it. */
    boolean encloses(ChaosFault other) {
        // the server does what goes wrong with an account, and must be well for that
        return layer == Layer.ACCOUNT && other.layer == Layer.SERVER;
    }
}
