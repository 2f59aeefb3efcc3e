package dev.podcache.kubelet.nodestatus;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableSortedSet;
import dev.podcache.object.Quoted;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;

/** Parses and checks the labels that a node sets on its own Node. */
public final class NodeLabels {

    // After kubelet's options.ValidateKubeletFlags and k8s.io/kubelet/pkg/apis/well_known_labels.go.

    static final String HOSTNAME = "kubernetes.io/hostname";
    static final String OS = "kubernetes.io/os";
    static final String ARCH = "kubernetes.io/arch";
    static final String BETA_OS = "beta.kubernetes.io/os";
    static final String BETA_ARCH = "beta.kubernetes.io/arch";

    /** Labels in reserved namespaces that every node may set. */
    static final ImmutableSortedSet<String> WELL_KNOWN = ImmutableSortedSet.of(
            HOSTNAME,
            OS,
            ARCH,
            BETA_OS,
            BETA_ARCH,
            "topology.kubernetes.io/zone",
            "topology.kubernetes.io/region",
            "failure-domain.beta.kubernetes.io/zone",
            "failure-domain.beta.kubernetes.io/region",
            "node.kubernetes.io/instance-type",
            "beta.kubernetes.io/instance-type");

    private static final ImmutableSortedSet<String> ALLOWED_NAMESPACES =
            ImmutableSortedSet.of("kubelet.kubernetes.io", "node.kubernetes.io");
    private static final ImmutableSortedSet<String> RESERVED_NAMESPACES =
            ImmutableSortedSet.of("kubernetes.io", "k8s.io");

    private NodeLabels() {}

    /**
     * Parses the kubelet's {@code --node-labels}, such as {@code zone=a,disk=ssd}. A key without {@code =} has an empty
     * value.
     *
     * @return an unmodifiable map, in the order of {@code flag}
     * @throws IllegalArgumentException if a key or value is not legal, a key occurs twice, or a node may not set a
     *     label; the message names the label and the rule
     */
    public static Map<String, String> parse(String flag) {
        Map<String, String> labels = new LinkedHashMap<>();
        for (String label : Splitter.on(',').trimResults().omitEmptyStrings().split(flag)) {
            int equals = label.indexOf('=');
            String key = equals < 0 ? label : label.substring(0, equals).trim();
            String value = equals < 0 ? "" : label.substring(equals + 1).trim();
            if (labels.put(key, value) != null) {
                throw new IllegalArgumentException(
                        "label key " + Quoted.value(key) + " occurs twice; a label has one value");
            }
        }
        requireAllowed(labels);
        return Collections.unmodifiableMap(labels);
    }

    /**
     * Checks labels.
     *
     * @throws IllegalArgumentException as {@link #parse}
     */
    public static void requireAllowed(Map<String, String> labels) {
        TreeSet<String> refused = new TreeSet<>();
        labels.forEach((key, value) -> {
            LabelSyntax.requireKey("label key", key);
            LabelSyntax.requireValue("value of label " + key, value);
            if (isReserved(key)) {
                refused.add(key);
            }
        });
        if (!refused.isEmpty()) {
            throw new IllegalArgumentException("a node may not set the labels " + refused
                    + " on itself: in kubernetes.io and k8s.io, only labels in " + ALLOWED_NAMESPACES + " and "
                    + WELL_KNOWN + " are allowed; an administrator can set others with kubectl label node");
        }
    }

    private static boolean isReserved(String key) {
        int slash = key.indexOf('/');
        String namespace = slash < 0 ? "" : key.substring(0, slash);
        return RESERVED_NAMESPACES.stream().anyMatch(reserved -> isIn(namespace, reserved))
                && !WELL_KNOWN.contains(key)
                && ALLOWED_NAMESPACES.stream().noneMatch(allowed -> isIn(namespace, allowed));
    }

    private static boolean isIn(String namespace, String parent) {
        return namespace.equals(parent) || namespace.endsWith("." + parent);
    }
}
