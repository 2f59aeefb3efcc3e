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
 * Finds the entry of an object by the object's names. Exactly the referenced objects have an entry. Lookups take no lock,
 * allocate nothing and see every change that was made before they began; changes take turns.
 *
 * @param <E> the strategy's entry
 */
final class EntryTable<T, E extends Entry<T>> {

    /*
     * A hash table with linear probing, at most a quarter full so that most lookups read one entry. Why not a
     * ConcurrentHashMap: under a key object it costs an allocation wherever the compiler cannot prove that the key does
     * not escape; nested by namespace and name, a hit searches twice; and either calls the equals method of whatever
     * keys the program's other maps have.
     *
     * Slots change in place and only under the monitor. A slot goes from empty to an entry, from an entry to `removed`
     * or, where no search can have to pass it, to empty; a search stops only at an empty slot, so it never misses an
     * entry that was there all the time. A search in slots that were replaced meanwhile sees what was there when it
     * began. Writes release and reads acquire, so a search sees each entry as it was constructed, at least.
     *
     * Names with equal hash codes are searched one after the other; a node's pods name few enough objects.
     *
     * Entries are made before they are put in, and dropped before they are taken out: no entry's monitor is ever taken
     * inside the table's, nor the other way round. `onAdded` and `onRemoved` run after the change, under no lock.
     */

    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Entry[].class);
    private static final int FEWEST = 16;

    private final ObjectKind<?> kind;
    private final Function<ObjectKey, E> newEntry;
    private final Runnable onAdded;
    private final Runnable onRemoved;
    private final E removed; // marks slots of entries that were taken out; never found
    private volatile E[] slots = newSlots(FEWEST); // written under this
    private int taken; // guarded by this: slots that are not empty
    private int size; // guarded by this
    private volatile boolean closed;

    /**
     * Makes an empty table.
     *
     * @param kind of the objects, for messages
     * @param onAdded run once for each entry that is put in, under no lock; brief
     * @param onRemoved run once for each entry that is taken out; may run before its {@code onAdded}
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
        E[] in = slots;
        int hash = Entry.hash(namespace, name);
        int i = home(in, hash);
        E there = at(in, i);
        while (there != null && !(there.isOf(hash, namespace, name) && there != removed)) {
            i = after(in, i);
            there = at(in, i);
        }
        return there;
    }

    /** Implements {@link Store#addReference}. */
    void addReference(ObjectKey key, Referrer referrer) {
        boolean referred = false;
        while (!closed && !referred) {
            E entry = find(key.namespace(), key.name());
            if (entry == null) {
                if (putIfAbsent(newEntry.apply(key))) {
                    onAdded.run();
                }
            } else {
                referred = entry.addReference(referrer);
                if (!referred) {
                    // another thread dropped it and will remove it; removing it here as well saves waiting for that
                    remove(entry);
                }
            }
        }
        // asked again because close() may have gone through the table before the entry was in it
        if (closed) {
            dropAll();
            throw new IllegalStateException("the cache is closed: no reference to " + kind + " " + key + " was added");
        }
    }

    /** Implements {@link Store#deleteReference}. */
    void deleteReference(ObjectKey key, Referrer referrer) {
        E entry = find(key.namespace(), key.name());
        if (entry != null && entry.deleteReference(referrer)) {
            remove(entry);
        }
    }

    /** Returns why {@link #find} found nothing. */
    ObjectUnavailableException whyNone(ObjectKey key) {
        return closed ? new Closed(kind, key) : new NotRegistered(kind, key);
    }

    /** Drops every entry, and from now on refuses references. Idempotent. */
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

    /** Visits the entries, under no lock; one that is put in or removed meanwhile may be visited or not. */
    void forEach(Consumer<? super E> action) {
        E[] in = slots;
        for (int i = 0; i < in.length; i++) {
            E entry = at(in, i);
            if (entry != null && entry != removed) {
                action.accept(entry);
            }
        }
    }

    /** Puts an entry in; returns false if its object has an entry already. */
    synchronized boolean putIfAbsent(E candidate) {
        if (find(candidate.key.namespace(), candidate.key.name()) != null) {
            return false;
        }
        if (taken >= slots.length / 4) {
            rebuild();
        }
        put(slots, candidate);
        taken++;
        size++;
        return true;
    }

    /** Takes out an entry that is dropped; returns false if it is out already. */
    boolean remove(E entry) {
        boolean there = takeOut(entry);
        if (there) {
            onRemoved.run();
        }
        return there;
    }

    private synchronized boolean takeOut(E entry) {
        E[] in = slots;
        int i = home(in, entry.hash);
        while (at(in, i) != entry) {
            if (at(in, i) == null) {
                return false;
            }
            i = after(in, i);
        }
        SLOT.setRelease(in, i, removed);
        size--;
        // no search has to pass a slot before an empty one
        for (int end = after(in, i); at(in, i) == removed && at(in, end) == null; i = before(in, i)) {
            SLOT.setRelease(in, i, null);
            taken--;
            end = i;
        }
        return true;
    }

    private void rebuild() {
        int length = FEWEST;
        while (length < 8 * size) {
            length *= 2;
        }
        E[] rebuilt = newSlots(length);
        forEach(entry -> put(rebuilt, entry));
        taken = size;
        slots = rebuilt;
    }

    private void put(E[] in, E entry) {
        int i = home(in, entry.hash);
        while (at(in, i) != null) {
            i = after(in, i);
        }
        SLOT.setRelease(in, i, entry);
    }

    /** Returns the slot where a search begins: the highest bits of the hash. */
    private int home(E[] in, int hash) {
        return hash >>> Integer.numberOfLeadingZeros(in.length - 1);
    }

    private int after(E[] in, int i) {
        return i + 1 == in.length ? 0 : i + 1;
    }

    private int before(E[] in, int i) {
        return i == 0 ? in.length - 1 : i - 1;
    }

    @SuppressWarnings("unchecked") // only E are put in
    private @Nullable E at(E[] in, int i) {
        return (E) SLOT.getAcquire(in, i);
    }

    @SuppressWarnings("unchecked") // an array of E is one of Entry
    private E[] newSlots(int length) {
        return (E[]) new Entry<?>[length];
    }
}
