package dev.podcache.access;

import com.google.common.collect.ImmutableSortedSet;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.PolicyRuleBuilder;
import io.fabric8.kubernetes.api.model.rbac.Role;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A Role of a policy as the server has it. Immutable.
 *
 * @param names the objects that it names, sorted; objects of kinds that the policy does not grant are left out
 * @param exact whether its rules are exactly those that the policy would write for {@code names}
 * @param policy the value of the label of policies; empty without one
 */
record RoleContent(
        String resourceVersion, String uid, ImmutableSortedSet<ObjectRef> names, boolean exact, String policy) {

    static final ObjectKind<Role> KIND = ObjectKind.of(Role.class);
    static final String GROUP = "rbac.authorization.k8s.io";

    /** Returns the content of a Role. */
    static RoleContent of(Role role, RolePolicy policy) {
        String namespace = Objects.requireNonNullElse(role.getMetadata().getNamespace(), "");
        List<PolicyRule> rules = Objects.requireNonNullElse(role.getRules(), List.of());
        ImmutableSortedSet.Builder<ObjectRef> names = ImmutableSortedSet.naturalOrder();
        for (PolicyRule rule : rules) {
            for (ObjectKind<?> kind : policy.grantedKinds()) {
                if (set(rule.getResources()).contains(kind.plural())
                        && set(rule.getApiGroups()).contains(group(kind))) {
                    set(rule.getResourceNames()).forEach(name -> names.add(ObjectRef.of(kind, namespace, name)));
                }
            }
        }
        ImmutableSortedSet<ObjectRef> named = names.build();
        return new RoleContent(
                Objects.requireNonNullElse(role.getMetadata().getResourceVersion(), ""),
                Objects.requireNonNullElse(role.getMetadata().getUid(), ""),
                named,
                normalized(rules).equals(normalized(rules(named, policy))),
                RolePolicy.keeperOf(role));
    }

    /** Returns the rules that grant these objects: one for each kind that has a name, with its names sorted. */
    static List<PolicyRule> rules(ImmutableSortedSet<ObjectRef> names, RolePolicy policy) {
        List<PolicyRule> rules = new ArrayList<>();
        for (ObjectKind<?> kind : policy.grantedKinds()) {
            List<String> ofKind = names.stream()
                    .filter(name -> name.kind().equals(kind))
                    .map(ObjectRef::name)
                    .toList();
            if (!ofKind.isEmpty()) {
                rules.add(new PolicyRuleBuilder()
                        .withApiGroups(group(kind))
                        .withResources(kind.plural())
                        .withResourceNames(ofKind)
                        .withVerbs(policy.verbs())
                        .build());
            }
        }
        return rules;
    }

    /** Returns the API group of a kind; empty for the core group. */
    static String group(ObjectKind<?> kind) {
        int slash = kind.apiVersion().indexOf('/');
        return slash < 0 ? "" : kind.apiVersion().substring(0, slash);
    }

    /** Returns whether it grants these objects by rules of the policy, and says whose it is. */
    boolean grants(ImmutableSortedSet<ObjectRef> objects, RolePolicy by) {
        return exact && names.equals(objects) && policy.equals(by.name());
    }

    /** Rules as sets: the order of a list in a rule has no meaning. */
    private static List<List<TreeSet<String>>> normalized(List<PolicyRule> rules) {
        return rules.stream()
                .map(rule -> List.of(
                        set(rule.getApiGroups()),
                        set(rule.getResources()),
                        set(rule.getResourceNames()),
                        set(rule.getVerbs()),
                        set(rule.getNonResourceURLs())))
                .toList();
    }

    /** A kube-apiserver writes null for an empty list. */
    private static TreeSet<String> set(@Nullable List<String> list) {
        TreeSet<String> set = new TreeSet<>();
        if (list != null) {
            set.addAll(list);
        }
        return set;
    }
}
