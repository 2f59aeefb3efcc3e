package dev.podcache.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import dev.podcache.object.ObjectKey;

/** Completes and checks Roles, ClusterRoles and bindings before they are stored. Pure functions. */
final class AccessRules {

    // After pkg/apis/rbac/{v1/defaults,validation/validation}.go of kubernetes/kubernetes.

    private static final ImmutableList<String> LISTS =
            ImmutableList.of("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs");
    private static final ImmutableSet<String> ROLE_KINDS = ImmutableSet.of("ClusterRole", "Role");

    private AccessRules() {}

    /**
     * Fills in what may be left out, and checks the rest.
     *
     * @throws StatusException 400 if a value has the wrong type, 422 if the object is invalid
     */
    static void normalise(Resource resource, ObjectKey key, ObjectNode object) {
        if (resource.equals(Resource.ROLES) || resource.equals(Resource.CLUSTER_ROLES)) {
            requireRules(resource, key, object);
        } else {
            completeBinding(resource, key, object);
        }
    }

    private static void requireRules(Resource resource, ObjectKey key, ObjectNode role) {
        requireType(resource, !role.has("rules") || role.path("rules").isArray(), "rules");
        int index = 0;
        for (JsonNode rule : role.path("rules")) {
            String at = "rules[" + index++ + "].";
            requireType(resource, rule.isObject(), "rules");
            for (String field : LISTS) {
                requireType(resource, !rule.has(field) || rule.path(field).isArray(), "rules." + field);
                rule.path(field).forEach(text -> requireType(resource, text.isTextual(), "rules." + field));
            }
            if (rule.path("verbs").isEmpty()) {
                throw missing(resource, key, at + "verbs", "verbs must contain at least one value");
            }
            if (!rule.path("nonResourceURLs").isEmpty()) {
                requirePathsOnly(resource, key, at, rule);
            } else if (rule.path("apiGroups").isEmpty()) {
                throw missing(resource, key, at + "apiGroups", "resource rules must supply at least one api group");
            } else if (rule.path("resources").isEmpty()) {
                throw missing(resource, key, at + "resources", "resource rules must supply at least one resource");
            }
        }
    }

    private static void requirePathsOnly(Resource resource, ObjectKey key, String at, JsonNode rule) {
        boolean both = !rule.path("apiGroups").isEmpty()
                || !rule.path("resources").isEmpty()
                || !rule.path("resourceNames").isEmpty();
        if (resource.namespaced() || both) {
            StringBuilder paths = new StringBuilder();
            rule.path("nonResourceURLs")
                    .forEach(path -> paths.append(paths.isEmpty() ? "" : ", ").append(path));
            throw StatusException.invalid(
                    resource,
                    key.name(),
                    FieldError.invalid(
                            at + "nonResourceURLs",
                            "[]string{" + paths + "}",
                            resource.namespaced()
                                    ? "namespaced rules cannot apply to non-resource URLs"
                                    : "rules cannot apply to both regular resources and non-resource URLs"));
        }
    }

    private static void completeBinding(Resource resource, ObjectKey key, ObjectNode binding) {
        ObjectNode role = Json.object(binding, "roleRef");
        if (role.path("apiGroup").asText().isEmpty()) {
            role.put("apiGroup", Resource.RBAC);
        }
        String kind = role.path("kind").asText();
        boolean clusterWide = resource.equals(Resource.CLUSTER_ROLE_BINDINGS);
        if (!role.path("apiGroup").asText().equals(Resource.RBAC)) {
            throw unsupported(resource, key, "roleRef.apiGroup", role.path("apiGroup"), "\"" + Resource.RBAC + "\"");
        }
        if (!ROLE_KINDS.contains(kind) || (clusterWide && kind.equals("Role"))) {
            String supported = clusterWide ? "\"ClusterRole\"" : "\"Role\", \"ClusterRole\"";
            throw unsupported(resource, key, "roleRef.kind", role.path("kind"), supported);
        }
        if (role.path("name").asText().isEmpty()) {
            throw missing(resource, key, "roleRef.name", "");
        }
        requireType(
                resource, !binding.has("subjects") || binding.path("subjects").isArray(), "subjects");
        int index = 0;
        for (JsonNode subject : binding.path("subjects")) {
            requireType(resource, subject.isObject(), "subjects");
            completeSubject(resource, key, "subjects[" + index++ + "].", (ObjectNode) subject);
        }
    }

    private static void completeSubject(Resource resource, ObjectKey key, String at, ObjectNode subject) {
        if (subject.path("name").asText().isEmpty()) {
            throw missing(resource, key, at + "name", "");
        }
        switch (subject.path("kind").asText()) {
            case "ServiceAccount" -> {
                if (!resource.namespaced() && subject.path("namespace").asText().isEmpty()) {
                    throw missing(resource, key, at + "namespace", "");
                }
            }
            case "User", "Group" -> {
                if (subject.path("apiGroup").asText().isEmpty()) {
                    subject.put("apiGroup", Resource.RBAC);
                }
            }
            default ->
                throw unsupported(
                        resource, key, at + "kind", subject.path("kind"), "\"ServiceAccount\", \"User\", \"Group\"");
        }
    }

    /**
     * Checks that an update of a binding does not change its role.
     *
     * @throws StatusException 422 if it does
     */
    static void requireSameRole(Resource resource, ObjectKey key, ObjectNode current, ObjectNode updated) {
        JsonNode role = updated.path("roleRef");
        if (!current.path("roleRef").equals(role)) {
            String text = "rbac.RoleRef{APIGroup:\"" + role.path("apiGroup").asText() + "\", Kind:\""
                    + role.path("kind").asText() + "\", Name:\""
                    + role.path("name").asText() + "\"}";
            throw StatusException.invalid(
                    resource, key.name(), FieldError.invalid("roleRef", text, "cannot change roleRef"));
        }
    }

    private static void requireType(Resource resource, boolean right, String field) {
        if (!right) {
            throw StatusException.badRequest(resource.kind() + " in version \"v1\" cannot be handled as a "
                    + resource.kind() + ": wrong type of value at " + field);
        }
    }

    private static StatusException missing(Resource resource, ObjectKey key, String field, String why) {
        String detail = "Required value" + (why.isEmpty() ? "" : ": " + why);
        return StatusException.invalid(resource, key.name(), new FieldError(field, "FieldValueRequired", detail));
    }

    private static StatusException unsupported(
            Resource resource, ObjectKey key, String field, JsonNode value, String supported) {
        String detail = "Unsupported value: \"" + value.asText() + "\": supported values: " + supported;
        return StatusException.invalid(resource, key.name(), new FieldError(field, "FieldValueNotSupported", detail));
    }
}
