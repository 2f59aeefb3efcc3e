package dev.podcache.cli.observe;

import dev.podcache.kubelet.agent.Caches;
import dev.podcache.manager.Manager;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.PodKey;
import dev.podcache.object.Reference;
import dev.podcache.pod.PodReferences;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Reads everything that a pod refers to, once a period and when the pod appears or changes, as a kubelet does when it
 * syncs the pod. Skips a pod whose last sync still waits for an object, so that a slow object delays only its own pods.
 */
final class PeriodicReads implements AutoCloseable {

    private static final int READERS = 8;

    private final Caches caches;
    private final Set<PodKey> syncing = ConcurrentHashMap.newKeySet();
    private final PeriodicTasks timer = new PeriodicTasks("periodic-reads", 1);
    private final PeriodicTasks readers = new PeriodicTasks("reader", READERS);

    /** @param caches report the results of the reads */
    PeriodicReads(Caches caches) {
        this.caches = caches;
    }

    /** Starts to sync {@code pods} once a period. */
    void start(Supplier<? extends Iterable<Pod>> pods, Duration period) {
        timer.every(Duration.ZERO, period, () -> pods.get().forEach(this::soon));
    }

    /** Syncs a pod on a reader's thread, unless its last sync still runs. */
    void soon(Pod pod) {
        PodKey key = PodReferences.key(pod);
        if (syncing.add(key) && !readers.run(() -> sync(pod, key))) {
            syncing.remove(key);
        }
    }

    /** Returns the number of pods whose sync runs, or waits for a thread. */
    int busy() {
        return syncing.size();
    }

    private void sync(Pod pod, PodKey key) {
        try {
            sync(pod);
        } finally {
            syncing.remove(key);
        }
    }

    /** Reads what a pod refers to, once for each use. */
    void sync(Pod pod) {
        read(caches.secrets(), PodReferences.secrets(pod));
        read(caches.configMaps(), PodReferences.configMaps(pod));
    }

    private static void read(Manager<?> manager, Set<Reference> references) {
        for (Reference reference : references) {
            try {
                manager.getObject(reference.key().namespace(), reference.key().name());
            } catch (ObjectUnavailableException | IllegalArgumentException reported) {
                // by the caches
            }
        }
    }

    /** Stops the syncs, and waits some seconds for those that run. Idempotent. */
    @Override
    public void close() {
        timer.close();
        readers.close();
    }
}
