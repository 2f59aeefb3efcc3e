package dev.podcache.access;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import com.google.common.hash.HashCode;
import com.google.common.hash.Hashing;
import dev.podcache.access.RolePolicy.OwnerKind;
import dev.podcache.object.NotApi;
import dev.podcache.object.ObjectKind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The rights that the identity of a controller of Roles needs, each with its reason. The controller makes no request that
 * is not listed here. Pure functions.
 *
 * @hidden
 */
@NotApi
public final class ControllerRights {

    /** What the names of a controller's own Roles begin with. No policy may have such a Role. */
    static final String CONTROLLER = "podcache-grants-controller";

    /** With what else a name has, less than the 253 characters that it may have. */
    private static final int LONGEST_USER = 200;

    private ControllerRights() {}

    /**
     * A rule of a Role.
     *
     * @param names empty for all objects, and for {@code create}, which no name restricts
     * @param reason for people, one sentence
     * @hidden
     */
    public record ControllerRight(
            String group, List<String> resources, List<String> names, List<String> verbs, String reason) {}

    /**
     * Returns the name of the controller's own Roles and their bindings. It ends with the name of the first policy, which no
     * other controller of the cluster has.
     */
    public static String name(List<RolePolicy> policies) {
        return CONTROLLER + "-" + policies.get(0).name();
    }

    /** Returns the rights in each namespace that one of the policies selects. */
    public static List<ControllerRight> inNamespace(List<RolePolicy> policies) {
        List<ControllerRight> rights = new ArrayList<>();
        rights.add(new ControllerRight(
                RoleContent.GROUP,
                List.of("roles"),
                List.of(),
                List.of("create"),
                "creates the Role without rules; no name can restrict a creation"));
        rights.add(new ControllerRight(
                RoleContent.GROUP,
                List.of("roles"),
                policies.stream().map(RolePolicy::role).sorted().toList(),
                List.of("get", "list", "watch", "patch", "update", "escalate"),
                "sees and replaces the rules of these Roles; escalate lets it grant what it may not do itself"));
        Map<String, Set<String>> owners = new LinkedHashMap<>();
        for (RolePolicy policy : policies) {
            for (OwnerKind owner : policy.owners()) {
                owners.computeIfAbsent(RoleContent.group(owner.kind()), group -> new TreeSet<>())
                        .add(owner.kind().plural());
            }
        }
        owners.forEach((group, plurals) -> rights.add(new ControllerRight(
                group,
                List.copyOf(plurals),
                List.of(),
                List.of("list", "watch"),
                "follows the owners, whose fields name what is granted")));
        rights.add(new ControllerRight(
                "",
                List.of("events"),
                List.of(),
                List.of("create", "patch"),
                "tells owners what is not granted, and why"));
        return ImmutableList.copyOf(rights);
    }

    /** Returns the rights in the namespace of the Leases. */
    public static List<ControllerRight> onLeases(List<RolePolicy> policies) {
        return List.of(
                new ControllerRight(
                        "coordination.k8s.io",
                        List.of("leases"),
                        List.of(),
                        List.of("create"),
                        "creates the Leases by which one of several controllers leads"),
                new ControllerRight(
                        "coordination.k8s.io",
                        List.of("leases"),
                        policies.stream()
                                .map(policy -> Grants.leaseName(policy.name()))
                                .sorted()
                                .toList(),
                        List.of("get", "update"),
                        "takes, renews and releases them"));
    }

    /**
     * Returns the rights on what has no namespace, or is in any; they need a ClusterRole. That on definitions makes sure of
     * what the controller otherwise asks a list of resources for, and that on Roles finds what was left in namespaces that
     * are not selected any more: they alone are no reason for a ClusterRole.
     *
     * @param clusterWide whether there is a ClusterRole anyway
     */
    public static List<ControllerRight> onCluster(List<RolePolicy> policies, boolean clusterWide) {
        List<ControllerRight> rights = new ArrayList<>();
        if (policies.stream().anyMatch(policy -> policy.namespaces().selector() != null)) {
            rights.add(new ControllerRight(
                    "",
                    List.of("namespaces"),
                    List.of(),
                    List.of("list", "watch"),
                    "finds the namespaces that the labels of the policy select"));
        }
        if (policies.stream().anyMatch(RolePolicy::reviews)) {
            rights.add(new ControllerRight(
                    "authorization.k8s.io",
                    List.of("subjectaccessreviews"),
                    List.of(),
                    List.of("create"),
                    "asks whether the ServiceAccount of an owner may itself get what the owner names"));
        }
        if (!clusterWide && !rights.isEmpty()) {
            rights.add(new ControllerRight(
                    RoleContent.GROUP,
                    List.of("roles"),
                    policies.stream().map(RolePolicy::role).sorted().toList(),
                    List.of("list"),
                    "finds the Roles of namespaces that were taken out of the policies while no controller ran"));
        }
        Set<String> definitions = policies.stream()
                .flatMap(policy -> policy.owners().stream())
                .map(owner -> Definitions.definitionName(owner.kind()))
                .filter(name -> !name.isEmpty())
                .collect(Collectors.toCollection(TreeSet::new));
        if (!definitions.isEmpty() && (clusterWide || !rights.isEmpty())) {
            rights.add(new ControllerRight(
                    "apiextensions.k8s.io",
                    List.of("customresourcedefinitions"),
                    List.copyOf(definitions),
                    List.of("get"),
                    "before it takes access away because a kind of owners is gone, it makes sure that it is"));
        }
        return ImmutableList.copyOf(rights);
    }

    /**
     * Returns the ValidatingAdmissionPolicy that lets a user write only rules that the policies can have, and its binding.
     * Their name is made of the user's: one that is printed later for other policies takes the place of the one before,
     * which would refuse the Roles of the new ones.
     *
     * @param user the name of the user that the controller is
     */
    public static List<Map<String, Object>> admission(String user, List<RolePolicy> policies) {
        String name = CONTROLLER + "-" + nameOf(user);
        String api = "admissionregistration.k8s.io/v1";
        String roles = policies.stream()
                .map(RolePolicy::role)
                .map(ControllerRights::quoted)
                .collect(Collectors.joining(", ", "[", "]"));
        Map<String, Object> policy = ImmutableMap.of(
                "apiVersion",
                api,
                "kind",
                "ValidatingAdmissionPolicy",
                "metadata",
                ImmutableMap.of("name", name),
                "spec",
                ImmutableMap.of(
                        "failurePolicy",
                        "Fail",
                        "matchConstraints",
                        ImmutableMap.of(
                                "resourceRules",
                                List.of(ImmutableMap.of(
                                        "apiGroups", List.of(RoleContent.GROUP),
                                        "apiVersions", List.of("*"),
                                        "operations", List.of("CREATE", "UPDATE"),
                                        "resources", List.of("roles")))),
                        "matchConditions",
                        List.of(ImmutableMap.of(
                                "name", "controller", "expression", "request.userInfo.username == " + quoted(user))),
                        "validations",
                        List.of(
                                ImmutableMap.of(
                                        "expression",
                                        "object.metadata.name in " + roles,
                                        "message",
                                        "this identity writes only the Roles of its policies"),
                                ImmutableMap.of(
                                        "expression",
                                        // a Role without rules has the field, with null in it
                                        "!has(object.rules) || dyn(object.rules) == null ||"
                                                + " object.rules.all(rule, has(rule.resourceNames) &&"
                                                + " size(rule.resourceNames) > 0 && !('' in rule.resourceNames) &&"
                                                + " !has(rule.nonResourceURLs) &&"
                                                + " has(rule.apiGroups) && has(rule.resources) && ("
                                                + allowed(policies) + "))",
                                        "message",
                                        "this identity writes only rules of its policies, with names"))));
        Map<String, Object> binding = ImmutableMap.of(
                "apiVersion",
                api,
                "kind",
                "ValidatingAdmissionPolicyBinding",
                "metadata",
                ImmutableMap.of("name", name),
                "spec",
                ImmutableMap.of("policyName", name, "validationActions", List.of("Deny")));
        return List.of(policy, binding);
    }

    /** Returns what a user is called in names of objects. Its hash tells it from others that look alike. */
    private static String nameOf(String user) {
        String legal = user.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-");
        HashCode hash = Hashing.sha256().hashString(user, StandardCharsets.UTF_8);
        return legal.substring(0, Math.min(legal.length(), LONGEST_USER))
                + "-"
                + hash.toString().substring(0, 8);
    }

    /** A condition on a rule: it is of one policy, with one of its kinds and its verbs. */
    private static String allowed(List<RolePolicy> policies) {
        Set<String> conditions = new LinkedHashSet<>();
        for (RolePolicy policy : policies) {
            for (ObjectKind<?> kind : policy.grantedKinds()) {
                conditions.add("(object.metadata.name == " + quoted(policy.role()) + " && rule.apiGroups == ["
                        + quoted(RoleContent.group(kind)) + "] && rule.resources == [" + quoted(kind.plural())
                        + "] && rule.verbs.all(verb, verb in "
                        + policy.verbs().stream()
                                .map(ControllerRights::quoted)
                                .collect(Collectors.joining(", ", "[", "]"))
                        + "))");
            }
        }
        return String.join(" || ", conditions);
    }

    /** A text in CEL. */
    private static String quoted(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }
}
