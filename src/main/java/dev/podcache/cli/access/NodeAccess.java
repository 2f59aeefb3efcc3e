package dev.podcache.cli.access;

import com.google.common.collect.ImmutableList;
import dev.podcache.pod.TrustBundleReferences;
import java.util.List;

/**
 * The access that a node agent needs as a ServiceAccount, besides the Secrets, ConfigMaps and tokens of its pods. A node's own
 * identity has it from the Node authorizer. {@code deploy/examples/rbac-agent.yaml} shows the same rules.
 */
final class NodeAccess {

    private static final String BUNDLE_GROUP = "certificates.k8s.io";
    private static final ImmutableList<String> BUNDLES = ImmutableList.of("clustertrustbundles");

    private NodeAccess() {}

    /** Returns the rules for the whole cluster. RBAC can restrict neither creation to a name, nor pods to a node. */
    static ImmutableList<AccessRule> cluster(String node) {
        return ImmutableList.of(
                AccessRule.of("", "nodes", "create"),
                new AccessRule(
                        "",
                        ImmutableList.of("nodes", "nodes/status"),
                        ImmutableList.of(node),
                        ImmutableList.of("get", "list", "watch", "patch", "update")),
                AccessRule.of("", "services", "list", "watch"),
                AccessRule.of("", "pods", "get", "list", "watch", "create", "delete"),
                AccessRule.of("", "pods/status", "patch", "update"),
                AccessRule.of("", "events", "create", "patch"),
                AccessRule.of("authentication.k8s.io", "tokenreviews", "create"),
                AccessRule.of("authorization.k8s.io", "subjectaccessreviews", "create"));
    }

    /**
     * Returns the rules for the trust bundles of pods: those that are named, by the verbs of the strategy. RBAC can restrict no
     * list to a signer.
     */
    static ImmutableList<AccessRule> trustBundles(List<TrustBundleReferences> ofPods, List<String> verbs) {
        ImmutableList.Builder<AccessRule> rules = ImmutableList.builder();
        ImmutableList<String> names = ofPods.stream()
                .flatMap(each -> each.names().stream())
                .distinct()
                .sorted()
                .collect(ImmutableList.toImmutableList());
        if (!names.isEmpty()) {
            rules.add(new AccessRule(BUNDLE_GROUP, BUNDLES, names, ImmutableList.copyOf(verbs)));
        }
        if (ofPods.stream().anyMatch(each -> !each.signers().isEmpty())) {
            rules.add(new AccessRule(BUNDLE_GROUP, BUNDLES, ImmutableList.of(), ImmutableList.of("list", "watch")));
        }
        return rules.build();
    }

    /** Returns the rules in the namespace {@code kube-node-lease}. */
    static ImmutableList<AccessRule> lease(String node) {
        return ImmutableList.of(
                AccessRule.of("coordination.k8s.io", "leases", "create"),
                new AccessRule(
                        "coordination.k8s.io",
                        ImmutableList.of("leases"),
                        ImmutableList.of(node),
                        ImmutableList.of("get", "update", "patch")));
    }
}
