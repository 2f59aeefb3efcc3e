package dev.podcache.store;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.Referrer;
import org.jspecify.annotations.Nullable;

/**
 * One referenced object: who refers to it and what is known of it.
 *
 * <p>Lives from the first reference to the last. A dropped entry never comes back: whoever still holds it sees that it
 * is dropped and looks in the table again.
 */
abstract class Entry<T> extends Indexed {

    /*
     * The read path looks at `object` without the lock: one load away, where the way through the answer would be two.
     * Both are volatile, immutable or not looked into, and written under the monitor together with the state that
     * belongs to them, the answer first.
     *
     * `touched` is a plain field that many threads set and a sweep clears. That is a race, and a harmless one: the
     * worst it does is to make an object look unused for one more sweep. A time stamp, or a volatile flag, would have
     * all readers write to one cache line on each hit; so a reader writes only if it does not see the flag set already.
     */

    boolean touched;

    private final Transitions<T> transitions;
    private volatile @Nullable Answer<T> answer; // written under this
    private volatile @Nullable T object; // that of the answer, written with it
    private final References references = new References(); // guarded by this
    private boolean dropped; // guarded by this

    Entry(ObjectKey key, Transitions<T> transitions) {
        super(key);
        this.transitions = transitions;
    }

    /** The read path: the object if it is known. Takes no lock and allocates nothing. */
    final @Nullable T ifKnown() {
        if (!touched) {
            touched = true;
        }
        return object;
    }

    final @Nullable Answer<T> answer() {
        return answer;
    }

    /** Whether the reference was added; false if the entry is dropped. */
    final boolean addReference(Referrer referrer) {
        Answer<T> before;
        Answer<T> after;
        synchronized (this) {
            if (dropped) {
                return false;
            }
            references.add(referrer);
            before = answer;
            after = beginsEpochLocked() ? null : before;
            setAnswerLocked(after);
        }
        transitions.tell(this, before, after, Transitions.REFERENCED);
        unlocked();
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
        unlocked();
        return true;
    }

    /** Drops the entry, whoever refers to it. */
    final void drop() {
        Answer<T> before;
        synchronized (this) {
            if (dropped) {
                return;
            }
            before = dropLocked();
        }
        transitions.tell(this, before, null, Transitions.DROPPED);
        unlocked();
    }

    private @Nullable Answer<T> dropLocked() {
        Answer<T> before = answer;
        dropped = true;
        setAnswerLocked(null);
        droppedLocked();
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
            setAnswerLocked(null);
        }
        transitions.tell(this, before, null, Transitions.EVICTED);
    }

    /** Keeps an answer, or forgets it. The caller then {@link #tell tells} of it, after it let go of the lock. */
    final void setAnswerLocked(@Nullable Answer<T> received) {
        answer = received;
        object = received instanceof Answer.Present<T> present ? present.object : null;
    }

    final void tell(@Nullable Answer<T> before, @Nullable Answer<T> after, String cause) {
        transitions.tell(this, before, after, cause);
    }

    final boolean isDroppedLocked() {
        return dropped;
    }

    final int referencesLocked() {
        return references.count();
    }

    /**
     * A new reference is being added; whether it begins a new epoch, in which what was known does not count. What is
     * under way is then no answer to those who come from now on.
     */
    abstract boolean beginsEpochLocked();

    /** The entry is being dropped: what is under way is not wanted any more. */
    abstract void droppedLocked();

    /**
     * A reference was added or the entry dropped, and the lock is free: the moment to begin or end what that entails.
     */
    abstract void unlocked();
}
