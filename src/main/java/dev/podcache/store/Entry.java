package dev.podcache.store;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.Phase;
import dev.podcache.object.Referrer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * One referenced object: who refers to it and what is known of it.
 *
 * <p>Lives from the first reference to the last. A dropped entry never comes back: whoever still holds it sees that it is dropped
 * and looks in the table again.
 */
abstract class Entry<T> {

    /*
     * The read path looks at `answer` without the lock. It is volatile and immutable, so a reader sees all of it or none; every
     * write happens under the monitor, together with the state that belongs to it.
     *
     * `touched` is a plain field that many threads set and a sweep clears. That is a race, and a harmless one: the worst it does
     * is to make an object look unused for one more sweep. A time stamp, or a volatile flag, would have all readers write to
     * one cache line on each hit; so a reader writes only if it does not see the flag set already.
     */

    final ObjectKey key;
    boolean touched;

    private final Transitions<T> transitions;
    private volatile @Nullable Answer<T> answer; // written under this
    private final References references = new References(); // guarded by this
    private boolean dropped; // guarded by this

    Entry(ObjectKey key, Transitions<T> transitions) {
        this.key = key;
        this.transitions = transitions;
    }

    /** The read path: the object if it is known and fresh, else null. Takes no lock and allocates nothing. */
    final @Nullable T ifFresh(long now, long ttlNanos) {
        if (!touched) {
            touched = true;
        }
        return answer instanceof Answer.Present<T> present && present.isFresh(now, ttlNanos) ? present.object : null;
    }

    final @Nullable Answer<T> answer() {
        return answer;
    }

    /** Whether the reference was added; false if the entry is dropped. */
    final boolean addReference(Referrer referrer) {
        Answer<T> before;
        synchronized (this) {
            if (dropped) {
                return false;
            }
            references.add(referrer);
            before = answer;
            answer = null;
            beginEpochLocked();
        }
        transitions.tell(this, before, null, Transitions.REFERENCED);
        return true;
    }

    /** Whether that was the last reference, and the entry is dropped now. */
    final boolean deleteReference(Referrer referrer) {
        Answer<T> before;
        synchronized (this) {
            if (dropped || !references.delete(referrer) || references.count() > 0) {
                return false;
            }
            before = dropLocked();
        }
        transitions.tell(this, before, null, Transitions.DROPPED);
        return true;
    }

    /** Drops the entry, whoever refers to it; whether it was not dropped before. */
    final boolean drop() {
        Answer<T> before;
        synchronized (this) {
            if (dropped) {
                return false;
            }
            before = dropLocked();
        }
        transitions.tell(this, before, null, Transitions.DROPPED);
        return true;
    }

    private @Nullable Answer<T> dropLocked() {
        Answer<T> before = answer;
        dropped = true;
        answer = null;
        beginEpochLocked();
        return before;
    }

    /** Forgets an object to save memory, not who refers to it. */
    final void evict() {
        Answer<T> before;
        synchronized (this) {
            before = answer;
            if (!(before instanceof Answer.Present)) {
                return;
            }
            answer = null;
        }
        transitions.tell(this, before, null, Transitions.EVICTED);
    }

    /** Keeps an answer. The caller then {@link #tellFetched tells} of it, after it let go of the lock. */
    final void setAnswerLocked(Answer<T> received) {
        answer = received;
    }

    final void tellFetched(@Nullable Answer<T> before, Answer<T> after) {
        transitions.tell(this, before, after, Transitions.FETCHED);
    }

    final boolean isDroppedLocked() {
        return dropped;
    }

    /** A new reference was added, or the entry dropped: what is under way was not asked for by those who come now. */
    abstract void beginEpochLocked();

    abstract @Nullable Throwable lastFailureLocked();

    final synchronized ObjectState state(long now, long ttlNanos, String freshness) {
        Answer<T> known = answer;
        Phase phase = Answer.phaseOf(known);
        String version = "";
        if (known instanceof Answer.Present<T> present) {
            version = present.resourceVersion;
            phase = present.isFresh(now, ttlNanos) ? Phase.FRESH : Phase.STALE;
        }
        Duration age = known == null ? null : Duration.ofNanos(Math.max(0, now - known.receivedAt));
        return new ObjectState(phase, version, age, lastFailureLocked(), references.count(), freshness);
    }
}
