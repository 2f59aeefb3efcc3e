package dev.podcache.manager;

import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectKind;
import dev.podcache.store.ChangeCounts;
import dev.podcache.store.KnownObject;
import dev.podcache.store.ObjectState;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/** Adds up what a cache holds, object by object. Not thread-safe. */
final class HeldTotals {

    private final Map<ObjectKind<?>, Map<CacheState, Integer>> objects = new HashMap<>();
    long references;
    long bytes;
    int watches;
    ChangeCounts changes = ChangeCounts.NONE;

    /** Adds a kind, and how often its objects have changed. */
    void add(ObjectKind<?> kind, ChangeCounts ofKind) {
        objects.put(kind, new EnumMap<>(CacheState.class));
        changes = changes.plus(ofKind);
    }

    /** Adds an object; its kind must have been added. */
    void add(ObjectKind<?> kind, ObjectState state, KnownObject<?> known) {
        objects.computeIfAbsent(kind, any -> new EnumMap<>(CacheState.class))
                .merge(state.cacheState(), 1, Integer::sum);
        references += state.references();
        bytes += known.bytes();
        watches += known.connection().isEmpty() ? 0 : 1;
    }

    /** Returns the number of objects by kind and state, unmodifiable; a state without objects is missing. */
    Map<ObjectKind<?>, Map<CacheState, Integer>> objects() {
        Map<ObjectKind<?>, Map<CacheState, Integer>> copy = new HashMap<>();
        objects.forEach((kind, byState) -> copy.put(kind, Collections.unmodifiableMap(new EnumMap<>(byState))));
        return Collections.unmodifiableMap(copy);
    }
}
