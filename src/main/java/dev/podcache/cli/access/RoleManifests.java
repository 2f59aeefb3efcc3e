package dev.podcache.cli.access;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.collect.SetMultimap;
import dev.podcache.cli.config.ObjectId;
import dev.podcache.object.ObjectKey;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Makes the Roles and bindings for one subject: maps that are ready to be written as manifests. Immutable. */
public final class RoleManifests {

    /** The API group of Roles. */
    static final String GROUP = "rbac.authorization.k8s.io";

    private static final String TOKENS = "serviceaccounts/token";

    private final String name;
    private final RoleSubject subject;

    /**
     * Creates a maker of Roles.
     *
     * @param name of the Roles and bindings; the API server replaces those that exist with that name
     */
    public RoleManifests(String name, RoleSubject subject) {
        this.name = name;
        this.subject = subject;
    }

    /**
     * Returns the smallest Roles that allow exactly these verbs on these objects, one in each namespace, and their
     * bindings.
     */
    public ImmutableList<Map<String, Object>> forVerbs(SetMultimap<ObjectId, String> verbs) {
        return forVerbs(verbs, List.of());
    }

    /**
     * Returns the smallest Roles that allow exactly these verbs on these objects, and to request tokens of these
     * ServiceAccounts, one in each namespace, and their bindings.
     */
    public ImmutableList<Map<String, Object>> forVerbs(
            SetMultimap<ObjectId, String> verbs, Collection<ObjectKey> tokenAccounts) {
        Map<String, Map<String, Set<String>>> namesByRule = new TreeMap<>();
        tokenAccounts.forEach(account -> namesByRule
                .computeIfAbsent(account.namespace(), namespace -> new TreeMap<>())
                .computeIfAbsent(TOKENS + " create", rule -> new TreeSet<>())
                .add(account.name()));
        verbs.asMap()
                .forEach((object, needed) -> namesByRule
                        .computeIfAbsent(object.key().namespace(), namespace -> new TreeMap<>())
                        .computeIfAbsent(
                                object.kind().plural() + " " + String.join(" ", new TreeSet<>(needed)),
                                rule -> new TreeSet<>())
                        .add(object.key().name()));
        ImmutableList.Builder<Map<String, Object>> manifests = ImmutableList.builder();
        namesByRule.forEach((namespace, rules) -> manifests.addAll(role(namespace, name, rules(rules))));
        return manifests.build();
    }

    private static List<AccessRule> rules(Map<String, Set<String>> namesByRule) {
        ImmutableList.Builder<AccessRule> rules = ImmutableList.builder();
        namesByRule.forEach((rule, names) -> {
            List<String> words = Splitter.on(' ').splitToList(rule);
            rules.add(AccessRule.named(words.get(0), names, words.subList(1, words.size())));
        });
        return rules.build().reverse();
    }

    /**
     * Returns what an agent of {@code node} needs besides the namespaced objects of its pods, if the Node authorizer does not
     * know it.
     *
     * @param more further rules for the whole cluster
     */
    ImmutableList<Map<String, Object>> forNode(String node, List<AccessRule> more) {
        ImmutableList.Builder<Map<String, Object>> manifests = ImmutableList.builder();
        if (!subject.namespace().isEmpty()) {
            manifests.add(ImmutableMap.of(
                    "apiVersion", "v1",
                    "kind", "ServiceAccount",
                    "metadata", metadata(subject.namespace(), subject.name())));
        }
        return manifests
                .addAll(role(
                        "",
                        name,
                        ImmutableList.<AccessRule>builder()
                                .addAll(NodeAccess.cluster(node))
                                .addAll(more)
                                .build()))
                .addAll(role("kube-node-lease", name + "-lease", NodeAccess.lease(node)))
                .build();
    }

    /** Returns a Role and its binding; a ClusterRole if the namespace is empty. */
    private ImmutableList<Map<String, Object>> role(String namespace, String roleName, List<AccessRule> rules) {
        String kind = namespace.isEmpty() ? "ClusterRole" : "Role";
        ImmutableMap<String, Object> metadata = metadata(namespace, roleName);
        return ImmutableList.of(
                ImmutableMap.of(
                        "apiVersion",
                        GROUP + "/v1",
                        "kind",
                        kind,
                        "metadata",
                        metadata,
                        "rules",
                        rules.stream().map(AccessRule::fields).toList()),
                ImmutableMap.of(
                        "apiVersion",
                        GROUP + "/v1",
                        "kind",
                        kind + "Binding",
                        "metadata",
                        metadata,
                        "roleRef",
                        ImmutableMap.of("apiGroup", GROUP, "kind", kind, "name", roleName),
                        "subjects",
                        ImmutableList.of(subject.fields())));
    }

    private static ImmutableMap<String, Object> metadata(String namespace, String name) {
        return namespace.isEmpty()
                ? ImmutableMap.of("name", name)
                : ImmutableMap.of("name", name, "namespace", namespace);
    }
}
