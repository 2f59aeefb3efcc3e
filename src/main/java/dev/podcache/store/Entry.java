package dev.podcache.store;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Multiset;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.Referrer;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One referenced object: its references and what is known of it.
 *
 * <p>Lives from the first reference to the last. A dropped entry never comes back: a caller that still holds it sees that
 * it is dropped and looks in the {@link EntryTable} again.
 */
abstract class Entry<T> {

    /*
     * The read path looks at `object` without the lock: one load away, where the way through the answer would be two.
     * Both are volatile, immutable or not looked into, and written under the monitor together with the state that
     * belongs to them, the answer first. What is known to be stale is in the answer only, so a hit need not ask.
     *
     * `touched` is a plain field that many threads set and a sweep clears. That is a race, and a harmless one: the
     * worst it does is to make an object look unused for one more sweep. A time stamp, or a volatile flag, would have
     * all readers write to one cache line on each hit; so a reader writes only if it does not see the flag set already.
     */

    final ObjectKey key;
    final int hash;
    boolean touched;

    // the key has them too, but a lookup would wait for one memory access more
    private final String namespace;
    private final String name;

    private final Transitions<T> transitions;
    private volatile @Nullable Answer<T> answer; // written under this
    private volatile @Nullable T object; // that of the answer if gets may hit it, written with it

    // A multiset cannot hold less than nothing: a delete without an add is a no-op, where the kubelet's map of counts
    // can go to -1 and then never lets go of the entry. Most objects have one reference, and a multiset of one weighs
    // more than all the rest of the entry.
    private @Nullable Referrer first; // guarded by this
    private @Nullable Multiset<Referrer> others; // guarded by this
    private boolean dropped; // guarded by this

    Entry(ObjectKey key, Transitions<T> transitions) {
        this.key = key;
        this.hash = hash(key.namespace(), key.name());
        this.namespace = key.namespace();
        this.name = key.name();
        this.transitions = transitions;
    }

    /** Returns the hash of an object's names; its highest bits depend on all others. */
    static int hash(String namespace, String name) {
        return (31 * namespace.hashCode() + name.hashCode()) * 0x9E3779B9;
    }

    /** Returns whether this is the entry of the object with these names, which have this hash. */
    final boolean isOf(int itsHash, String itsNamespace, String itsName) {
        return hash == itsHash && name.equals(itsName) && namespace.equals(itsNamespace);
    }

    /** Returns the object if it is known, and not known to be stale. Takes no lock and allocates nothing. */
    final @Nullable T ifKnown() {
        if (!touched) {
            touched = true;
        }
        return object;
    }

    final @Nullable Answer<T> answer() {
        return answer;
    }

    /** Adds a reference; returns false if the entry is dropped. */
    final boolean addReference(Referrer referrer) {
        synchronized (this) {
            if (dropped) {
                return false;
            }
            addLocked(referrer);
            if (beginsEpochLocked()) {
                setAnswerLocked(null, Transitions.REFERENCED);
            }
        }
        changed();
        return true;
    }

    /** Takes back a reference; returns true if it was the last one, and the entry is dropped now. */
    final boolean deleteReference(Referrer referrer) {
        synchronized (this) {
            if (dropped || !deleteLocked(referrer) || referencesLocked() > 0) {
                return false;
            }
            dropLocked();
        }
        changed();
        return true;
    }

    private void addLocked(Referrer referrer) {
        if (first == null) {
            first = referrer;
            return;
        }
        if (others == null) {
            others = HashMultiset.create(2);
        }
        others.add(referrer);
    }

    private boolean deleteLocked(Referrer referrer) {
        if (others != null && others.remove(referrer)) {
            return true;
        }
        boolean held = referrer.equals(first);
        first = held ? null : first;
        return held;
    }

    /** Drops the entry, with all references. */
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

    /** Forgets the object to save memory, but not the references. */
    final void evict() {
        synchronized (this) {
            if (!(answer instanceof Answer.Present)) {
                return;
            }
            setAnswerLocked(null, Transitions.EVICTED);
        }
        changed();
    }

    /** Keeps an answer, or forgets it. The caller calls {@link #changed} after it has released the lock. */
    final void setAnswerLocked(@Nullable Answer<T> received, String cause) {
        setAnswerLocked(received, cause, true);
    }

    /** Keeps an answer; without {@code hit}, gets find it by {@link #answer} only. */
    final void setAnswerLocked(@Nullable Answer<T> received, String cause, boolean hit) {
        transitions.recordLocked(this, answer, received, cause);
        answer = received;
        object = hit && received instanceof Answer.Present<T> present ? present.object : null;
    }

    /** Returns what is known; null if the entry is dropped. */
    final synchronized @Nullable Known<T> known() {
        if (dropped) {
            return null;
        }
        Answer<T> known = latestLocked();
        Answer.@Nullable Present<T> present = known instanceof Answer.Present<T> there ? there : null;
        return new Known<>(
                this,
                present == null ? null : present.object,
                known instanceof Answer.Absent,
                present == null ? "" : present.resourceVersion,
                present == null ? 0 : present.encodedBytes,
                isStaleLocked(),
                referrersLocked());
    }

    private Set<Referrer> referrersLocked() {
        ImmutableSet.Builder<Referrer> referrers = ImmutableSet.builder();
        if (first != null) {
            referrers.add(first);
        }
        if (others != null) {
            referrers.addAll(others.elementSet());
        }
        return referrers.build();
    }

    /** Does what a change entails. Called without the lock. */
    final void changed() {
        transitions.report(this);
        unlocked();
    }

    final boolean isDroppedLocked() {
        return dropped;
    }

    final int referencesLocked() {
        return (first == null ? 0 : 1) + (others == null ? 0 : others.size());
    }

    /**
     * Returns whether the new reference begins a new epoch. What was known before, and requests that began before, then
     * answer no get that begins from now on.
     */
    abstract boolean beginsEpochLocked();

    /** Returns what is known, even if gets are not answered with it now. */
    abstract @Nullable Answer<T> latestLocked();

    /** Returns whether nothing confirms what is known. */
    abstract boolean isStaleLocked();

    /** Gives up what is under way: the entry is being dropped. */
    abstract void droppedLocked();

    /** Does outside the lock what a change entails: called after each one, without the lock. */
    abstract void unlocked();
}
