package dev.podcache;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodReferences;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * The registrations of the kubelet's {@code cacheBasedManager}
 * (pkg/kubelet/util/manager/cache_based_manager.go) in Java, as a baseline: one mutex around the pods, one
 * around the counts, and what a pod refers to found again at each registration.
 */
final class TwoMutexManager {

    private final Map<PodKey, Pod> registered = new HashMap<>(); // guarded by this
    private final Map<ObjectKey, Integer> counts = new HashMap<>(); // guarded by itself

    void registerPod(Pod pod) {
        Set<ObjectKey> names = PodReferences.secretKeys(pod);
        synchronized (this) {
            names.forEach(this::addReference);
            Pod before = registered.put(PodReferences.key(pod), pod);
            if (before != null) {
                PodReferences.secretKeys(before).forEach(this::deleteReference);
            }
        }
    }

    void unregisterPod(Pod pod) {
        synchronized (this) {
            Pod before = registered.remove(PodReferences.key(pod));
            if (before != null) {
                PodReferences.secretKeys(before).forEach(this::deleteReference);
            }
        }
    }

    private void addReference(ObjectKey key) {
        synchronized (counts) {
            counts.merge(key, 1, Integer::sum);
        }
    }

    private void deleteReference(ObjectKey key) {
        synchronized (counts) {
            counts.computeIfPresent(key, (same, count) -> count == 1 ? null : count - 1);
        }
    }
}
