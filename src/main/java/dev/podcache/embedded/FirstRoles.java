package dev.podcache.embedded;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * The ClusterRoles and bindings that an API server creates for itself, as far as clients need them: everything for
 * {@code system:masters}; discovery, and reviews of one's own access, for everybody who is authenticated; health and version
 * for all.
 */
final class FirstRoles {

    // After plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go of kubernetes/kubernetes.

    private static final int EXISTS = 409;

    private FirstRoles() {}

    /** Creates those that the cluster does not have yet. */
    static void create(InMemoryCluster cluster) {
        role(cluster, "cluster-admin", """
                [{"apiGroups":["*"],"resources":["*"],"verbs":["*"]},{"nonResourceURLs":["*"],"verbs":["*"]}]""");
        bind(cluster, "cluster-admin", Caller.MASTERS);
        role(cluster, "system:discovery", """
                [{"nonResourceURLs":["/api","/api/*","/apis","/apis/*","/healthz","/livez","/openapi","/openapi/*",
                  "/readyz","/version","/version/"],"verbs":["get"]}]""");
        bind(cluster, "system:discovery", Caller.AUTHENTICATED);
        role(cluster, "system:public-info-viewer", """
                [{"nonResourceURLs":["/healthz","/livez","/readyz","/version","/version/"],"verbs":["get"]}]""");
        bind(cluster, "system:public-info-viewer", Caller.AUTHENTICATED, Caller.UNAUTHENTICATED);
        role(cluster, "system:basic-user", """
                [{"apiGroups":["authorization.k8s.io"],"resources":["selfsubjectaccessreviews","selfsubjectrulesreviews"],
                  "verbs":["create"]},
                 {"apiGroups":["authentication.k8s.io"],"resources":["selfsubjectreviews"],"verbs":["create"]}]""");
        bind(cluster, "system:basic-user", Caller.AUTHENTICATED);
    }

    private static void role(InMemoryCluster cluster, String name, String rules) {
        try {
            ObjectNode role = named(name);
            role.set("rules", Json.MAPPER.readTree(rules));
            add(cluster, Resource.CLUSTER_ROLES, role);
        } catch (JsonProcessingException e) {
            throw new AssertionError(e);
        }
    }

    private static void bind(InMemoryCluster cluster, String name, String... groups) {
        ObjectNode binding = named(name);
        binding.putObject("roleRef").put("kind", "ClusterRole").put("name", name);
        for (String group : groups) {
            binding.withArray("/subjects").addObject().put("kind", "Group").put("name", group);
        }
        add(cluster, Resource.CLUSTER_ROLE_BINDINGS, binding);
    }

    private static ObjectNode named(String name) {
        ObjectNode object = Json.MAPPER.createObjectNode();
        object.putObject("metadata")
                .put("name", name)
                .putObject("labels")
                .put("kubernetes.io/bootstrapping", "rbac-defaults");
        return object;
    }

    private static void add(InMemoryCluster cluster, Resource resource, ObjectNode object) {
        try {
            cluster.create(resource, "", object);
        } catch (StatusException e) {
            if (e.code() != EXISTS) {
                throw e;
            }
        }
    }
}
