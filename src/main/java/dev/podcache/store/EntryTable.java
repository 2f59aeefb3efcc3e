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
     * Names with equal hash codes are searched linearly; the pods of a node refer to few enough objects.
     *
     * Entries are constructed before they are inserted and dropped before they are removed, so an entry's monitor is
     * never taken inside the table's, nor the other way round. `onAdded` and `onRemoved` run after the change, under no
     * lock.
     */

    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Entry[].class);
    private static final int MIN_LENGTH = 16;

    private final ObjectKind<?> kind;
    private final Function<ObjectKey, E> newEntry;
    private final Runnable onAdded;
    private final Runnable onRemoved;
    private final E removed; // marks slots of removed entries; never found
    private volatile E[] slots = newSlots(MIN_LENGTH); // written under this
    private int used; // guarded by this: slots that are not empty
    private int size; // guarded by this
    private volatile boolean closed;

    /**
     * Makes an empty table.
     *
     * @param kind the kind of the objects, for messages
     * @param onAdded runs once for each inserted entry, under no lock; must be brief
     * @param onRemoved runs once for each removed entry; may run before its {@code onAdded}
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
        while (found != null && !(found.matches(hash, namespace, name) && found != removed)) {
            i = after(table, i);
            found = at(table, i);
        }
        return found;
    }

    /** Implements {@link Store#addReference}. */
    void addReference(ObjectKey key, Referrer referrer) {
        boolean added = false;
        while (!closed && !added) {
            E entry = find(key.namespace(), key.name());
            if (entry == null) {
                // referenced before it can be found: no get finds an object that has no reference
                E made = newEntry.apply(key);
                made.makeFirstReference(referrer);
                if (putIfAbsent(made)) {
                    added = true;
                    onAdded.run();
                    made.changed();
                }
            } else {
                added = entry.addReference(referrer);
                if (!added) {
                    // dropped by another thread, which also removes it: removing it here saves waiting for that thread
                    remove(entry);
                }
            }
        }
        // checked again, because close() may have dropped all entries before this one was inserted
        if (closed) {
            dropAll();
        }
        requireOpen("no reference to " + kind + " " + key + " was added");
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
    void deleteReference(ObjectKey key, Referrer referrer) {
        E entry = find(key.namespace(), key.name());
        if (entry != null && entry.deleteReference(referrer)) {
            remove(entry);
        }
    }

    /** Returns the exception to throw when {@link #find} returned null. */
    ObjectUnavailableException missingException(ObjectKey key) {
        return closed ? new Closed(kind, key) : new NotRegistered(kind, key);
    }

    /** Drops every entry and rejects new references. Idempotent. */
    void close() {
        closed = true;
        dropAll();
    }

    private void dropAll() {
        forEach(entry -> {
            entry.drop();
            remove(entry);
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
            rebuild();
        }
        put(slots, candidate);
        used++;
        size++;
        return true;
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
        int i = home(table, entry.hash);
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

    private void rebuild() {
        int length = MIN_LENGTH;
        while (length < 8 * size) {
            length *= 2;
        }
        E[] rebuilt = newSlots(length);
        forEach(entry -> put(rebuilt, entry));
        used = size;
        slots = rebuilt;
    }

    private void put(E[] table, E entry) {
        int i = home(table, entry.hash);
        while (at(table, i) != null) {
            i = after(table, i);
        }
        SLOT.setRelease(table, i, entry);
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
