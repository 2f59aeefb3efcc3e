package dev.podcache.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * A rule of a Role or ClusterRole. It allows each of its verbs on each of its resources or paths.
 *
 * @param names the names that the rule is restricted to; empty for every name
 */
record PolicyRule(
        ImmutableSet<String> verbs,
        ImmutableSet<String> groups,
        ImmutableSet<String> resources,
        ImmutableSet<String> names,
        ImmutableSet<String> paths) {

    // After pkg/apis/rbac/v1/evaluation_helpers.go, plugin/pkg/auth/authorizer/rbac/rbac.go and
    // component-helpers/auth/rbac/validation/policy_comparator.go of kubernetes/kubernetes.

    private static final String ALL = "*";

    /** Returns a rule that allows everything. */
    static ImmutableList<PolicyRule> everything() {
        ImmutableSet<String> all = ImmutableSet.of(ALL);
        ImmutableSet<String> none = ImmutableSet.of();
        return ImmutableList.of(new PolicyRule(all, all, all, none, none), new PolicyRule(all, none, none, none, all));
    }

    /** Returns the rules of a stored Role or ClusterRole. */
    static ImmutableList<PolicyRule> rulesOf(JsonNode role) {
        ImmutableList.Builder<PolicyRule> rules = ImmutableList.builder();
        for (JsonNode rule : role.path("rules")) {
            rules.add(new PolicyRule(
                    texts(rule, "verbs"),
                    texts(rule, "apiGroups"),
                    texts(rule, "resources"),
                    texts(rule, "resourceNames"),
                    texts(rule, "nonResourceURLs")));
        }
        return rules.build();
    }

    private static ImmutableSet<String> texts(JsonNode rule, String field) {
        ImmutableSet.Builder<String> texts = ImmutableSet.builder();
        rule.path(field).forEach(text -> texts.add(text.asText()));
        return texts.build();
    }

    boolean allows(AuthorizerQuestion question) {
        if (!has(verbs, question.verb())) {
            return false;
        }
        if (!question.isAboutResource()) {
            return paths.stream().anyMatch(path -> pathCovers(path, question.path()));
        }
        return has(groups, question.group())
                && allowsResource(question)
                && (names.isEmpty() || names.contains(question.name()));
    }

    private boolean allowsResource(AuthorizerQuestion question) {
        String part = question.subresource();
        return has(resources, question.resource() + (part.isEmpty() ? "" : "/" + part))
                || (!part.isEmpty() && resources.contains("*/" + part));
    }

    private static boolean has(ImmutableSet<String> allowed, String asked) {
        return allowed.contains(ALL) || allowed.contains(asked);
    }

    private static boolean hasAll(ImmutableSet<String> allowed, ImmutableSet<String> asked) {
        return allowed.contains(ALL) || allowed.containsAll(asked);
    }

    private static boolean pathCovers(String rule, String path) {
        return rule.equals(path) || (rule.endsWith(ALL) && path.startsWith(rule.replaceFirst("\\*+$", "")));
    }

    /** Returns the rights in {@code wanted} that none of {@code held} gives, in the words of a kube-apiserver. */
    static ImmutableList<String> missing(List<PolicyRule> held, List<PolicyRule> wanted) {
        List<PolicyRule> missing = new ArrayList<>();
        for (PolicyRule rule : wanted) {
            rule.forEachPart(part -> {
                if (held.stream().noneMatch(own -> own.covers(part))) {
                    missing.add(part);
                }
            });
        }
        TreeSet<String> texts = new TreeSet<>();
        compacted(missing).forEach(rule -> texts.add(rule.text()));
        return ImmutableList.copyOf(texts);
    }

    /** Calls {@code each} with rules of one verb, one resource and one name, or one path, that together are this rule. */
    private void forEachPart(Consumer<PolicyRule> each) {
        ImmutableSet<String> none = ImmutableSet.of();
        for (String group : groups) {
            for (String resource : resources) {
                for (String verb : verbs) {
                    PolicyRule whole = new PolicyRule(
                            ImmutableSet.of(verb), ImmutableSet.of(group), ImmutableSet.of(resource), none, none);
                    if (names.isEmpty()) {
                        each.accept(whole);
                    }
                    names.forEach(name -> each.accept(whole.named(name)));
                }
            }
        }
        for (String path : paths) {
            verbs.forEach(verb ->
                    each.accept(new PolicyRule(ImmutableSet.of(verb), none, none, none, ImmutableSet.of(path))));
        }
    }

    private PolicyRule named(String name) {
        return new PolicyRule(verbs, groups, resources, ImmutableSet.of(name), paths);
    }

    private boolean covers(PolicyRule part) {
        return hasAll(verbs, part.verbs)
                && hasAll(groups, part.groups)
                && coversResources(part)
                && (names.isEmpty() || (!part.names.isEmpty() && names.containsAll(part.names)))
                && part.paths.stream().allMatch(path -> paths.stream().anyMatch(own -> pathCovers(own, path)));
    }

    private boolean coversResources(PolicyRule part) {
        return hasAll(resources, part.resources)
                || part.resources.stream().allMatch(asked -> {
                    int slash = asked.indexOf('/');
                    return resources.contains(asked)
                            || (slash >= 0 && resources.contains("*" + asked.substring(slash)));
                });
    }

    /** Returns parts with the verbs of equal resources and names joined. */
    private static List<PolicyRule> compacted(List<PolicyRule> parts) {
        Map<PolicyRule, PolicyRule> joined = new LinkedHashMap<>();
        for (PolicyRule part : parts) {
            PolicyRule key = part.paths.isEmpty()
                    ? new PolicyRule(ImmutableSet.of(), part.groups, part.resources, part.names, part.paths)
                    : part;
            joined.merge(key, part, PolicyRule::withVerbsOf);
        }
        return new ArrayList<>(joined.values());
    }

    private PolicyRule withVerbsOf(PolicyRule other) {
        ImmutableSet<String> all =
                ImmutableSet.<String>builder().addAll(verbs).addAll(other.verbs).build();
        return new PolicyRule(all, groups, resources, names, paths);
    }

    /** Returns the rule in the words of a kube-apiserver. */
    private String text() {
        List<String> parts = new ArrayList<>();
        addText(parts, "APIGroups", groups);
        addText(parts, "Resources", resources);
        addText(parts, "NonResourceURLs", paths);
        addText(parts, "ResourceNames", names);
        addText(parts, "Verbs", verbs);
        return "{" + String.join(", ", parts) + "}";
    }

    private static void addText(List<String> parts, String field, ImmutableSet<String> values) {
        if (!values.isEmpty()) {
            parts.add(field + ":" + quoted(values));
        }
    }

    /** Returns a list as the verb {@code %q} of Go prints it. */
    static String quoted(Iterable<String> values) {
        return ImmutableList.copyOf(values).stream()
                .map(value -> "\"" + value + "\"")
                .collect(Collectors.joining(" ", "[", "]"));
    }
}
