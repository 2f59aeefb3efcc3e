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
 * What etcd is to a server: the committed objects under one growing revision, followed by one watch cache a resource.
 * The caches follow at once, unless they are held. Guarded by the cluster's lock.
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
    private boolean stalersTurn;

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

    /** Takes {@code json} over as the new state of the object. */
    StoredObject put(Resource resource, ObjectKey key, ObjectNode json) {
        StoredObject after = StoredObject.at(++revision, json);
        StoredObject before = objects(resource).put(key, after);
        notYetCached.addLast(new ClusterChange(resource, key, revision, before, after));
        return after;
    }

    void remove(Resource resource, ObjectKey key) {
        StoredObject before = objects(resource).remove(key);
        if (before != null) {
            notYetCached.addLast(new ClusterChange(resource, key, ++revision, before, null));
        }
    }

    void hold(boolean newHeld) {
        held = newHeld;
    }

    /** Has every other read of the cache answered by a second server, which has not heard of each object's last change. */
    void alternate(boolean on) {
        alternating = on;
    }

    /** What a read of the cache finds. */
    @Nullable
    StoredObject cached(Resource resource, ObjectKey key) {
        stalersTurn = alternating && !stalersTurn;
        return stalersTurn
                ? cache(resource).beforeLastChange(key)
                : cache(resource).get(key);
    }

    /**
     * Brings the caches up to date, unless they are held.
     *
     * @return the watches that have something to tell
     */
    ImmutableList<Watcher> feedCaches() {
        if (held) {
            return ImmutableList.of();
        }
        ImmutableList.Builder<Watcher> telling = ImmutableList.builder();
        for (@Nullable ClusterChange change = notYetCached.poll(); change != null; change = notYetCached.poll()) {
            telling.addAll(cache(change.resource()).apply(change));
        }
        cachedRevision = revision;
        return telling.build();
    }
}
