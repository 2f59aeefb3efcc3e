package dev.podcache.kubelet.nodestatus;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.api.model.TaintBuilder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The metadata and spec of the Node that a node agent creates for itself. Immutable.
 *
 * <p>If the Node exists already, registration corrects only its attach-detach annotation and its well-known labels:
 * platform, host name, zone, region and instance type. Taints, other labels and the provider id apply only when the
 * Node is created, because an administrator may have changed them since.
 */
public final class InitialNode {

    // After initialNode of kubernetes/kubernetes, pkg/kubelet/kubelet_node_status.go.

    /** Whether the attach-detach controller, and not the node, attaches the node's volumes. */
    static final String ATTACH_DETACH = "volumes.kubernetes.io/controller-managed-attach-detach";

    private static final Logger log = LoggerFactory.getLogger(InitialNode.class);

    private final String name;
    private final String os;
    private final String arch;
    private final ImmutableMap<String, String> labels;
    private final ImmutableList<Taint> taints;
    private final @Nullable String providerId;

    private InitialNode(Builder builder) {
        this.name = builder.name;
        this.os = builder.os;
        this.arch = builder.arch;
        this.labels = builder.allLabels();
        this.taints = ImmutableList.copyOf(builder.taints);
        this.providerId = builder.providerId;
    }

    /**
     * Returns a builder of a Node with the labels of its platform and host name.
     *
     * @param name the name of the Node
     * @param os the operating system as Go names it, such as {@code linux}
     * @param arch the architecture as Go names it, such as {@code amd64}
     * @throws IllegalArgumentException if {@code name} is not a legal name, or {@code os} or {@code arch} is not a
     *     legal label value
     */
    public static Builder builder(String name, String os, String arch) {
        return new Builder(name, os, arch);
    }

    /** Returns the Node's name. */
    public String name() {
        return name;
    }

    String os() {
        return os;
    }

    String arch() {
        return arch;
    }

    /** Returns a new Node with an empty status. */
    Node toNode() {
        NodeBuilder node = new NodeBuilder()
                .withNewMetadata()
                .withName(name)
                .withLabels(new LinkedHashMap<>(labels))
                .addToAnnotations(ATTACH_DETACH, "true")
                .endMetadata()
                .withNewSpec()
                .withProviderID(providerId)
                .endSpec()
                .withNewStatus()
                .endStatus();
        for (Taint taint : taints) {
            node.editSpec().addToTaints(new TaintBuilder(taint).build()).endSpec();
        }
        return node.build();
    }

    /** Builds an {@link InitialNode}. Not thread-safe. */
    public static final class Builder {

        private final String name;
        private final String os;
        private final String arch;
        private Map<String, String> labels = Map.of();
        private List<Taint> taints = List.of();
        private @Nullable String providerId;

        private Builder(String name, String os, String arch) {
            LabelSyntax.requireSubdomain("node name", name);
            LabelSyntax.requireValue("operating system", os);
            LabelSyntax.requireValue("architecture", arch);
            this.name = name;
            this.os = os;
            this.arch = arch;
        }

        /**
         * Adds labels. They override labels that are set by default, such as the architecture. Default: none.
         *
         * @throws IllegalArgumentException as {@link NodeLabels#parse}
         */
        public Builder labels(Map<String, String> values) {
            NodeLabels.requireAllowed(values);
            this.labels = ImmutableMap.copyOf(values);
            return this;
        }

        /**
         * Sets the taints. Default: none.
         *
         * @throws IllegalArgumentException as {@link NodeTaints#parse}
         */
        public Builder taints(List<Taint> values) {
            NodeTaints.requireLegal(values);
            this.taints = values.stream()
                    .map(taint -> new TaintBuilder(taint).build())
                    .toList();
            return this;
        }

        /** Sets the cloud provider's id of the machine, such as {@code aws:///eu-central-1a/i-0123}. Default: none. */
        public Builder providerId(String value) {
            this.providerId = Objects.requireNonNull(value, "providerId");
            return this;
        }

        public InitialNode build() {
            return new InitialNode(this);
        }

        private ImmutableMap<String, String> allLabels() {
            Map<String, String> all = new LinkedHashMap<>();
            all.put(NodeLabels.HOSTNAME, name);
            all.put(NodeLabels.OS, os);
            all.put(NodeLabels.ARCH, arch);
            all.put(NodeLabels.BETA_OS, os);
            all.put(NodeLabels.BETA_ARCH, arch);
            labels.forEach((key, value) -> {
                String before = all.put(key, value);
                if (before != null && !before.equals(value)) {
                    log.info("label {} of Node {} is {}, as configured, instead of {}", key, name, value, before);
                }
            });
            return ImmutableMap.copyOf(all);
        }
    }
}
