package dev.podcache.cli.access;

import com.google.common.collect.ImmutableList;

/**
 * The access that a node agent needs as a ServiceAccount, besides the Secrets and ConfigMaps of its pods. A node's own
 * identity has it from the Node authorizer. {@code deploy/examples/rbac-agent.yaml} shows the same rules.
 */
final class NodeAccess {

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
