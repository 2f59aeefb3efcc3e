package dev.podcache.chaos;

import dev.podcache.store.ObjectState;

/**
 * One get, with what was known immediately before and after it.
 *
 * @param stalled for how long the process stood still meanwhile, in nanoseconds
 * @param watchedSince when the watch that keeps the object fresh was accepted; 0 if there is none
 */
record Read(Subject subject, Moment before, Outcome outcome, Moment after, long stalled, long watchedSince) {

    /** One during which the process ran all the time, of an object whose watch was never lost. */
    Read(Subject subject, Moment before, Outcome outcome, Moment after) {
        this(subject, before, outcome, after, 0, 0);
    }

    /**
     * What was known at one end of a get.
     *
     * @param time of the run; inside {@code claim} and {@code state}
     * @param seen whether the object was seen before in the epoch of {@code claim}
     */
    record Moment(long time, Claims.Claim claim, boolean seen, ObjectState state) {}

    /** How long it took while the process ran, in nanoseconds. */
    long took() {
        return after.time() - before.time() - stalled;
    }

    /** Whether it was surely referred to all the time, and no new reference came meanwhile. */
    boolean isWithinEpoch() {
        return before.claim().isHeld()
                && after.claim().isHeld()
                && before.claim().epoch() == after.claim().epoch();
    }

    @Override
    public String toString() {
        return "get -> " + outcome + " in " + RunTime.seconds(took()) + ", state "
                + before.state().phase() + " then " + after.state().phase();
    }
}
