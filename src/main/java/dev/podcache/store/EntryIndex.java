package dev.podcache.store;

import dev.podcache.object.ObjectKey;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Finds entries by the names of their objects. Lookups take no lock, build no key and see every change that was made
 * before they began; changes take turns.
 *
 * @param <E> the entries
 */
final class EntryIndex<E extends Indexed> {

    /*
     * A hash table with linear probing, at most a quarter full so that most lookups look at one entry. Why not a
     * ConcurrentHashMap: under a key object it costs an allocation wherever the compiler cannot prove that the key goes
     * nowhere; nested by namespace and name, a hit searches twice; and either calls the equals method of whatever keys
     * the program's other maps have.
     *
     * Slots change in place and only under the monitor. A slot goes from empty to an entry, from an entry to REMOVED
     * or, where no search can have to pass it, to empty; a search stops only at an empty slot, so it never misses an
     * entry that was there all the time. A search in slots that were replaced meanwhile sees what was there when it
     * began. Writes release and reads acquire, so whoever finds an entry sees it as it was constructed, at least.
     *
     * Names that collide cost whoever looks for them a walk past each other, which is bounded by
     * what the pods of one node name.
     */

    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Indexed[].class);
    private static final Indexed REMOVED = Indexed.underNoName();
    private static final int FEWEST = 16;

    private volatile Indexed[] slots = new Indexed[FEWEST]; // written under this
    private int taken; // guarded by this: slots that are not empty
    private int size; // guarded by this

    /** The entry of an object; null if there is none. */
    @Nullable
    @SuppressWarnings("unchecked") // only E are put in
    E find(String namespace, String name) {
        Indexed[] in = slots;
        int hash = Indexed.hash(namespace, name);
        int i = home(in, hash);
        Indexed there = at(in, i);
        while (there != null && !there.isOf(hash, namespace, name)) {
            i = after(in, i);
            there = at(in, i);
        }
        return (E) there;
    }

    /** Whether {@code candidate} is in now; false if its object has an entry already. */
    synchronized boolean putIfAbsent(E candidate) {
        ObjectKey key = candidate.key;
        if (find(key.namespace(), key.name()) != null) {
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

    /** Takes {@code entry} out; false if it is not in. */
    synchronized boolean remove(E entry) {
        Indexed[] in = slots;
        int i = home(in, entry.hash);
        while (at(in, i) != entry) {
            if (at(in, i) == null) {
                return false;
            }
            i = after(in, i);
        }
        set(in, i, REMOVED);
        size--;
        // no search has to pass a slot before an empty one
        for (int end = after(in, i); at(in, i) == REMOVED && at(in, end) == null; i = before(in, i)) {
            set(in, i, null);
            taken--;
            end = i;
        }
        return true;
    }

    synchronized int size() {
        return size;
    }

    /** Visits the entries, under no lock; one that is put in or removed meanwhile may be visited or not. */
    @SuppressWarnings("unchecked") // only E are put in
    void forEach(Consumer<? super E> action) {
        Indexed[] in = slots;
        for (int i = 0; i < in.length; i++) {
            Indexed entry = at(in, i);
            if (entry != null && entry != REMOVED) {
                action.accept((E) entry);
            }
        }
    }

    private void rebuild() {
        int length = FEWEST;
        while (length < 8 * size) {
            length *= 2;
        }
        Indexed[] rebuilt = new Indexed[length];
        forEach(entry -> put(rebuilt, entry));
        taken = size;
        slots = rebuilt;
    }

    private static void put(Indexed[] in, Indexed entry) {
        int i = home(in, entry.hash);
        while (at(in, i) != null) {
            i = after(in, i);
        }
        set(in, i, entry);
    }

    /** The slot where a search begins: the highest bits of the hash. */
    private static int home(Indexed[] in, int hash) {
        return hash >>> Integer.numberOfLeadingZeros(in.length - 1);
    }

    private static int after(Indexed[] in, int i) {
        return i + 1 == in.length ? 0 : i + 1;
    }

    private static int before(Indexed[] in, int i) {
        return i == 0 ? in.length - 1 : i - 1;
    }

    private static @Nullable Indexed at(Indexed[] in, int i) {
        return (Indexed) SLOT.getAcquire(in, i);
    }

    private static void set(Indexed[] in, int i, @Nullable Indexed entry) {
        SLOT.setRelease(in, i, entry);
    }
}
