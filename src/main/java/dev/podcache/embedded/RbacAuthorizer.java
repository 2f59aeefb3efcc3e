package dev.podcache.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.common.collect.ImmutableList;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Decides by the Roles, ClusterRoles and bindings of a cluster, as they were a settable time ago. Thread-safe. Changes are
 * reported under the lock of the cluster; this class never calls the cluster.
 */
final class RbacAuthorizer {

    // After plugin/pkg/auth/authorizer/rbac/rbac.go and pkg/registry/rbac/validation/rule.go of kubernetes/kubernetes.

    private final Timekeeper timekeeper;
    private final Object lock = new Object();

    // guarded by lock
    private final Deque<ChangeSeen> unseen = new ArrayDeque<>();
    private final Map<ObjectKey, ImmutableList<PolicyRule>> roles = new HashMap<>();
    private final Map<ObjectKey, ImmutableList<PolicyRule>> clusterRoles = new HashMap<>();
    private final Map<String, NavigableMap<String, RoleGrant>> bindings = new HashMap<>(); // by namespace, or ""
    private long lagNanos;

    /** A change, and when it was committed. */
    private record ChangeSeen(ClusterChange change, long nanoTime) {}

    /** An answer; {@code reason} may be empty. */
    record AuthorizerAnswer(boolean allowed, String reason) {}

    /** What somebody may do, and why that may be incomplete. */
    record HeldRules(ImmutableList<PolicyRule> rules, ImmutableList<String> errors) {}

    /** What a binding grants to one caller, and through which subject. */
    private record Applied(RoleGrant grant, JsonNode subject) {

        String text() {
            String subjectKind = subject.path("kind").asText();
            String name = subject.path("name").asText();
            String of = subject.path("namespace").asText();
            String subjectName =
                    subjectKind.equals("ServiceAccount") ? name + "/" + (of.isEmpty() ? grant.namespace : of) : name;
            boolean clusterWide = grant.namespace.isEmpty();
            return (clusterWide ? "ClusterRoleBinding \"" : "RoleBinding \"") + grant.name
                    + (clusterWide ? "" : "/" + grant.namespace) + "\" of " + grant.roleKind + " \"" + grant.roleName
                    + "\" to " + subjectKind + " \"" + subjectName + "\"";
        }
    }

    /** A binding. */
    private record RoleGrant(String namespace, String name, String roleKind, String roleName, JsonNode subjects) {

        /** Returns the first subject that is the caller, or null. */
        @Nullable
        JsonNode subjectFor(Caller caller) {
            for (JsonNode subject : subjects) {
                String named = subject.path("name").asText();
                boolean applies = switch (subject.path("kind").asText()) {
                    case "User" -> named.equals(caller.name());
                    case "Group" -> caller.groups().contains(named);
                    case "ServiceAccount" -> {
                        String of = subject.path("namespace").asText(namespace);
                        yield !of.isEmpty() && Caller.accountName(of, named).equals(caller.name());
                    }
                    default -> false;
                };
                if (applies) {
                    return subject;
                }
            }
            return null;
        }
    }

    RbacAuthorizer(Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
    }

    /** Sets how old a change is when it begins to count. What counts already is not taken back. */
    void lag(Duration lag) {
        if (lag.isNegative()) {
            throw new IllegalArgumentException("the lag of an authorizer must not be negative: " + lag);
        }
        synchronized (lock) {
            catchUpLocked();
            lagNanos = lag.toNanos();
        }
    }

    /** Takes note of a change of a Role, ClusterRole or binding. */
    void changed(ClusterChange change) {
        synchronized (lock) {
            unseen.addLast(new ChangeSeen(change, timekeeper.nanoTime()));
            catchUpLocked();
        }
    }

    /** Answers a question. */
    AuthorizerAnswer decide(AuthorizerQuestion question) {
        List<String> errors = new ArrayList<>();
        synchronized (lock) {
            catchUpLocked();
            for (Applied applied : appliedLocked(question.caller(), question.namespace())) {
                for (PolicyRule rule : rulesLocked(applied.grant(), errors)) {
                    if (rule.allows(question)) {
                        return new AuthorizerAnswer(true, "RBAC: allowed by " + applied.text());
                    }
                }
            }
        }
        if (question.caller().isMaster()) {
            return new AuthorizerAnswer(true, "");
        }
        return new AuthorizerAnswer(false, errors.isEmpty() ? "" : "RBAC: " + joined(errors));
    }

    /** Returns what somebody may do in a namespace, or everywhere if it is "". */
    HeldRules rulesOf(Caller caller, String namespace) {
        List<String> errors = new ArrayList<>();
        ImmutableList.Builder<PolicyRule> rules = ImmutableList.builder();
        if (caller.isMaster()) {
            rules.addAll(PolicyRule.everything());
        }
        synchronized (lock) {
            catchUpLocked();
            for (Applied applied : appliedLocked(caller, namespace)) {
                rules.addAll(rulesLocked(applied.grant(), errors));
            }
        }
        return new HeldRules(rules.build(), ImmutableList.copyOf(errors));
    }

    /**
     * Returns the rules of the role that a binding refers to.
     *
     * @throws StatusException 404 if there is no such role
     */
    ImmutableList<PolicyRule> rulesOfRole(String kind, String namespace, String name) {
        synchronized (lock) {
            catchUpLocked();
            ImmutableList<PolicyRule> rules = roleLocked(kind, namespace, name);
            if (rules == null) {
                throw StatusException.notFound(kind.equals("Role") ? Resource.ROLES : Resource.CLUSTER_ROLES, name);
            }
            return rules;
        }
    }

    static String joined(List<String> errors) {
        return errors.size() == 1 ? errors.get(0) : "[" + String.join(", ", errors) + "]";
    }

    private void catchUpLocked() {
        long now = timekeeper.nanoTime();
        for (ChangeSeen next = unseen.peekFirst();
                next != null && now - next.nanoTime() >= lagNanos;
                next = unseen.peekFirst()) {
            unseen.removeFirst();
            applyLocked(next.change());
        }
    }

    private void applyLocked(ClusterChange change) {
        ObjectKey key = change.key();
        Resource resource = change.resource();
        if (resource.equals(Resource.ROLES) || resource.equals(Resource.CLUSTER_ROLES)) {
            Map<ObjectKey, ImmutableList<PolicyRule>> table = resource.namespaced() ? roles : clusterRoles;
            if (change.after() == null) {
                table.remove(key);
            } else {
                table.put(key, PolicyRule.rulesOf(change.after().json()));
            }
            return;
        }
        if (change.after() == null) {
            NavigableMap<String, RoleGrant> left = bindings.getOrDefault(key.namespace(), new TreeMap<>());
            left.remove(key.name());
            if (left.isEmpty()) {
                bindings.remove(key.namespace());
            }
            return;
        }
        JsonNode binding = change.after().json();
        bindings.computeIfAbsent(key.namespace(), namespace -> new TreeMap<>())
                .put(
                        key.name(),
                        new RoleGrant(
                                key.namespace(),
                                key.name(),
                                binding.path("roleRef").path("kind").asText(),
                                binding.path("roleRef").path("name").asText(),
                                binding.path("subjects")));
    }

    private List<Applied> appliedLocked(Caller caller, String namespace) {
        List<Applied> applied = new ArrayList<>();
        addAppliedLocked(applied, caller, "");
        if (!namespace.isEmpty()) {
            addAppliedLocked(applied, caller, namespace);
        }
        return applied;
    }

    private void addAppliedLocked(List<Applied> applied, Caller caller, String namespace) {
        for (RoleGrant grant : bindings.getOrDefault(namespace, new TreeMap<>()).values()) {
            JsonNode subject = grant.subjectFor(caller);
            if (subject != null) {
                applied.add(new Applied(grant, subject));
            }
        }
    }

    private ImmutableList<PolicyRule> rulesLocked(RoleGrant grant, List<String> errors) {
        ImmutableList<PolicyRule> rules = roleLocked(grant.roleKind(), grant.namespace(), grant.roleName());
        if (rules == null) {
            errors.add(notFound(grant.roleKind(), grant.roleName()));
            return ImmutableList.of();
        }
        return rules;
    }

    private @Nullable ImmutableList<PolicyRule> roleLocked(String kind, String namespace, String name) {
        return kind.equals("Role")
                ? roles.get(ObjectKey.of(namespace, name))
                : clusterRoles.get(ObjectKey.of("", name));
    }

    private static String notFound(String kind, String name) {
        return kind.toLowerCase(Locale.ROOT) + "." + Resource.RBAC + " \"" + name + "\" not found";
    }
}
