package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableList;
import dev.podcache.object.ObjectKey;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The committed objects with one increasing revision, as etcd has them for an API server, and the watch cache of each
 * resource. The caches follow each change at once, unless they are held. Guarded by the lock of the cluster.
 */
final class Storage {

    static final Comparator<ObjectKey> BY_NAMESPACE_AND_NAME =
            Comparator.comparing(ObjectKey::namespace).thenComparing(ObjectKey::name);

    /** The objects of one resource, and its watch cache. */
    private record StoredTable(NavigableMap<ObjectKey, StoredObject> objects, WatchCache cache) {}

    private final Map<Resource, StoredTable> tables = new LinkedHashMap<>();
    private final int historyLimit;
    private final Consumer<ClusterChange> committed;
    private final Deque<ClusterChange> notYetCached = new ArrayDeque<>();
    private long revision = 1;
    private long cachedRevision = 1;
    private boolean held;
    private boolean alternating;
    private boolean stalerAnswers;

    /**
     * Creates a storage without tables.
     *
     * @param committed is told of each change as soon as it is committed
     */
    Storage(int historyLimit, Consumer<ClusterChange> committed) {
        this.historyLimit = historyLimit;
        this.committed = committed;
    }

    /** Adds a table. Returns whether it is new. */
    boolean add(Resource resource) {
        StoredTable empty = new StoredTable(new TreeMap<>(BY_NAMESPACE_AND_NAME), new WatchCache(historyLimit));
        // no watch can start at a version from before the table was there
        empty.cache().forgetHistory(revision);
        return tables.putIfAbsent(resource, empty) == null;
    }

    /** Removes a table, whose objects and watches must be gone. */
    void drop(Resource resource) {
        notYetCached.removeIf(change -> change.resource().equals(resource));
        tables.remove(resource);
    }

    boolean has(Resource resource) {
        return tables.containsKey(resource);
    }

    /** Returns the resources that have a table. */
    ImmutableList<Resource> resources() {
        return ImmutableList.copyOf(tables.keySet());
    }

    long revision() {
        return revision;
    }

    long cachedRevision() {
        return cachedRevision;
    }

    NavigableMap<ObjectKey, StoredObject> objects(Resource resource) {
        return table(resource).objects();
    }

    WatchCache cache(Resource resource) {
        return table(resource).cache();
    }

    /**
     * Returns the table of a resource.
     *
     * @throws StatusException 404 if there is none, because the resource is not served, or not served any more
     */
    private StoredTable table(Resource resource) {
        StoredTable table = tables.get(resource);
        if (table == null) {
            throw StatusException.unknownPath();
        }
        return table;
    }

    /**
     * Returns the objects of a resource as they were at a revision.
     *
     * @throws StatusException 410 if the history does not reach back so far
     */
    NavigableMap<ObjectKey, StoredObject> objectsAt(Resource resource, long at) {
        StoredTable table = table(resource);
        if (at >= revision) {
            return table.objects();
        }
        if (Long.compareUnsigned(at, table.cache().lastForgotten()) < 0) {
            throw StatusException.expiredContinue();
        }
        NavigableMap<ObjectKey, StoredObject> then = new TreeMap<>(table.objects());
        notYetCached.descendingIterator().forEachRemaining(change -> undo(change, resource, at, then));
        table.cache().newestFirst().forEachRemaining(change -> undo(change, resource, at, then));
        return then;
    }

    private static void undo(
            ClusterChange change, Resource resource, long at, NavigableMap<ObjectKey, StoredObject> objects) {
        if (!change.resource().equals(resource) || Long.compareUnsigned(change.revision(), at) <= 0) {
            return;
        }
        if (change.before() == null) {
            objects.remove(change.key());
        } else {
            objects.put(change.key(), change.before());
        }
    }

    /** Stores {@code json} as the new state of the object. The caller must not modify {@code json} afterwards. */
    StoredObject put(Resource resource, ObjectKey key, ObjectNode json) {
        StoredObject after = StoredObject.at(++revision, json);
        StoredObject before = objects(resource).put(key, after);
        commit(new ClusterChange(resource, key, revision, before, after));
        return after;
    }

    /** Removes the object; does nothing if it does not exist. */
    void remove(Resource resource, ObjectKey key) {
        StoredObject before = objects(resource).remove(key);
        if (before != null) {
            commit(new ClusterChange(resource, key, ++revision, before, null));
        }
    }

    private void commit(ClusterChange change) {
        notYetCached.addLast(change);
        committed.accept(change);
    }

    /** Sets whether the caches stop following changes. */
    void hold(boolean newHeld) {
        held = newHeld;
    }

    /**
     * Sets whether a second, staler server answers every other read of the cache, with the state before the last change
     * of the object.
     */
    void alternate(boolean on) {
        alternating = on;
    }

    /** Returns the state of an object in the watch cache, or null. */
    @Nullable
    StoredObject cached(Resource resource, ObjectKey key) {
        stalerAnswers = alternating && !stalerAnswers;
        return stalerAnswers
                ? cache(resource).beforeLastChange(key)
                : cache(resource).get(key);
    }

    /**
     * Applies all outstanding changes to the caches, unless they are held.
     *
     * @return the watches with events to deliver
     */
    ImmutableList<Watcher> updateCaches() {
        if (held) {
            return ImmutableList.of();
        }
        ImmutableList.Builder<Watcher> pending = ImmutableList.builder();
        for (@Nullable ClusterChange change = notYetCached.poll(); change != null; change = notYetCached.poll()) {
            pending.addAll(cache(change.resource()).apply(change));
        }
        cachedRevision = revision;
        return pending.build();
    }
}
