package dev.podcache.store;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.Referrer;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Which entry an object has: exactly the referenced objects have one. Lookups take no lock.
 *
 * @param <E> the strategy's entry
 */
final class EntryTable<T, E extends Entry<T>> {

    /*
     * Entries are made before they are put in, and dropped before they are taken out: no entry's monitor is ever taken
     * inside the index's, nor the other way round. `added` and `removed` run after the change, under no lock.
     */

    private final EntryIndex<E> index = new EntryIndex<>();
    private final Function<ObjectKey, E> newEntry;
    private final ObjectKind<?> kind;
    private final Runnable added;
    private final Runnable removed;
    private volatile boolean closed;

    /**
     * An empty table.
     *
     * @param kind of the objects, for messages
     * @param added run once for each entry that is put in, under no lock; brief
     * @param removed the same for each that is taken out; the two may come in the wrong order
     */
    EntryTable(ObjectKind<?> kind, Function<ObjectKey, E> newEntry, Runnable added, Runnable removed) {
        this.kind = kind;
        this.newEntry = newEntry;
        this.added = added;
        this.removed = removed;
    }

    /** The entry of an object; null if nobody refers to it. The entry may have been dropped a moment ago. */
    @Nullable
    E find(String namespace, String name) {
        return index.find(namespace, name);
    }

    /** {@link Store#addReference}. */
    void addReference(ObjectKey key, Referrer referrer) {
        boolean referred = false;
        while (!closed && !referred) {
            E entry = find(key.namespace(), key.name());
            if (entry == null) {
                putIfAbsent(newEntry.apply(key));
            } else {
                referred = entry.addReference(referrer);
                if (!referred) {
                    // it is dropped, and whoever dropped it is about to take it out: lend a hand
                    remove(entry);
                }
            }
        }
        // asked again because close() may have looked through the table before the entry was in it
        if (closed) {
            dropAll();
            throw new IllegalStateException("the cache is closed: no reference to " + kind + " " + key + " was added");
        }
    }

    /** {@link Store#deleteReference}. */
    void deleteReference(ObjectKey key, Referrer referrer) {
        E entry = find(key.namespace(), key.name());
        if (entry != null && entry.deleteReference(referrer)) {
            remove(entry);
        }
    }

    /** Why {@link #find} found nothing. */
    ObjectUnavailableException whyNone(ObjectKey key) {
        return closed ? new Closed(kind, key) : new NotRegistered(kind, key);
    }

    /** Drops every entry, whoever refers to it, and from now on refuses references. Idempotent. */
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

    void forEach(Consumer<E> action) {
        index.forEach(action);
    }

    int size() {
        return index.size();
    }

    private void putIfAbsent(E candidate) {
        if (index.putIfAbsent(candidate)) {
            added.run();
        }
    }

    /** Takes out an entry that is dropped; nothing happens if it is out already. */
    void remove(E entry) {
        if (index.remove(entry)) {
            removed.run();
        }
    }
}
