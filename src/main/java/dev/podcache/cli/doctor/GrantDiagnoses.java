package dev.podcache.cli.doctor;

import dev.podcache.access.Grants;
import dev.podcache.access.RolePolicy;
import dev.podcache.access.RolePolicy.GrantOwner;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
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
    private static final List<String> READS = List.of("get", "list", "watch");

    /** Of how many rules a line says what they allow. */
    private static final int SHOWN_RULES = 3;

    private final RolePolicy policy;
    private final boolean complete;
    private final List<Diagnosis> found = new ArrayList<>();
    private final Set<String> readers = new LinkedHashSet<>(); // the subjects that the Roles of the policy are bound to
    private final Set<String> bindings = new HashSet<>(); // the names of all that were judged
    private final Map<String, Binding> broad = new LinkedHashMap<>(); // those that let the readers read without names
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
            String name, boolean ofClusterRole, String role, Set<String> subjects, Supplier<List<PolicyRule>> rules) {

        /** Returns what to heed before it, or a part of its role, goes; empty if it is for one namespace. */
        private String elsewhere() {
            return name.startsWith("ClusterRoleBinding ")
                    ? "; it is for all namespaces: first give the reader a Role for what it reads in those that the policy"
                            + " does not select"
                    : "";
        }
    }

    /** @param complete whether the owners of all kinds of the policy can be listed */
    GrantDiagnoses(RolePolicy policy, boolean complete) {
        this.policy = policy;
        this.complete = complete;
    }

    /**
     * Judges a namespace.
     *
     * @param role the policy's Role; null if it does not exist
     * @param inReach the bindings of the namespace and of the cluster
     * @param denied the references that are not granted because the ServiceAccount of the owner may not get them
     */
    void add(
            String namespace,
            List<GrantOwner> inNamespace,
            @Nullable Role role,
            List<Binding> inReach,
            Set<Map.Entry<GrantOwner, ObjectRef>> denied) {
        inReach.forEach(binding -> bindings.add(binding.name()));
        Set<String> bound = inReach.stream()
                .filter(binding -> !binding.ofClusterRole() && binding.role().equals(policy.role()))
                .flatMap(binding -> binding.subjects().stream())
                .collect(Collectors.toCollection(LinkedHashSet::new));
        readers.addAll(bound);
        inReach.stream()
                .filter(binding -> binding.subjects().stream().anyMatch(bound::contains))
                .filter(binding -> binding.rules().get().stream().anyMatch(this::isBroad))
                .forEach(binding -> broad.put(binding.name(), binding));
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
                        .anyMatch(kind -> READS.stream().anyMatch(verb -> concerns(rule, kind, verb)));
    }

    /** Returns whether a rule allows nothing but to read all objects of these kinds. */
    private static boolean onlyReads(PolicyRule rule, Set<ObjectKind<?>> kinds) {
        return READS.containsAll(rule.getVerbs())
                && rule.getResourceNames().isEmpty()
                && rule.getNonResourceURLs().isEmpty()
                && rule.getApiGroups().stream()
                        .allMatch(group -> rule.getResources().stream()
                                .allMatch(resource -> kinds.stream()
                                        .anyMatch(kind -> group(kind).equals(group)
                                                && kind.plural().equals(resource))));
    }

    private static String group(ObjectKind<?> kind) {
        int slash = kind.apiVersion().indexOf('/');
        return slash < 0 ? "" : kind.apiVersion().substring(0, slash);
    }

    private static boolean concerns(PolicyRule rule, ObjectKind<?> kind, String verb) {
        return matches(rule.getApiGroups(), group(kind))
                && matches(rule.getResources(), kind.plural())
                && matches(rule.getVerbs(), verb);
    }

    private static boolean matches(List<String> allowed, String wanted) {
        return allowed.contains(wanted) || allowed.contains("*");
    }

    /** Returns the diagnoses of the owners so far, without whether a broad Role may go. */
    List<Diagnosis> ofOwners() {
        return List.copyOf(found);
    }

    /**
     * Returns the diagnoses of all owners, and at the end whether a broad Role may go.
     *
     * @param ofFile of each policy of the file, with all its namespaces: a binding that this policy can do without may be
     *     needed by another one
     */
    List<Diagnosis> all(List<GrantDiagnoses> ofFile) {
        List<Diagnosis> all = new ArrayList<>(found);
        String whose = readers.isEmpty() ? "" : " of " + Quoted.text(String.join(", ", readers));
        String which = broad.isEmpty() ? "" : ": " + Quoted.text(String.join(", ", broad.keySet()));
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
            broad.values().forEach(binding -> all.add(superfluous(binding, whose, ofFile)));
        }
        return all;
    }

    /** Returns what to do about a binding that this policy can do without. */
    private Diagnosis superfluous(Binding binding, String whose, List<GrantDiagnoses> ofFile) {
        String judged = "policy " + policy.name() + ": nothing is missing for " + owners + " owners; the broad Role ";
        String name = Quoted.text(binding.name());
        String why = "it lets the reader" + whose + " read more than the owners refer to";
        String kinds = String.join(
                ", ", policy.grantedKinds().stream().map(ObjectKind::name).toList());
        List<String> needing = ofFile.stream()
                .filter(other -> other.needs(binding, policy))
                .map(other -> other.policy.name())
                .toList();
        if (!needing.isEmpty()) {
            return Diagnosis.note(
                    CHECK,
                    judged + "must stay for policy " + String.join(", ", needing) + ": " + name,
                    "without it, the operator could not read what is missing for that policy",
                    "mend what is missing for that policy, and ask again");
        }
        List<String> rest = rest(binding, ofFile);
        if (!rest.isEmpty()) {
            String shown = String.join("; ", rest.subList(0, Math.min(SHOWN_RULES, rest.size())))
                    + (rest.size() > SHOWN_RULES ? "; and more" : "");
            return Diagnosis.note(
                    CHECK,
                    judged + "may go in part: " + name,
                    why + ", and its role allows more than that (" + Quoted.text(shown) + ")",
                    "keep the binding, and take only these reads of " + kinds
                            + " out of the role; where a rule has *, write out what else is needed; if others use the"
                            + " role, bind a copy without these reads" + binding.elsewhere());
        }
        Set<String> others = new LinkedHashSet<>(binding.subjects());
        others.removeAll(readers);
        if (!others.isEmpty()) {
            return Diagnosis.note(
                    CHECK,
                    judged + "may go in part: " + name,
                    why + ", and it is also for " + Quoted.text(String.join(", ", others)),
                    "keep the binding, and take only the reader out of its subjects" + binding.elsewhere());
        }
        return Diagnosis.note(
                CHECK,
                judged + "may go: " + name,
                why,
                "delete the binding, and keep its manifest: to apply it again is the way back" + binding.elsewhere());
    }

    /** Returns whether a binding must stay, because owners of this policy lack reads of kinds that the other one grants too. */
    private boolean needs(Binding binding, RolePolicy other) {
        return !isWell()
                && bindings.contains(binding.name())
                && (readers.isEmpty() || binding.subjects().stream().anyMatch(readers::contains))
                && policy.grantedKinds().stream().anyMatch(other.grantedKinds()::contains)
                && binding.rules().get().stream().anyMatch(this::isBroad);
    }

    private boolean isWell() {
        return complete && missing == 0;
    }

    /** Returns what the role of a binding allows besides reads that no policy of the file needs any more. */
    private static List<String> rest(Binding binding, List<GrantDiagnoses> ofFile) {
        Set<ObjectKind<?>> kinds = new HashSet<>();
        ofFile.stream()
                .filter(each -> each.isWell() && each.broad.containsKey(binding.name()))
                .forEach(each -> kinds.addAll(each.policy.grantedKinds()));
        return binding.rules().get().stream()
                .filter(rule -> !onlyReads(rule, kinds))
                .map(GrantDiagnoses::words)
                .distinct()
                .toList();
    }

    /** Returns a rule in words, such as {@code get, update of leases}. */
    private static String words(PolicyRule rule) {
        List<String> objects = rule.getResources().isEmpty() ? rule.getNonResourceURLs() : rule.getResources();
        return String.join(", ", rule.getVerbs()) + " of " + String.join(", ", objects);
    }

    /**
     * Returns what to say of a Role that no policy of the file keeps.
     *
     * @param inFile whether the file has the policy that its label names
     * @param grants what it grants, in words
     */
    static Diagnosis orphan(String namespace, String role, String policy, boolean inFile, String grants) {
        String what = "Role " + Quoted.text(namespace + "/" + role) + " is of policy " + Quoted.value(policy);
        if (inFile) {
            return Diagnosis.problem(
                    CHECK,
                    what + ", which has another Role or does not select the namespace; it grants " + grants,
                    "nobody keeps it: what it grants stays granted",
                    "run podcache grants --remove with the file as it was before, or delete the Role");
        }
        return Diagnosis.note(
                CHECK,
                what + ", which is not in the file; it grants " + grants,
                "a controller with another file keeps it, or nobody does, and then what it grants stays granted",
                "see whether somebody renews Lease " + Quoted.text(Grants.leaseName(policy))
                        + ", in the namespace of that controller's Leases; if nobody does, run podcache grants --remove"
                        + " with the file of that policy, or delete the Role");
    }
}
