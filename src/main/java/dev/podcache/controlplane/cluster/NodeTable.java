package dev.podcache.controlplane.cluster;

import io.fabric8.kubernetes.api.model.Node;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The Nodes in a {@link ClusterCache}, by name. */
final class NodeTable implements CacheTable<Node> {

    private final ClusterListeners listeners;
    private final Map<String, ObservedNode> nodes = new LinkedHashMap<>();

    NodeTable(ClusterListeners listeners) {
        this.listeners = listeners;
    }

    Collection<ObservedNode> all() {
        return nodes.values();
    }

    @Nullable
    ObservedNode get(String name) {
        return nodes.get(name);
    }

    @Override
    public void replace(List<Node> objects) {
        Set<String> gone = new HashSet<>(nodes.keySet());
        for (Node node : objects) {
            gone.remove(node.getMetadata().getName());
            put(node);
        }
        gone.forEach(this::remove);
    }

    @Override
    public void put(Node object) {
        ObservedNode now = ObservedNode.of(object);
        ObservedNode before = nodes.put(now.name(), now);
        if (before == null) {
            listeners.tell(listener -> listener.nodeAdded(now));
        } else {
            listeners.tell(listener -> listener.nodeChanged(before, now));
        }
    }

    @Override
    public void remove(Node last) {
        remove(last.getMetadata().getName());
    }

    private void remove(String name) {
        ObservedNode last = nodes.remove(name);
        if (last != null) {
            listeners.tell(listener -> listener.nodeDeleted(last));
        }
    }
}
