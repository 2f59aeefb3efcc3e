package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableList;
import dev.podcache.object.ObjectKey;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The committed objects with one increasing revision, as etcd has them for an API server, and the watch cache of each
 * resource. The caches follow each change at once, unless they are held. Guarded by the lock of the cluster.
 */
final class Storage {

    static final Comparator<ObjectKey> BY_NAMESPACE_AND_NAME =
            Comparator.comparing(ObjectKey::namespace).thenComparing(ObjectKey::name);

    private final Map<Resource, NavigableMap<ObjectKey, StoredObject>> objects = new EnumMap<>(Resource.class);
    private final Map<Resource, WatchCache> caches = new EnumMap<>(Resource.class);
    private final Deque<ClusterChange> notYetCached = new ArrayDeque<>();
    private long revision = 1;
    private long cachedRevision = 1;
    private boolean held;
    private boolean alternating;
    private boolean stalerAnswers;

    Storage(int historyLimit) {
        for (Resource resource : Resource.values()) {
            objects.put(resource, new TreeMap<>(BY_NAMESPACE_AND_NAME));
            caches.put(resource, new WatchCache(historyLimit));
        }
    }

    long revision() {
        return revision;
    }

    long cachedRevision() {
        return cachedRevision;
    }

    NavigableMap<ObjectKey, StoredObject> objects(Resource resource) {
        NavigableMap<ObjectKey, StoredObject> table = objects.get(resource);
        if (table == null) {
            throw new AssertionError(resource);
        }
        return table;
    }

    WatchCache cache(Resource resource) {
        WatchCache cache = caches.get(resource);
        if (cache == null) {
            throw new AssertionError(resource);
        }
        return cache;
    }

    /** Stores {@code json} as the new state of the object. The caller must not modify {@code json} afterwards. */
    StoredObject put(Resource resource, ObjectKey key, ObjectNode json) {
        StoredObject after = StoredObject.at(++revision, json);
        StoredObject before = objects(resource).put(key, after);
        notYetCached.addLast(new ClusterChange(resource, key, revision, before, after));
        return after;
    }

    /** Removes the object; does nothing if it does not exist. */
    void remove(Resource resource, ObjectKey key) {
        StoredObject before = objects(resource).remove(key);
        if (before != null) {
            notYetCached.addLast(new ClusterChange(resource, key, ++revision, before, null));
        }
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
