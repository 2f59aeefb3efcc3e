package dev.podcache.store;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.Referrer;
import dev.podcache.time.CoarseClock;
import java.util.concurrent.ConcurrentHashMap;
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
    private final CoarseClock clock;

    /**
     * An empty table.
     *
     * @param clock runs while there are entries
     */
    EntryTable(Function<ObjectKey, E> newEntry, CoarseClock clock) {
        this.newEntry = newEntry;
        this.clock = clock;
    }

    /** The entry of an object; null if nobody refers to it. The entry may have been dropped a moment ago. */
    @Nullable
    E find(String namespace, String name) {
        ConcurrentHashMap<String, E> names = namespaces.get(namespace);
        return names == null ? null : names.get(name);
    }

    void addReference(ObjectKey key, Referrer referrer) {
        while (true) {
            E entry = find(key.namespace(), key.name());
            if (entry == null) {
                putIfAbsent(newEntry.apply(key));
            } else if (entry.addReference(referrer)) {
                return;
            } else {
                // it is dropped, and whoever dropped it is about to take it out: lend a hand
                remove(entry);
            }
        }
    }

    void deleteReference(ObjectKey key, Referrer referrer) {
        E entry = find(key.namespace(), key.name());
        if (entry != null && entry.deleteReference(referrer)) {
            remove(entry);
        }
    }

    /** Drops every entry, whoever refers to it. */
    void clear() {
        for (ConcurrentHashMap<String, E> names : namespaces.values()) {
            for (E entry : names.values()) {
                entry.drop();
                remove(entry);
            }
        }
    }

    int size() {
        return namespaces.values().stream().mapToInt(ConcurrentHashMap::size).sum();
    }

    private void putIfAbsent(E candidate) {
        namespaces.compute(candidate.key.namespace(), (namespace, known) -> {
            ConcurrentHashMap<String, E> names = known == null ? new ConcurrentHashMap<>(8) : known;
            if (names.putIfAbsent(candidate.key.name(), candidate) == null) {
                clock.retain();
            }
            return names;
        });
    }

    /** Takes out an entry that is dropped; nothing happens if it is out already. */
    void remove(E entry) {
        namespaces.computeIfPresent(entry.key.namespace(), (namespace, names) -> {
            if (names.remove(entry.key.name(), entry)) {
                clock.release();
            }
            return names.isEmpty() ? null : names;
        });
    }
}
