package dev.podcache;

import dev.podcache.object.ObjectKey;
import java.util.HashMap;
import java.util.Map;

/**
 * The read path of the kubelet's {@code objectStore} (pkg/kubelet/util/manager/cache_based_manager.go) in Java, as a baseline: one mutex
 * around the map, one around each object, and a look at the clock at each get.
 */
final class TwoMutexStore<T> {

    private final Map<ObjectKey, Held<T>> held = new HashMap<>(); // guarded by this
    private final long ttlNanos;

    private static final class Held<T> {
        private final T object; // guarded by this, like the next
        private final long receivedAt;

        Held(T object, long receivedAt) {
            this.object = object;
            this.receivedAt = receivedAt;
        }

        synchronized T ifFresh(long ttlNanos) {
            return System.nanoTime() - receivedAt < ttlNanos ? object : null;
        }
    }

    TwoMutexStore(long ttlNanos) {
        this.ttlNanos = ttlNanos;
    }

    synchronized void put(ObjectKey key, T object) {
        held.put(key, new Held<>(object, System.nanoTime()));
    }

    T get(String namespace, String name) {
        Held<T> found = find(ObjectKey.of(namespace, name));
        return found == null ? null : found.ifFresh(ttlNanos);
    }

    private synchronized Held<T> find(ObjectKey key) {
        return held.get(key);
    }
}
