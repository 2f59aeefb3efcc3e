package dev.podcache.kubelet.agent;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.node.NodeLister;
import dev.podcache.reflector.ReflectorSink;
import io.fabric8.kubernetes.api.model.Node;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Nodes of many agents, from one watch. Each agent gets a {@link NodeLister} of its own Node. Thread-safe; no method
 * blocks.
 */
final class SharedNodes implements ReflectorSink<Node> {

    private static final Logger log = LoggerFactory.getLogger(SharedNodes.class);

    private final ConcurrentHashMap<String, OneNode> byName = new ConcurrentHashMap<>();
    private final Runnable listed;
    private volatile @Nullable String problem = "the Nodes have not been read yet";

    /**
     * Makes an instance that follows no Node.
     *
     * @param listed called after each list of all Nodes
     */
    SharedNodes(Runnable listed) {
        this.listed = listed;
    }

    /** Returns the lister of the Node with this name, which is followed from now on. Call before the watch begins. */
    NodeLister follow(String name) {
        return byName.computeIfAbsent(name, OneNode::new);
    }

    /** Returns the Node as last seen; empty if it is not followed, does not exist or was never read. */
    Optional<Node> get(String name) {
        OneNode node = byName.get(name);
        return node == null ? Optional.empty() : node.get();
    }

    boolean contains(@Nullable String name) {
        return name != null && byName.containsKey(name);
    }

    @Override
    public void replace(List<Fetched<Node>> items, String resourceVersion) {
        problem = null;
        Set<String> existing = new HashSet<>();
        for (Fetched<Node> item : items) {
            upsert(item);
            existing.add(item.object().getMetadata().getName());
        }
        byName.forEach((name, node) -> {
            if (!existing.contains(name)) {
                node.set(null);
            }
        });
        listed.run();
    }

    @Override
    public void upsert(Fetched<Node> fetched) {
        OneNode node = byName.get(fetched.object().getMetadata().getName());
        if (node != null) {
            node.set(fetched.object());
        }
    }

    @Override
    public void delete(Fetched<Node> last) {
        OneNode node = byName.get(last.object().getMetadata().getName());
        if (node != null) {
            node.set(null);
        }
    }

    @Override
    public void connected() {
        problem = null;
    }

    @Override
    public void disconnected(ApiServerException cause) {
        problem = "watch of the Nodes failed: " + cause.getMessage();
        log.debug("watch of the Nodes failed; retrying: {}", cause.getMessage());
    }

    /** The last known state of one Node. */
    private final class OneNode implements NodeLister {

        private final String name;
        private final List<Runnable> listeners = new CopyOnWriteArrayList<>();
        private volatile @Nullable Node node;

        OneNode(String name) {
            this.name = name;
        }

        void set(@Nullable Node newest) {
            node = newest;
            for (Runnable listener : listeners) {
                try {
                    listener.run();
                } catch (RuntimeException e) {
                    log.error("a listener of Node {} threw; this is a bug in the listener", name, e);
                }
            }
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public Optional<Node> get() {
            return Optional.ofNullable(node);
        }

        @Override
        public Optional<String> problem() {
            String current = problem;
            if (current != null) {
                return Optional.of(current);
            }
            return node == null ? Optional.of("Node " + name + " does not exist") : Optional.empty();
        }

        @Override
        public void addListener(Runnable listener) {
            listeners.add(listener);
        }

        @Override
        public void removeListener(Runnable listener) {
            listeners.remove(listener);
        }

        /** Has no effect: the watch belongs to all agents. */
        @Override
        public void close() {}
    }
}
