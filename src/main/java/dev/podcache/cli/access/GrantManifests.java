package dev.podcache.cli.access;

import com.google.common.collect.ImmutableMap;
import dev.podcache.access.ControllerRights;
import dev.podcache.access.ControllerRights.ControllerRight;
import dev.podcache.access.RolePolicy;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Makes the manifests of what a controller of Roles may do, and the bindings of the Roles to the operator; each rule with
 * its reason. Immutable.
 *
 * @param controller who keeps the Roles
 * @param operator who reads what they grant
 * @param leaseNamespace where the Leases are
 */
record GrantManifests(List<RolePolicy> policies, RoleSubject controller, RoleSubject operator, String leaseNamespace) {

    /**
     * A manifest and what is to be said of it.
     *
     * @param comments lines before the document
     * @param reasons one for each rule, in their order; empty if it has no rules
     */
    record ExplainedManifest(List<String> comments, Map<String, Object> manifest, List<String> reasons) {

        /** Returns the manifest as a YAML document in which each rule has its reason before it. */
        String text() {
            StringBuilder text = new StringBuilder();
            Iterator<String> reason = reasons.iterator();
            boolean rules = false;
            for (String line : ManifestWriter.document(manifest).split("\n", -1)) {
                if (line.startsWith("  - ") && rules && reason.hasNext()) {
                    text.append("  # ").append(reason.next()).append('\n');
                }
                rules = line.equals("rules:") || (rules && line.startsWith("  "));
                text.append(line).append('\n');
                if (line.equals("---")) {
                    comments.forEach(
                            comment -> text.append("# ").append(comment).append('\n'));
                }
            }
            return text.toString();
        }
    }

    /** Returns the manifests for controllers that follow owners in each namespace. */
    List<ExplainedManifest> byNamespace(Map<String, List<RolePolicy>> selected) {
        List<ExplainedManifest> manifests = new ArrayList<>();
        new TreeMap<>(selected).forEach((namespace, here) -> {
            List<ControllerRight> rights = new ArrayList<>(ControllerRights.inNamespace(here));
            if (namespace.equals(leaseNamespace)) {
                rights.addAll(ControllerRights.onLeases(policies));
            }
            manifests.addAll(role(namespace, rights));
        });
        if (!selected.containsKey(leaseNamespace)) {
            manifests.addAll(role(leaseNamespace, ControllerRights.onLeases(policies)));
        }
        List<ControllerRight> cluster = ControllerRights.onCluster(policies, false);
        if (!cluster.isEmpty()) {
            manifests.addAll(role("", cluster));
        }
        manifests.addAll(operators(selected));
        return manifests;
    }

    /** Returns the manifests for controllers that follow owners in all namespaces at once. */
    List<ExplainedManifest> clusterWide(Map<String, List<RolePolicy>> selected) {
        List<ControllerRight> rights = new ArrayList<>(ControllerRights.inNamespace(policies));
        rights.addAll(ControllerRights.onCluster(policies, true));
        List<ExplainedManifest> manifests = new ArrayList<>(role("", rights));
        manifests.addAll(role(leaseNamespace, ControllerRights.onLeases(policies)));
        manifests.addAll(operators(selected));
        return manifests;
    }

    /** Returns what keeps the controller from writing other rules, for servers that have such policies. */
    List<ExplainedManifest> admission() {
        String user = controller.namespace().isEmpty()
                ? controller.name()
                : "system:serviceaccount:" + controller.namespace() + ":" + controller.name();
        List<ExplainedManifest> manifests = new ArrayList<>();
        for (Map<String, Object> manifest : ControllerRights.admission(user, policies)) {
            manifests.add(new ExplainedManifest(
                    List.of(
                            "ValidatingAdmissionPolicy".equals(manifest.get("kind"))
                                    ? "the API server itself refuses all other rules, should the credentials be stolen"
                                    : "makes it valid"),
                    manifest,
                    List.of()));
        }
        return manifests;
    }

    private List<ExplainedManifest> operators(Map<String, List<RolePolicy>> selected) {
        List<ExplainedManifest> bindings = new ArrayList<>();
        new TreeMap<>(selected).forEach((namespace, here) -> {
            Set<String> roles = new TreeSet<>();
            here.forEach(policy -> roles.add(policy.role()));
            roles.forEach(role -> bindings.add(new ExplainedManifest(
                    List.of("lets the operator read what Role " + role
                            + " grants; the controller never makes bindings"),
                    binding(namespace, role, role, operator),
                    List.of())));
        });
        return bindings;
    }

    /** Returns a Role of the controller and its binding; a ClusterRole if the namespace is empty. */
    private List<ExplainedManifest> role(String namespace, List<ControllerRight> rights) {
        boolean cluster = namespace.isEmpty();
        String name = ControllerRights.name(policies);
        List<Map<String, Object>> rules = new ArrayList<>();
        for (ControllerRight right : rights) {
            ImmutableMap.Builder<String, Object> rule = ImmutableMap.builder();
            rule.put("apiGroups", List.of(right.group())).put("resources", right.resources());
            if (!right.names().isEmpty()) {
                rule.put("resourceNames", right.names());
            }
            rules.add(rule.put("verbs", right.verbs()).buildOrThrow());
        }
        Map<String, Object> role = ImmutableMap.of(
                "apiVersion",
                RoleManifests.GROUP + "/v1",
                "kind",
                cluster ? "ClusterRole" : "Role",
                "metadata",
                metadata(namespace, name),
                "rules",
                rules);
        return List.of(
                new ExplainedManifest(
                        List.of("what the controller may do "
                                + (cluster ? "in the whole cluster" : "in namespace " + namespace)),
                        role,
                        rights.stream().map(ControllerRight::reason).toList()),
                new ExplainedManifest(List.of(), binding(namespace, name, name, controller), List.of()));
    }

    private static Map<String, Object> binding(String namespace, String name, String role, RoleSubject subject) {
        String kind = namespace.isEmpty() ? "ClusterRole" : "Role";
        return ImmutableMap.of(
                "apiVersion",
                RoleManifests.GROUP + "/v1",
                "kind",
                kind + "Binding",
                "metadata",
                metadata(namespace, name),
                "roleRef",
                ImmutableMap.of("apiGroup", RoleManifests.GROUP, "kind", kind, "name", role),
                "subjects",
                List.of(subject.fields()));
    }

    private static Map<String, Object> metadata(String namespace, String name) {
        return namespace.isEmpty()
                ? ImmutableMap.of("name", name)
                : ImmutableMap.of("name", name, "namespace", namespace);
    }
}
