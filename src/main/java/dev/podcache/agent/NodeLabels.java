package dev.podcache.agent;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSet;

/**
 * The labels that the node is registered with. Those that Kubernetes keeps for itself are refused as the kubelet refuses them
 * (its {@code cmd/kubelet/app/options/options.go}), because NodeRestriction would refuse the whole node for one.
 */
final class NodeLabels {

    private static final ImmutableSet<String> ALLOWED = ImmutableSet.of(
            "beta.kubernetes.io/arch",
            "beta.kubernetes.io/instance-type",
            "beta.kubernetes.io/os",
            "failure-domain.beta.kubernetes.io/region",
            "failure-domain.beta.kubernetes.io/zone",
            "kubernetes.io/arch",
            "kubernetes.io/hostname",
            "kubernetes.io/os",
            "node.kubernetes.io/instance-type",
            "topology.kubernetes.io/region",
            "topology.kubernetes.io/zone");

    private NodeLabels() {}

    /** The labels that are written, else none. */
    static ImmutableMap<String, String> of(Settings all) {
        Setting setting = all.find("nodeLabels");
        ImmutableMap<String, String> labels = all.texts("nodeLabels");
        if (setting == null || labels == null) {
            return ImmutableMap.of();
        }
        labels.forEach((key, value) -> {
            if (!LabelSyntax.isKey(key)) {
                throw setting.refused(key, LabelSyntax.KEYS);
            }
            if (!LabelSyntax.isValue(value)) {
                throw setting.refused(value, LabelSyntax.VALUES);
            }
            if (isKept(key) && !ALLOWED.contains(key)) {
                throw setting.refused(
                        key,
                        "of another domain: of kubernetes.io and k8s.io a node may set labels of node.kubernetes.io, of"
                                + " kubelet.kubernetes.io, and " + String.join(", ", ALLOWED));
            }
        });
        return labels;
    }

    private static boolean isKept(String key) {
        String domain = Splitter.on('/').split(key).iterator().next();
        return key.contains("/")
                && (isWithin(domain, "kubernetes.io") || isWithin(domain, "k8s.io"))
                && !isWithin(domain, "node.kubernetes.io")
                && !isWithin(domain, "kubelet.kubernetes.io");
    }

    private static boolean isWithin(String domain, String parent) {
        return domain.equals(parent) || domain.endsWith("." + parent);
    }
}
