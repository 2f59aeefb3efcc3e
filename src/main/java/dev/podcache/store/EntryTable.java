package dev.podcache.store;

import com.google.common.collect.ImmutableSet;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.Referrer;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.security.SecureRandom;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Maps the names of each referenced object to its entry. Lookups take no lock, allocate nothing and see every change
 * made before they began. Changes are serialized.
 *
 * @param <E> the strategy's entry
 */
final class EntryTable<T, E extends Entry<T>> {

    /*
     * A hash table with linear probing, at most a quarter full, so that most lookups read one entry. It is not a
     * ConcurrentHashMap: with key objects, a lookup allocates wherever the compiler cannot prove that the key does not
     * escape; nested by namespace and name, a hit searches twice. Both also share their call of equals with the
     * program's other maps, so it is not inlined.
     *
     * Slots change in place, only under the monitor. A slot changes from empty to an entry, and from an entry to
     * `removed` or, where no search can have to pass it, to empty. A search stops only at an empty slot, so it never
     * misses an entry that is there throughout. A search in an array that is replaced meanwhile sees the state at its
     * start. Writes release and reads acquire, so a search sees each entry fully constructed.
     *
     * Whoever may create pods chooses names, and can give 10,000 of them one hash code. A search among them would take
     * 10,000 steps. So once an insertion takes more than LONGEST_SEARCH steps, the entries are placed by a hash with a key of
     * this process, which nobody outside can foresee. A lookup that meets its entry at once never learns of it. One that does
     * not searches by that hash first, and then in the other way, because the array that it has may still be of that kind.
     *
     * Entries are constructed before they are inserted and dropped before they are removed, so an entry's monitor is
     * never taken inside the table's, nor the other way round. `onAdded` runs before the change, and `onRemoved` after it, or
     * if there was none; both under no lock.
     */

    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Entry[].class);
    private static final int MIN_LENGTH = 16;
    private static final int LONGEST_SEARCH = 64;

    /** The hash is a polynomial over the integers modulo this prime. */
    private static final long PRIME = (1L << 61) - 1;

    private static final long SECRET = (new SecureRandom().nextLong() & (PRIME >>> 1)) | (1L << 32);

    private final ObjectKind<?> kind;
    private final Function<ObjectKey, E> newEntry;
    private final Runnable onAdded;
    private final Runnable onRemoved;
    private final E removed; // marks slots of removed entries; never found
    private boolean keyed; // written under this, before the slots that are placed by the keyed hash
    private volatile E[] slots = newSlots(MIN_LENGTH); // written under this
    private int used; // guarded by this: slots that are not empty
    private int size; // guarded by this
    private volatile boolean closed;

    /**
     * Makes an empty table.
     *
     * @param kind the kind of the objects, for messages
     * @param onAdded runs before an entry is inserted, under no lock; must be brief
     * @param onRemoved runs after an entry was removed, or was not inserted
     */
    EntryTable(ObjectKind<?> kind, Function<ObjectKey, E> newEntry, Runnable onAdded, Runnable onRemoved) {
        this.kind = kind;
        this.newEntry = newEntry;
        this.onAdded = onAdded;
        this.onRemoved = onRemoved;
        this.removed = newEntry.apply(ObjectKey.of("", ""));
    }

    /** Returns the entry of an object; null if the object is not referenced. The entry may just have been dropped. */
    @Nullable
    E find(String namespace, String name) {
        E[] table = slots;
        int hash = Entry.hash(namespace, name);
        int i = home(table, hash);
        E found = at(table, i);
        if (found != null && found.matches(hash, namespace, name) && found != removed) {
            return found;
        }
        if (keyed) {
            E byKey = search(table, home(table, keyedHash(namespace, name)), hash, namespace, name);
            if (byKey != null) {
                return byKey;
            }
        }
        return search(table, i, hash, namespace, name);
    }

    private @Nullable E search(E[] table, int from, int hash, String namespace, String name) {
        int i = from;
        E found = at(table, i);
        while (found != null && !(found.matches(hash, namespace, name) && found != removed)) {
            i = after(table, i);
            found = at(table, i);
        }
        return found;
    }

    /** Returns a hash of names. For any two different ones it is equal with a probability of about 2^-32, whatever they are. */
    private static int keyedHash(String namespace, String name) {
        long hash = keyedHash(keyedHash(1, namespace), name);
        return (int) ((hash * 0x9E3779B97F4A7C15L) >>> 32);
    }

    private static long keyedHash(long from, String text) {
        // the length ends the text, so that "a", "b" and "ab", "" differ
        long hash = step(from, text.length() + 0x10000L);
        for (int i = 0; i < text.length(); i++) {
            hash = step(hash, text.charAt(i) + 1L);
        }
        return hash;
    }

    private static long step(long hash, long added) {
        // the product of two numbers below 2^61, modulo 2^61 - 1
        long low = hash * SECRET;
        long high = Math.multiplyHigh(hash, SECRET);
        long sum = (low & PRIME) + ((low >>> 61) | (high << 3)) + added;
        sum = (sum & PRIME) + (sum >>> 61);
        return sum >= PRIME ? sum - PRIME : sum;
    }

    /** Implements {@link Store#addReference}. */
    void addReference(ObjectKey key, Referrer referrer, Consumer<Runnable> effects) {
        boolean added = false;
        while (!closed && !added) {
            E entry = find(key.namespace(), key.name());
            if (entry == null) {
                // referenced before it can be found: no get finds an object that has no reference
                E made = newEntry.apply(key);
                made.makeFirstReference(referrer);
                added = insert(made);
                if (added) {
                    // an entry is its own effect: as after each change, it opens a watch, for example
                    effects.accept(made);
                }
            } else {
                added = entry.addReference(referrer);
                if (added) {
                    effects.accept(entry);
                } else {
                    // dropped by another thread, which also removes it: removing it here saves waiting for that thread
                    remove(entry);
                }
            }
        }
        // checked again, because close() may have dropped all entries before this one was inserted
        if (closed) {
            dropAll(effects);
            requireOpen("no reference to " + kind + " " + key + " was added");
        }
    }

    /** Inserts an entry, unless there is one of the same name. If {@code onAdded} throws, nothing has changed. */
    private boolean insert(E made) {
        boolean inserted = false;
        onAdded.run();
        try {
            inserted = putIfAbsent(made);
        } finally {
            if (!inserted) {
                onRemoved.run();
            }
        }
        return inserted;
    }

    /**
     * @param otherwise says what was not done, for the message
     * @throws IllegalStateException if this table is closed
     */
    void requireOpen(String otherwise) {
        if (closed) {
            throw new IllegalStateException("the cache is closed: " + otherwise);
        }
    }

    /** Implements {@link Store#deleteReference}. */
    void deleteReference(ObjectKey key, Referrer referrer, Consumer<Runnable> effects) {
        E entry = find(key.namespace(), key.name());
        if (entry != null && entry.deleteReference(referrer)) {
            remove(entry);
            effects.accept(entry);
        }
    }

    /** Returns the exception to throw when {@link #find} returned null. */
    ObjectUnavailableException missingException(ObjectKey key) {
        return closed ? new Closed(kind, key) : new NotRegistered(kind, key);
    }

    boolean isClosed() {
        return closed;
    }

    /** Drops every entry and rejects new references. Idempotent. */
    void close() {
        closed = true;
        dropAll(Runnable::run);
    }

    private void dropAll(Consumer<Runnable> effects) {
        forEach(entry -> {
            boolean dropped = entry.drop();
            remove(entry);
            if (dropped) {
                effects.accept(entry);
            }
        });
    }

    /** Returns the objects that have an entry; a snapshot. */
    Set<ObjectKey> keys() {
        ImmutableSet.Builder<ObjectKey> keys = ImmutableSet.builder();
        forEach(entry -> keys.add(entry.key));
        return keys.build();
    }

    synchronized int size() {
        return size;
    }

    /** Visits the entries, under no lock. May or may not visit entries that are inserted or removed meanwhile. */
    void forEach(Consumer<? super E> action) {
        E[] table = slots;
        for (int i = 0; i < table.length; i++) {
            E entry = at(table, i);
            if (entry != null && entry != removed) {
                action.accept(entry);
            }
        }
    }

    /** Inserts an entry. Returns false if its object has an entry already. */
    synchronized boolean putIfAbsent(E candidate) {
        if (find(candidate.key.namespace(), candidate.key.name()) != null) {
            return false;
        }
        if (used >= slots.length / 4) {
            rebuildLocked();
        }
        // before it is put: there may be no memory for that
        if (!keyed && stepsLocked(slots, candidate) > LONGEST_SEARCH) {
            placeByKeyLocked();
        }
        putLocked(slots, candidate);
        used++;
        size++;
        return true;
    }

    private void placeByKeyLocked() {
        boolean placed = false;
        keyed = true;
        try {
            rebuildLocked();
            placed = true;
        } finally {
            keyed = placed;
        }
    }

    /** Removes a dropped entry. Returns false if it was removed before. */
    boolean remove(E entry) {
        boolean found = clearSlot(entry);
        if (found) {
            onRemoved.run();
        }
        return found;
    }

    private synchronized boolean clearSlot(E entry) {
        E[] table = slots;
        int i = homeLocked(table, entry);
        while (at(table, i) != entry) {
            if (at(table, i) == null) {
                return false;
            }
            i = after(table, i);
        }
        SLOT.setRelease(table, i, removed);
        size--;
        // a search need not pass a removed slot that is followed by an empty one, so it becomes empty
        for (int end = after(table, i); at(table, i) == removed && at(table, end) == null; i = before(table, i)) {
            SLOT.setRelease(table, i, null);
            used--;
            end = i;
        }
        return true;
    }

    private void rebuildLocked() {
        int length = MIN_LENGTH;
        while (length < 8 * size) {
            length *= 2;
        }
        E[] rebuilt = newSlots(length);
        forEach(entry -> putLocked(rebuilt, entry));
        used = size;
        slots = rebuilt;
    }

    private void putLocked(E[] table, E entry) {
        SLOT.setRelease(table, (homeLocked(table, entry) + stepsLocked(table, entry)) % table.length, entry);
    }

    /** Returns how many slots are not empty from the one where the search for an entry begins. */
    private int stepsLocked(E[] table, E entry) {
        int steps = 0;
        for (int i = homeLocked(table, entry); at(table, i) != null; i = after(table, i)) {
            steps++;
        }
        return steps;
    }

    /** Returns the slot where the search for an entry begins, in the present array. */
    private int homeLocked(E[] table, E entry) {
        return home(table, keyed ? keyedHash(entry.key.namespace(), entry.key.name()) : entry.hash);
    }

    /** Returns the slot where a search begins, given by the highest bits of the hash. */
    private int home(E[] table, int hash) {
        return hash >>> Integer.numberOfLeadingZeros(table.length - 1);
    }

    private int after(E[] table, int i) {
        return i + 1 == table.length ? 0 : i + 1;
    }

    private int before(E[] table, int i) {
        return i == 0 ? table.length - 1 : i - 1;
    }

    @SuppressWarnings("unchecked") // only E are inserted
    private @Nullable E at(E[] table, int i) {
        return (E) SLOT.getAcquire(table, i);
    }

    @SuppressWarnings("unchecked") // E erases to Entry
    private E[] newSlots(int length) {
        return (E[]) new Entry<?>[length];
    }
}
