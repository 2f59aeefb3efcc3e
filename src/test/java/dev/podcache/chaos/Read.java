package dev.podcache.chaos;

import dev.podcache.object.ObjectState;

/**
 * One get, with what was known immediately before and after it.
 *
 * @param stalled for how long the process stood still meanwhile, in nanoseconds
 * @param stalledBefore the same in the seconds before it, when news may have arrived that nobody could take in
 * @param contact what others knew of the contact with the server
 * @param replaced whether the cache was closed, and another opened, before the get had ended
 */
record Read(
        CachedObject subject,
        Moment before,
        ReadOutcome outcome,
        Moment after,
        long stalled,
        long stalledBefore,
        Contact contact,
        boolean replaced) {

    /** One during which the process ran all the time, of a cache in contact. */
    Read(CachedObject subject, Moment before, ReadOutcome outcome, Moment after) {
        this(subject, before, outcome, after, 0, 0, Contact.GOOD, false);
    }

    /** The same get, with that contact. */
    Read with(Contact newContact) {
        return new Read(subject, before, outcome, after, stalled, stalledBefore, newContact, replaced);
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
                + before.state().cacheState() + " then " + after.state().cacheState();
    }
}
