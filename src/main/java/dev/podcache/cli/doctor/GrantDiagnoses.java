package dev.podcache.cli.doctor;

import dev.podcache.access.RolePolicy;
import dev.podcache.access.RolePolicy.GrantOwner;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Judges what one policy grants: for each owner what it refers to, what of that is granted and bound, and what is missing.
 * For one thread; makes no request, but for the rules of bindings.
 */
final class GrantDiagnoses {

    private static final String CHECK = "grants";

    private final RolePolicy policy;
    private final boolean complete;
    private final List<Diagnosis> found = new ArrayList<>();
    private final Set<String> readers = new LinkedHashSet<>(); // the subjects that the Roles of the policy are bound to
    private final Set<String> broad = new LinkedHashSet<>(); // bindings that let them read without names
    private int owners;
    private int missing; // owners that lack access

    /**
     * A RoleBinding or ClusterRoleBinding.
     *
     * @param name with kind and namespace
     * @param ofClusterRole whether it binds a ClusterRole
     * @param role the name of the Role or ClusterRole
     * @param subjects kind and name of each
     * @param rules reads what it gives; empty if its role does not exist
     */
    record Binding(
            String name, boolean ofClusterRole, String role, Set<String> subjects, Supplier<List<PolicyRule>> rules) {}

    /** @param complete whether the owners of all kinds of the policy can be listed */
    GrantDiagnoses(RolePolicy policy, boolean complete) {
        this.policy = policy;
        this.complete = complete;
    }

    /**
     * Judges a namespace.
     *
     * @param role the policy's Role; null if it does not exist
     * @param bindings those of the namespace and of the cluster
     * @param denied the references that are not granted because the ServiceAccount of the owner may not get them
     */
    void add(
            String namespace,
            List<GrantOwner> inNamespace,
            @Nullable Role role,
            List<Binding> bindings,
            Set<Map.Entry<GrantOwner, ObjectRef>> denied) {
        Set<String> bound = bindings.stream()
                .filter(binding -> !binding.ofClusterRole() && binding.role().equals(policy.role()))
                .flatMap(binding -> binding.subjects().stream())
                .collect(Collectors.toCollection(LinkedHashSet::new));
        readers.addAll(bound);
        bindings.stream()
                .filter(binding -> binding.subjects().stream().anyMatch(bound::contains))
                .filter(binding -> binding.rules().get().stream().anyMatch(this::isBroad))
                .map(Binding::name)
                .forEach(broad::add);
        String what = "Role " + policy.role() + " of namespace " + namespace;
        String label = role == null ? policy.name() : RolePolicy.keeperOf(role);
        boolean isUsable = !bound.isEmpty() && label.equals(policy.name());
        if (!inNamespace.isEmpty() && bound.isEmpty()) {
            found.add(Diagnosis.problem(
                    CHECK,
                    what + " is bound to nobody",
                    "what it grants, nobody can use",
                    "bind it to your operator there: grants --print-rbac prints the RoleBinding"));
        }
        if (!inNamespace.isEmpty() && !label.equals(policy.name())) {
            found.add(Diagnosis.problem(
                    CHECK,
                    what
                            + (label.isEmpty()
                                    ? " is somebody else's: it has no label " + RolePolicy.LABEL
                                    : " is of another policy: its label says " + Quoted.value(label)),
                    "the controller leaves it as it is, and grants nothing there",
                    "give the policy another Role, delete this one, or label it " + RolePolicy.LABEL + "="
                            + policy.name() + " to have its rules replaced"));
        }
        for (GrantOwner owner : inNamespace) {
            owners++;
            Diagnosis judged = judged(owner, role, denied);
            boolean isOutOfReach = !isUsable && !owner.references().isEmpty();
            missing += judged.isProblem() || isOutOfReach ? 1 : 0;
            found.add(judged);
        }
    }

    /** Returns the rules of a Role. A server gives null for none. */
    static List<PolicyRule> rules(@Nullable Role role) {
        return role == null || role.getRules() == null ? List.of() : role.getRules();
    }

    private Diagnosis judged(GrantOwner owner, @Nullable Role role, Set<Map.Entry<GrantOwner, ObjectRef>> denied) {
        List<ObjectRef> ungranted = owner.references().stream()
                .filter(object -> !grants(rules(role), object))
                .toList();
        List<ObjectRef> refused = ungranted.stream()
                .filter(object -> denied.contains(Map.entry(owner, object)))
                .toList();
        String refersTo = Quoted.text(owner.toString())
                + (owner.references().isEmpty() ? " refers to nothing" : " refers to " + names(owner.references()));
        if (ungranted.size() > refused.size()) {
            List<ObjectRef> lacking = ungranted.stream()
                    .filter(object -> !refused.contains(object))
                    .toList();
            return Diagnosis.problem(
                    CHECK,
                    refersTo + "; not granted: " + names(lacking),
                    role == null
                            ? "there is no Role " + policy.role()
                            : "Role " + policy.role() + " does not name it with the verbs " + policy.verbs(),
                    "run podcache grants with this policy, and look at the events of the owner");
        }
        if (!refused.isEmpty()) {
            return Diagnosis.note(
                    CHECK,
                    refersTo + "; denied: " + names(refused),
                    "it is not granted, because the ServiceAccount " + Quoted.value(String.valueOf(owner.account()))
                            + " of the owner may not get it",
                    "let this ServiceAccount get it, if the operator is to read it for this owner");
        }
        return Diagnosis.ok(CHECK, refersTo + (owner.references().isEmpty() ? "" : "; granted"));
    }

    private static String names(Iterable<ObjectRef> objects) {
        List<String> names = new ArrayList<>();
        objects.forEach(object -> names.add(object.kind() + " " + object.name()));
        return String.join(", ", names);
    }

    private boolean grants(List<PolicyRule> rules, ObjectRef object) {
        return policy.verbs().stream()
                .allMatch(verb -> rules.stream()
                        .anyMatch(rule -> concerns(rule, object.kind(), verb)
                                && rule.getResourceNames().contains(object.name())));
    }

    /** Returns whether a rule lets somebody read all objects of a kind that the policy grants by name. */
    private boolean isBroad(PolicyRule rule) {
        return rule.getResourceNames().isEmpty()
                && policy.grantedKinds().stream()
                        .anyMatch(kind ->
                                List.of("get", "list", "watch").stream().anyMatch(verb -> concerns(rule, kind, verb)));
    }

    private static boolean concerns(PolicyRule rule, ObjectKind<?> kind, String verb) {
        int slash = kind.apiVersion().indexOf('/');
        String group = slash < 0 ? "" : kind.apiVersion().substring(0, slash);
        return matches(rule.getApiGroups(), group)
                && matches(rule.getResources(), kind.plural())
                && matches(rule.getVerbs(), verb);
    }

    private static boolean matches(List<String> allowed, String wanted) {
        return allowed.contains(wanted) || allowed.contains("*");
    }

    /** Returns the diagnoses of all owners, and at the end whether a broad Role may go. */
    List<Diagnosis> all() {
        List<Diagnosis> all = new ArrayList<>(found);
        String whose = readers.isEmpty() ? "" : " of " + Quoted.text(String.join(", ", readers));
        String which = broad.isEmpty() ? "" : ": " + Quoted.text(String.join(", ", broad));
        if (!complete) {
            all.add(Diagnosis.problem(
                    CHECK,
                    "policy " + policy.name() + ": not all of its owners are known, so the broad Role must stay"
                            + which,
                    "without it, the operator could not read what these owners refer to",
                    "mend what is said above, and ask again"));
        } else if (missing > 0) {
            all.add(Diagnosis.problem(
                    CHECK,
                    "policy " + policy.name() + ": " + missing + " of " + owners
                            + " owners lack access, so the broad Role must stay" + which,
                    "without it, the operator could not read what is missing above",
                    "mend what is missing, and ask again"));
        } else if (broad.isEmpty()) {
            all.add(Diagnosis.ok(
                    CHECK,
                    "policy " + policy.name() + ": nothing is missing for " + owners
                            + " owners; the broad Role may go, if there is one" + whose));
        } else {
            all.add(Diagnosis.note(
                    CHECK,
                    "policy " + policy.name() + ": nothing is missing for " + owners + " owners; the broad Role may go"
                            + which,
                    "it lets the reader" + whose + " read more than the owners refer to",
                    "delete the binding, and keep its manifest: to apply it again is the way back"));
        }
        return all;
    }

    /** Returns what to say of a Role whose policy is not in the file. */
    static Diagnosis orphan(String namespace, String role, String policy, int names) {
        return Diagnosis.problem(
                CHECK,
                "Role " + Quoted.text(namespace + "/" + role) + " is of policy " + Quoted.value(policy)
                        + ", which is not in the file or does not select it; it grants " + names
                        + (names == 1 ? " name" : " names"),
                "nobody keeps it: what it grants stays granted",
                "run podcache grants --remove with the file of that policy, or delete the Role");
    }
}
