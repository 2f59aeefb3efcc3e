package dev.podcache.store;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.ImmutableSet;
import com.google.common.collect.Multiset;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectState;
import dev.podcache.object.Referrer;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A referenced object: its references and the last answer about it.
 *
 * <p>Exists from the first reference to the last. A dropped entry is never used again: a caller that still holds it
 * sees that it is dropped and searches the {@link EntryTable} again.
 */
abstract class Entry<T> implements Runnable {

    /*
     * Gets read `object` without the lock: it is one load away, whereas the object in the answer is two. `answer` and
     * `object` are volatile and written under the monitor together with the state of the subclass, the answer first. An
     * object that is known to be stale is only in the answer, so a hit needs no further check.
     *
     * `touched` is a plain field: every get sets it and a sweep clears it. The race is harmless: at worst, an object
     * looks unread for one more sweep. A time stamp or a volatile flag would make all readers write to one cache line
     * on each hit; here a reader writes only if it does not see the flag set.
     */

    final ObjectKey key;
    final int hash;
    boolean touched;
    boolean touchedBefore; // kept for the store when the budget clears `touched`

    // copied from the key, which would cost a lookup one more memory access
    private final String namespace;
    private final String name;

    private final Transitions<T> transitions;
    private volatile @Nullable Answer<T> answer; // written under this
    private volatile @Nullable T object; // the object of the answer if gets may hit it, written with it

    // A multiset has no negative counts, so a delete without an add is a no-op. The kubelet's map of counts can reach
    // -1 and then leaks the entry. Most objects have one reference, and a multiset of one is bigger than the rest of
    // the entry.
    private @Nullable Referrer first; // guarded by this
    private @Nullable Multiset<Referrer> others; // guarded by this
    private int unrestricted; // guarded by this: the number of references that are not Restricted
    private volatile boolean restricted = true; // whether that number is 0; written under this
    private boolean dropped; // guarded by this
    private @Nullable Object life; // guarded by this; null until it is asked for

    Entry(ObjectKey key, Transitions<T> transitions) {
        this.key = key;
        this.hash = hash(key.namespace(), key.name());
        this.namespace = key.namespace();
        this.name = key.name();
        this.transitions = transitions;
    }

    /** Returns the hash of an object's names. Its highest bits depend on all others. */
    static int hash(String namespace, String name) {
        return (31 * namespace.hashCode() + name.hashCode()) * 0x9E3779B9;
    }

    /** Returns whether this is the entry of the object with these names, which have this hash. */
    final boolean matches(int otherHash, String otherNamespace, String otherName) {
        return hash == otherHash && name.equals(otherName) && namespace.equals(otherNamespace);
    }

    /** Returns the object if it is held and not known to be stale. Takes no lock and allocates nothing. */
    final @Nullable T ifKnown() {
        if (!touched) {
            touched = true;
        }
        return object;
    }

    /** Returns whether all references are {@link Restricted}. Takes no lock. */
    final boolean isRestricted() {
        return restricted;
    }

    /** Returns whether a get has read the object since the last call. */
    final boolean takeTouched() {
        boolean taken = touched || touchedBefore;
        touched = false;
        touchedBefore = false;
        return taken;
    }

    final @Nullable Answer<T> answer() {
        return answer;
    }

    /** Adds the first reference to an entry that no other thread knows. The caller calls {@link #changed} later. */
    final void makeFirstReference(Referrer referrer) {
        addLocked(referrer); // needs no lock: the table publishes the entry safely
    }

    /** Adds a reference. Returns false if the entry is dropped; otherwise the caller calls {@link #changed} later. */
    final synchronized boolean addReference(Referrer referrer) {
        if (dropped) {
            return false;
        }
        // first what may throw: then no reference was added
        if (beginsEpochLocked()) {
            setAnswerLocked(null);
        }
        addLocked(referrer);
        return true;
    }

    /**
     * Takes back a reference. Returns true if it was the last one, so the entry is now dropped, and the caller calls {@link
     * #changed} later.
     */
    final synchronized boolean deleteReference(Referrer referrer) {
        if (dropped || !deleteLocked(referrer) || referencesLocked() > 0) {
            return false;
        }
        dropLocked();
        return true;
    }

    private void addLocked(Referrer referrer) {
        if (first == null) {
            first = referrer;
        } else {
            if (others == null) {
                others = HashMultiset.create(2);
            }
            others.add(referrer);
        }
        // counted last: adding may throw
        if (!(referrer instanceof Restricted)) {
            unrestricted++;
            restricted = false;
        }
    }

    private boolean deleteLocked(Referrer referrer) {
        if (others == null || !others.remove(referrer)) {
            if (!referrer.equals(first)) {
                return false;
            }
            first = null;
        }
        if (!(referrer instanceof Restricted)) {
            unrestricted--;
            restricted = unrestricted == 0;
        }
        return true;
    }

    /**
     * Drops the entry with all its references. Returns false if it was dropped before; otherwise the caller calls {@link
     * #changed} later.
     */
    final synchronized boolean drop() {
        if (dropped) {
            return false;
        }
        dropLocked();
        return true;
    }

    private void dropLocked() {
        dropped = true;
        setAnswerLocked(null);
        onDropLocked();
    }

    /** Drops the object to save memory, but keeps the references. The caller, the budget, sets its weight later. */
    final void evict() {
        synchronized (this) {
            if (dropped || !(heldLocked() instanceof Answer.Present)) {
                return;
            }
            onEvictLocked();
            setAnswerLocked(null);
            transitions.evicted();
        }
        transitions.tellObservers(key);
        runDeferred();
    }

    /** Sets the answer, or clears it with null. The caller calls {@link #changed} after it has released the lock. */
    final void setAnswerLocked(@Nullable Answer<T> received) {
        setAnswerLocked(received, true);
    }

    /** Sets the answer. Without {@code hit}, gets find it only through {@link #answer}. */
    final void setAnswerLocked(@Nullable Answer<T> received, boolean hit) {
        transitions.setLocked(answer, received);
        answer = received;
        object = hit && received instanceof Answer.Present<T> present ? present.object : null;
    }

    /** Returns what is known, of which {@code state} is a part that was read under the same lock. */
    final KnownObject<T> knownLocked(ObjectState state) {
        Answer.@Nullable Present<T> present = latestLocked() instanceof Answer.Present<T> there ? there : null;
        if (life == null) {
            // not the entry: an event that a user keeps would keep the whole store
            life = new Object();
        }
        return new KnownObject<>(
                life,
                state,
                present == null ? null : present.object,
                present == null ? 0 : present.encodedBytes,
                isStaleLocked(),
                connectionLocked(),
                referrersLocked(),
                restrictedLocked());
    }

    private Set<Referrer> restrictedLocked() {
        if (unrestricted == referencesLocked()) {
            return Set.of();
        }
        ImmutableSet.Builder<Referrer> owners = ImmutableSet.builder();
        if (first instanceof Restricted) {
            owners.add(Unfollowed.ownerOf(first));
        }
        if (others != null) {
            others.elementSet().stream()
                    .filter(Restricted.class::isInstance)
                    .forEach(other -> owners.add(Unfollowed.ownerOf(other)));
        }
        return owners.build();
    }

    private Set<Referrer> referrersLocked() {
        ImmutableSet.Builder<Referrer> referrers = ImmutableSet.builder();
        if (first != null) {
            referrers.add(Unfollowed.ownerOf(first));
        }
        if (others != null) {
            others.elementSet().forEach(other -> referrers.add(Unfollowed.ownerOf(other)));
        }
        return referrers.build();
    }

    /** Returns whether an owner needs the changes of the object. */
    final boolean isFollowedLocked() {
        return (first != null && !Unfollowed.isUnfollowed(first))
                || (others != null && !others.elementSet().stream().allMatch(Unfollowed::isUnfollowed));
    }

    /** Does the work that follows a change. Called without the lock. Throws only if an effect cannot be prepared. */
    final void changed() {
        transitions.report(this);
        runDeferred();
    }

    /** {@link #changed}, as the effect of a change of references: objects for that would be a tenth of their garbage. */
    @Override
    public final void run() {
        changed();
    }

    final synchronized @Nullable Answer<T> held() {
        return heldLocked();
    }

    final boolean isDroppedLocked() {
        return dropped;
    }

    final int referencesLocked() {
        return (first == null ? 0 : 1) + (others == null ? 0 : others.size());
    }

    /**
     * Returns whether the new reference begins a new epoch: gets that begin from now on are not answered by the last
     * answer, nor by requests that began before.
     */
    abstract boolean beginsEpochLocked();

    /** Returns what is known, even if gets are not answered with it now. */
    abstract @Nullable Answer<T> latestLocked();

    /** Returns the answer that this entry holds, whether or not gets may see it. */
    @Nullable
    Answer<T> heldLocked() {
        return answer;
    }

    /** Returns whether nothing confirms what is known. */
    abstract boolean isStaleLocked();

    /** Names the connection that carries the watch, or returns "". */
    String connectionLocked() {
        return "";
    }

    /** Abandons requests and watches because the entry is being dropped. */
    abstract void onDropLocked();

    /** Prepares the eviction of the held answer. The caller clears the answer next. */
    abstract void onEvictLocked();

    /** Runs what changes have deferred until the lock is released. Called without it, after each change. */
    abstract void runDeferred();
}
