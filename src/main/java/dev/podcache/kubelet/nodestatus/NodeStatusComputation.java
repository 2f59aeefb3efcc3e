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
 * Computes the wanted Node from the current one: sets the platform labels, then calls all setters in order. Blocks
 * while a setter blocks. Used only by tasks of {@link SerialTasks}.
 */
final class NodeStatusComputation {

    private static final Logger log = LoggerFactory.getLogger(NodeStatusUpdater.class);

    private final InitialNode self;
    private final ImmutableList<NodeStatusSetter> setters;
    private final Set<NodeStatusSetter> failing = Collections.newSetFromMap(new IdentityHashMap<>());

    /**
     * The result of a computation.
     *
     * @param original the Node that was read, unmodified
     * @param node the updated copy
     * @param changed whether the platform labels or the status have changed, as {@link NodeStatusChange} defines it
     */
    record Computed(Node original, Node node, boolean changed) {

        /** Returns the CIDRs of this node's pods, separated by commas; empty if the Node has none. */
        String podCidrs() {
            NodeSpec spec = original.getSpec();
            return spec == null || spec.getPodCIDRs() == null ? "" : String.join(",", spec.getPodCIDRs());
        }
    }

    NodeStatusComputation(InitialNode self, ImmutableList<NodeStatusSetter> setters) {
        this.self = self;
        this.setters = setters;
    }

    /** Returns the Node to create, with its status. */
    Node initial(Instant now) {
        Node node = self.toNode();
        set(node, now);
        return node;
    }

    /** Returns an updated copy of {@code original}. */
    Computed update(Node original, Instant now) {
        Node node = NodeJson.copy(original);
        boolean labelsChanged = setPlatformLabels(node);
        set(node, now);
        return new Computed(
                original, node, labelsChanged || NodeStatusChange.between(original.getStatus(), node.getStatus()));
    }

    private boolean setPlatformLabels(Node node) {
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
                    log.info(
                            "status setter {} of Node {} succeeds again",
                            setter.getClass().getSimpleName(),
                            self.name());
                }
            } catch (RuntimeException | LinkageError e) {
                // LinkageError: a native library could not be loaded
                if (failing.add(setter)) {
                    log.warn(
                            "status setter {} of Node {} failed; its part of the status is stale",
                            setter.getClass().getSimpleName(),
                            self.name(),
                            e);
                }
            }
        }
    }
}
