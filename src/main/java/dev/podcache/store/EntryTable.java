package dev.podcache.store;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.Referrer;
import java.util.concurrent.ConcurrentHashMap;
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
     * Two nested maps, namespace then name, rather than one under a key object: a get has two strings in hand, and building a key
     * for each lookup is free only as long as the compiler can prove that the key goes nowhere, which in a large program it
     * often cannot.
     *
     * The inner map of a namespace is changed only inside compute of the outer one, so that an empty one can be taken out without
     * losing an entry that is just being put in. Entries are made before, and dropped before they are taken out: no entry's
     * monitor is ever taken inside a bin lock, nor the other way round.
     */

    private final ConcurrentHashMap<String, ConcurrentHashMap<String, E>> namespaces = new ConcurrentHashMap<>();
    private final Function<ObjectKey, E> newEntry;
    private final ObjectKind<?> kind;
    private final Runnable added;
    private final Runnable removed;
    private volatile boolean closed;

    /**
     * An empty table.
     *
     * @param kind of the objects, for messages
     * @param added run once for each entry that is put in, under a bin lock: brief, and taking no lock but a leaf
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
        ConcurrentHashMap<String, E> names = namespaces.get(namespace);
        return names == null ? null : names.get(name);
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
        namespaces.values().forEach(names -> names.values().forEach(action));
    }

    int size() {
        return namespaces.values().stream().mapToInt(ConcurrentHashMap::size).sum();
    }

    private void putIfAbsent(E candidate) {
        namespaces.compute(candidate.key.namespace(), (namespace, known) -> {
            ConcurrentHashMap<String, E> names = known == null ? new ConcurrentHashMap<>(8) : known;
            if (names.putIfAbsent(candidate.key.name(), candidate) == null) {
                added.run();
            }
            return names;
        });
    }

    /** Takes out an entry that is dropped; nothing happens if it is out already. */
    void remove(E entry) {
        namespaces.computeIfPresent(entry.key.namespace(), (namespace, names) -> {
            if (names.remove(entry.key.name(), entry)) {
                removed.run();
            }
            return names.isEmpty() ? null : names;
        });
    }
}
