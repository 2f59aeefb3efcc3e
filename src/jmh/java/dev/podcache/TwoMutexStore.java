package dev.podcache;

import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * The reads of the kubelet's {@code objectStore} (pkg/kubelet/util/manager/cache_based_manager.go) in Java, as a
 * baseline: one mutex around the map, one around each object, and at each get a look at the clock and at the Node's
 * annotation, of which the TTL is parsed.
 */
final class TwoMutexStore<T> {

    private static final String ANNOTATION = "node.alpha.kubernetes.io/ttl";

    private final Map<ObjectKey, HeldObject<T>> held = new HashMap<>(); // guarded by this
    private volatile Node node;

    private static final class HeldObject<T> {
        private T object; // guarded by this, like the next
        private long receivedAt;

        private void keep(T received) {
            object = received;
            receivedAt = System.nanoTime();
        }
    }

    TwoMutexStore(Duration ttl) {
        node = new NodeBuilder()
                .withNewMetadata()
                .withName("worker-1")
                .addToAnnotations(ANNOTATION, Long.toString(ttl.toSeconds()))
                .endMetadata()
                .build();
    }

    synchronized void put(ObjectKey key, T object) {
        HeldObject<T> first = new HeldObject<>();
        first.keep(object);
        held.put(key, first);
    }

    synchronized void forget(ObjectKey key) {
        held.put(key, new HeldObject<>());
    }

    /** Whoever finds nothing, or something too old, asks; others wait for that on the object's mutex. */
    T get(ObjectKey key, Function<ObjectKey, T> fetch) {
        HeldObject<T> found = find(key);
        synchronized (found) {
            if (found.object == null || System.nanoTime() - found.receivedAt >= ttlNanos()) {
                found.keep(fetch.apply(key));
            }
            return found.object;
        }
    }

    T get(String namespace, String name) {
        HeldObject<T> found = find(ObjectKey.of(namespace, name));
        if (found == null) {
            return null;
        }
        synchronized (found) {
            return System.nanoTime() - found.receivedAt < ttlNanos() ? found.object : null;
        }
    }

    private synchronized HeldObject<T> find(ObjectKey key) {
        return held.get(key);
    }

    private long ttlNanos() {
        String seconds = node.getMetadata().getAnnotations().get(ANNOTATION);
        return TimeUnit.SECONDS.toNanos(Integer.parseInt(seconds));
    }
}
