package dev.podcache.manager;

import dev.podcache.metrics.CountedEvents;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.store.ChangeCounts;
import dev.podcache.store.KnownObject;
import dev.podcache.store.Store;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;

/**
 * The counts of one cache, of all kinds, at one moment. Immutable.
 *
 * <p>What the cache holds now: {@link #objects()}, {@link #size}, {@link #references}, {@link #bytes},
 * {@link #watches}, {@link #connections}. All other counts say what has happened since the cache was built, and never
 * decrease. The counts are read one after the other, so an event that happens meanwhile may be in one and not in
 * another.
 */
public final class CacheStats {

    private final Map<ObjectKind<?>, Map<CacheState, Integer>> objects;
    private final long references;
    private final long bytes;
    private final int watches;
    private final int connections;
    private final OptionalLong hits;
    private final long misses;
    private final long stale;
    private final long answered;
    private final long notFound;
    private final Map<FailureReason, Long> fetchFailures;
    private final Map<FailureReason, Long> watchFailures;
    private final ChangeCounts changes;

    /** Adds up what a cache holds, object by object. For one thread. */
    static final class HeldTotals {

        private final Map<ObjectKind<?>, Map<CacheState, Integer>> objects = new HashMap<>();
        private long references;
        private long bytes;
        private int watches;
        private ChangeCounts changes = ChangeCounts.NONE;

        /** Adds a kind, with all objects that its store holds. */
        void add(ObjectKind<?> kind, Store<?> store) {
            changes = changes.plus(store.changes());
            Map<CacheState, Integer> byState = new EnumMap<>(CacheState.class);
            for (ObjectKey key : store.keys()) {
                KnownObject<?> known = store.known(key);
                if (known != null) {
                    byState.merge(known.state().cacheState(), 1, Integer::sum);
                    references += known.state().references();
                    bytes += known.bytes();
                    watches += known.connection().isEmpty() ? 0 : 1;
                }
            }
            objects.put(kind, Collections.unmodifiableMap(byState));
        }
    }

    /**
     * Takes the counts.
     *
     * @param hits empty if they are not counted
     */
    CacheStats(HeldTotals held, CountedEvents events, OptionalLong hits, int connections) {
        this.objects = Map.copyOf(held.objects);
        this.references = held.references;
        this.bytes = held.bytes;
        this.watches = held.watches;
        this.changes = held.changes;
        this.hits = hits;
        this.misses = events.misses();
        this.stale = events.stale();
        this.answered = events.answered();
        Map<FailureReason, Long> failures = new EnumMap<>(events.fetchFailures());
        Long absent = failures.remove(FailureReason.NOT_FOUND);
        this.notFound = absent == null ? 0 : absent;
        this.fetchFailures = Collections.unmodifiableMap(failures);
        this.watchFailures = events.watchFailures();
        this.connections = connections;
    }

    /**
     * Returns the number of referenced objects of each kind in use, by state; unmodifiable. A state without objects has
     * no entry. A kind under {@link ChangeDetectionStrategy#GET}, which holds nothing, has an empty map.
     */
    public Map<ObjectKind<?>, Map<CacheState, Integer>> objects() {
        return objects;
    }

    /** Returns the number of referenced objects of one kind in one state. */
    public int objects(ObjectKind<?> kind, CacheState state) {
        return objects.getOrDefault(kind, Map.of()).getOrDefault(state, 0);
    }

    /** Returns the number of referenced objects, in any state. */
    public int size() {
        return objects.values().stream()
                .flatMap(byState -> byState.values().stream())
                .mapToInt(Integer::intValue)
                .sum();
    }

    /** Returns the number of references: pairs of an owner and an object that it is registered for. */
    public long references() {
        return references;
    }

    /** Returns the size of the objects in memory, as they were received, in bytes. */
    public long bytes() {
        return bytes;
    }

    /** Returns the number of objects whose watch is open. Each has an {@link ObjectEntry#connection}. */
    public int watches() {
        return watches;
    }

    /**
     * Returns the number of connections to the API server that are open or being opened. If several caches share an API
     * server, each counts the connections of all. Connections of heartbeats are not counted.
     */
    public int connections() {
        return connections;
    }

    /**
     * Returns the number of gets that were answered from memory with an object that is up to date. Empty unless the
     * cache was built with {@code PodcacheBuilder.recordStats}. A get that fails, asks for an absent object, or names a
     * {@code ReadConsistency} is no hit.
     */
    public OptionalLong hits() {
        return hits;
    }

    /**
     * Returns the number of gets that found no fresh object in memory, including gets of objects that do not exist or
     * that no owner is registered for. Gets of a stale object count under {@link ChangeDetectionStrategy#CACHE}; under
     * {@link ChangeDetectionStrategy#WATCH} they count as {@link #stale} only.
     */
    public long misses() {
        return misses;
    }

    /** Returns the number of gets that were answered with an object older than the strategy promises. */
    public long stale() {
        return stale;
    }

    /**
     * Returns the number of fetches that ended with an object. A fetch is what gets wait for under {@link
     * ChangeDetectionStrategy#GET} and {@link ChangeDetectionStrategy#CACHE}: a request with its retries.
     */
    public long fetchesAnswered() {
        return answered;
    }

    /** Returns the number of fetches that ended with the answer that there is no such object. */
    public long fetchesNotFound() {
        return notFound;
    }

    /**
     * Returns the number of fetches that ended without an answer, by reason; unmodifiable, with every reason but {@link
     * FailureReason#NOT_FOUND}, which is an answer.
     */
    public Map<FailureReason, Long> fetchesFailed() {
        return fetchFailures;
    }

    /** Returns the number of failed lists and watches under WATCH, by reason; unmodifiable, with every reason. */
    public Map<FailureReason, Long> watchFailures() {
        return watchFailures;
    }

    /** Returns how often an object was taken into memory, or replaced there by another version. */
    public long updates() {
        return changes.updates();
    }

    /** Returns how often the payload budget took an object out of memory. */
    public long evictions() {
        return changes.evictions();
    }

    @Override
    public String toString() {
        return "objects " + objects + ", references " + references + ", bytes " + bytes + ", watches " + watches
                + ", connections " + connections + ", hits " + (hits.isPresent() ? hits.getAsLong() : "not counted")
                + ", misses " + misses + ", stale " + stale + ", fetches " + answered + ", not found " + notFound
                + ", failed " + fetchFailures
                + ", watches failed " + watchFailures + ", updates " + updates() + ", evictions " + evictions();
    }
}
