package dev.podcache;

import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The read path of the kubelet's {@code objectStore} (pkg/kubelet/util/manager/cache_based_manager.go) in Java, as a baseline: one mutex
 * around the map, one around each object, and at each get a look at the clock and at the Node's annotation, of which the TTL is parsed.
 */
final class TwoMutexStore<T> {

    private static final String ANNOTATION = "node.alpha.kubernetes.io/ttl";

    private final Map<ObjectKey, Held<T>> held = new HashMap<>(); // guarded by this
    private volatile Node node;

    private static final class Held<T> {
        private final T object; // guarded by this, like the next
        private final long receivedAt;

        Held(T object, long receivedAt) {
            this.object = object;
            this.receivedAt = receivedAt;
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
        held.put(key, new Held<>(object, System.nanoTime()));
    }

    T get(String namespace, String name) {
        Held<T> found = find(ObjectKey.of(namespace, name));
        if (found == null) {
            return null;
        }
        synchronized (found) {
            return System.nanoTime() - found.receivedAt < ttlNanos() ? found.object : null;
        }
    }

    private synchronized Held<T> find(ObjectKey key) {
        return held.get(key);
    }

    private long ttlNanos() {
        String seconds = node.getMetadata().getAnnotations().get(ANNOTATION);
        return TimeUnit.SECONDS.toNanos(Integer.parseInt(seconds));
    }
}
