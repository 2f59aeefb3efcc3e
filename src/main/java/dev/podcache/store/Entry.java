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
     * belongs to them, the answer first. What is known to be stale is in the answer only, so a hit need not ask.
     *
     * `touched` is a plain field that many threads set and a sweep clears. That is a race, and a harmless one: the
     * worst it does is to make an object look unused for one more sweep. A time stamp, or a volatile flag, would have
     * all readers write to one cache line on each hit; so a reader writes only if it does not see the flag set already.
     */

    boolean touched;

    private final Transitions<T> transitions;
    private volatile @Nullable Answer<T> answer; // written under this
    private volatile @Nullable T object; // that of the answer if gets may hit it, written with it
    private final References references = new References(); // guarded by this
    private boolean dropped; // guarded by this

    Entry(ObjectKey key, Transitions<T> transitions) {
        super(key);
        this.transitions = transitions;
    }

    /** The read path: the object if it is known, and not known to be stale. Takes no lock and allocates nothing. */
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
        synchronized (this) {
            if (dropped) {
                return false;
            }
            references.add(referrer);
            if (beginsEpochLocked()) {
                setAnswerLocked(null, Transitions.REFERENCED);
            }
        }
        changed();
        return true;
    }

    /** Whether that was the last reference, and the entry is dropped now. */
    final boolean deleteReference(Referrer referrer) {
        synchronized (this) {
            if (dropped || !references.delete(referrer) || references.count() > 0) {
                return false;
            }
            dropLocked();
        }
        changed();
        return true;
    }

    /** Drops the entry, whoever refers to it. */
    final void drop() {
        synchronized (this) {
            if (dropped) {
                return;
            }
            dropLocked();
        }
        changed();
    }

    private void dropLocked() {
        dropped = true;
        setAnswerLocked(null, Transitions.DROPPED);
        droppedLocked();
    }

    /** Forgets an object to save memory, not who refers to it. */
    final void evict() {
        synchronized (this) {
            if (!(answer instanceof Answer.Present)) {
                return;
            }
            setAnswerLocked(null, Transitions.EVICTED);
        }
        changed();
    }

    /** Keeps an answer, or forgets it. The caller says {@link #changed} when it has let go of the lock. */
    final void setAnswerLocked(@Nullable Answer<T> received, String cause) {
        setAnswerLocked(received, cause, true);
    }

    /** The same; if gets are not to hit it, they find it by {@link #answer} only. */
    final void setAnswerLocked(@Nullable Answer<T> received, String cause, boolean hit) {
        transitions.noteLocked(this, answer, received, cause);
        answer = received;
        object = hit && received instanceof Answer.Present<T> present ? present.object : null;
    }

    /** Does what a change entails, now that the lock is free. */
    final void changed() {
        transitions.tell(this);
        unlocked();
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
