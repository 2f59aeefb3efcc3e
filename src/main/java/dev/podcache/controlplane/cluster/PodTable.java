package dev.podcache.controlplane.cluster;

import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The pods in a {@link ClusterCache}, by name and by node. */
final class PodTable implements CacheTable<Pod> {

    private final ClusterListeners listeners;
    private final Map<ObjectKey, ObservedPod> pods = new HashMap<>();
    private final Map<String, Map<ObjectKey, ObservedPod>> byNode = new HashMap<>();

    PodTable(ClusterListeners listeners) {
        this.listeners = listeners;
    }

    @Nullable
    ObservedPod get(ObjectKey key) {
        return pods.get(key);
    }

    Collection<ObservedPod> of(String node) {
        return byNode.getOrDefault(node, Map.of()).values();
    }

    @Override
    public void replace(List<Pod> objects) {
        Set<ObjectKey> gone = new HashSet<>(pods.keySet());
        for (Pod pod : objects) {
            ObservedPod now = ObservedPod.of(pod);
            gone.remove(now.key());
            put(now);
        }
        gone.forEach(this::remove);
    }

    @Override
    public void put(Pod object) {
        put(ObservedPod.of(object));
    }

    private void put(ObservedPod now) {
        ObservedPod before = pods.put(now.key(), now);
        if (before != null && !before.node().equals(now.node())) {
            leave(before);
        }
        if (!now.node().isEmpty()) {
            byNode.computeIfAbsent(now.node(), node -> new LinkedHashMap<>()).put(now.key(), now);
        }
        listeners.tell(listener -> listener.podChanged(before, now));
    }

    @Override
    public void remove(Pod last) {
        remove(ObservedPod.of(last).key());
    }

    private void remove(ObjectKey key) {
        ObservedPod last = pods.remove(key);
        if (last != null) {
            leave(last);
            listeners.tell(listener -> listener.podDeleted(last));
        }
    }

    private void leave(ObservedPod pod) {
        byNode.computeIfPresent(pod.node(), (node, ofNode) -> {
            ofNode.remove(pod.key());
            return ofNode.isEmpty() ? null : ofNode;
        });
    }
}
