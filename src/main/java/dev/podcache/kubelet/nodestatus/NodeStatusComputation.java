package dev.podcache.kubelet.nodestatus;

import com.google.common.collect.ImmutableList;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeSpec;
import java.time.Instant;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the Node should be, from what it is: the labels of the platform put right, then all setters in order. Blocks as
 * long as they do. Used in a turn only.
 */
final class NodeStatusComputation {

    private static final Logger log = LoggerFactory.getLogger(NodeStatusUpdater.class);

    private final InitialNode self;
    private final ImmutableList<NodeStatusSetter> setters;
    private final Set<NodeStatusSetter> failing = Collections.newSetFromMap(new IdentityHashMap<>());

    /**
     * The Node before and after.
     *
     * @param original what was read, unmodified
     * @param node a copy of it, brought up to date
     * @param changed whether it says anything new
     */
    record Computed(Node original, Node node, boolean changed) {

        /** The addresses that pods of this node get, or "". */
        String podCidrs() {
            NodeSpec spec = original.getSpec();
            return spec == null || spec.getPodCIDRs() == null ? "" : String.join(",", spec.getPodCIDRs());
        }
    }

    NodeStatusComputation(InitialNode self, ImmutableList<NodeStatusSetter> setters) {
        this.self = self;
        this.setters = setters;
    }

    /** The Node to create, with its status. */
    Node initial(Instant now) {
        Node node = self.toNode();
        set(node, now);
        return node;
    }

    /** Brings a copy of {@code original} up to date. */
    Computed update(Node original, Instant now) {
        Node node = NodeJson.copy(original);
        boolean relabelled = labelPlatform(node);
        set(node, now);
        return new Computed(
                original, node, relabelled || NodeStatusChange.between(original.getStatus(), node.getStatus()));
    }

    private boolean labelPlatform(Node node) {
        Map<String, String> before = node.getMetadata().getLabels();
        Map<String, String> labels = before == null ? new HashMap<>() : new HashMap<>(before);
        labels.put(NodeLabels.OS, self.os());
        labels.put(NodeLabels.ARCH, self.arch());
        node.getMetadata().setLabels(labels);
        return !labels.equals(before);
    }

    private void set(Node node, Instant now) {
        for (NodeStatusSetter setter : setters) {
            try {
                setter.set(node, now);
                if (failing.remove(setter)) {
                    log.info("Node {}: {} works again", self.name(), setter);
                }
            } catch (RuntimeException | LinkageError e) {
                // a native library that cannot be loaded is a fact that cannot be had, too
                if (failing.add(setter)) {
                    log.warn("Node {}: a part of the status cannot be told, {} failed", self.name(), setter, e);
                }
            }
        }
    }
}
