package dev.podcache.access;

import com.google.common.collect.ImmutableSet;
import com.google.common.collect.ImmutableSortedSet;
import dev.podcache.access.RolePolicy.GrantOwner;
import dev.podcache.access.RolePolicy.OwnerKind;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Retries;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.ResourceVersions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides what the Roles of one policy contain and when they are written, for one term of leadership: registrations of
 * owners drive a store, and the content of the store is a Role. Pure: no clock, no thread, no request. Confined to one
 * thread. Times are nanoseconds from any origin, never negative.
 *
 * <p>Inputs are what watches and answers say; {@link #actions} returns what is to be done about them, and {@link #nextAt}
 * when to ask again.
 */
final class RoleLedger {

    /*
     * Desired names of a namespace: those that its counted owners refer to, at most 500 of each owner and as many as fit
     * into 1 MiB, the oldest references first; with onBehalfOf, those that the subject may read. The age of a reference:
     * names that the Role had at the begin of the term are the oldest, then the order in which they were seen.
     *
     * State of a Role        a change of the desired names                      leaves the state when
     * -----------------------------------------------------------------------------------------------------------------
     * unknown                waits                                              it is listed: absent or present
     * absent                 creates it, without rules                          created: present; 409: read again
     * present                patches it, with the version that is known         409, 404: read again
     * written (in flight)    waits                                              the answer
     * to be read again       waits for the lease to be read live, then a GET    the answer: absent or present
     * refused, terminating   waits                                              an owner appears that was not there, since
     *                                                                           the creation began
     * of somebody else       never writes                                       its label changes
     *
     * Whose a Role is: its label says it. One without the label is this policy's only if it had the label in this term, and
     * so was edited; else somebody else has made it, and bound it to whom he wanted.
     *
     * Growing and shrinking. Until every kind of owners was listed in this term, the desired names are those above and
     * all that the Role has: so nothing shrinks. A Role with rules of another shape is not written before. In a namespace
     * that is not selected no owner counts, so nothing is waited for.
     *
     * Versions. What is older than the newest that was seen is late, and ignored; but a read that began after that was
     * seen, and is older, tells that the storage of the API server was restored. A list that is older may be either, so the
     * Role is read again.
     */

    static final Duration GATHERED = Duration.ofMillis(100);
    static final Duration BETWEEN_LARGE = Duration.ofMillis(500);
    static final int LARGE = 1_000;
    static final int NAMES_OF_OWNER = 500;
    static final int ROLE_BYTES = 1 << 20;

    /** What a Role has besides names: metadata, rules and their managed fields. */
    private static final int ROLE_FRAME_BYTES = 4 << 10;

    /** How many writes without an answer are remembered, so that they are not taken for those of somebody else. */
    private static final int MOST_UNSURE = 16;

    private static final long NEVER = Long.MAX_VALUE;
    private static final Retries RETRIES = new Retries(Duration.ofMillis(200), Duration.ofSeconds(30));

    private final RolePolicy policy;
    private final DoubleSupplier random;
    private final Map<String, NamespaceRole> namespaces = new TreeMap<>();
    private final Set<NamespaceRole> changed = new LinkedHashSet<>();
    private final Set<OwnerKind> listedEverywhere = new HashSet<>();
    private final Set<OwnerKind> absent = new HashSet<>(); // kinds whose definition is absent
    private long references; // counts the references that were seen: their ages

    /** What is to be done. */
    sealed interface RoleAction {}

    /** Returns the namespace whose Role an action writes or reads; null if it does neither. */
    static @Nullable String requestOf(RoleAction action) {
        if (action instanceof CreateRole create) {
            return create.namespace();
        }
        if (action instanceof PatchRole patch) {
            return patch.namespace();
        }
        return action instanceof RereadRole reread ? reread.namespace() : null;
    }

    /** Create the Role, without rules. {@link #written} or {@link #failed} says how it went. */
    record CreateRole(String namespace) implements RoleAction {}

    /** Replace the rules, if the Role still has this version. {@link #written} or {@link #failed} says how it went. */
    record PatchRole(String namespace, RoleContent before, ImmutableSortedSet<ObjectRef> names) implements RoleAction {}

    /** Read the Lease live and then, if it is still ours, the Role. {@link #reread} or {@link #failed} follows. */
    record RereadRole(String namespace) implements RoleAction {}

    /** Ask whether the subject may read the object, until it is no longer asked; {@link #reviewed} says each answer. */
    record AskAccess(SubjectQuestion question) implements RoleAction {}

    /** The answer is no longer needed. */
    record ForgetAccess(SubjectQuestion question) implements RoleAction {}

    /** Write an event about an owner. */
    record TellOwner(GrantOwner about, String reason, String message) implements RoleAction {}

    /**
     * Write an event about a Role.
     *
     * @param lasts whether it is so until somebody does something about it
     */
    record TellOfRole(String namespace, String uid, boolean lasts, String reason, String message)
            implements RoleAction {}

    /** Whether a ServiceAccount in the namespace of the object may get it. */
    record SubjectQuestion(String account, ObjectRef object) {}

    /** Whether the subject of a question may get its object. */
    enum SubjectVerdict {
        PENDING(""),
        ALLOWED(""),
        DENIED("may not get"),
        /** Only a Role of a policy allows it, which is no right of its own. */
        BY_A_POLICY("has no right of its own to get"),
        /** Nobody has answered for long. */
        UNANSWERED("is not known to be allowed to get");

        /** What the subject may not; empty if that is not said. */
        private final String text;

        SubjectVerdict(String text) {
            this.text = text;
        }
    }

    private static final class CountedOwner {
        GrantOwner facts;
        final Map<ObjectRef, Long> ages = new LinkedHashMap<>();
        Set<String> told = Set.of();

        CountedOwner(GrantOwner facts) {
            this.facts = facts;
        }
    }

    private static final class NamespaceRole {
        final String name;
        final Map<OwnerKind, Map<ObjectKey, CountedOwner>> owners = new HashMap<>();
        final Set<OwnerKind> listed = new HashSet<>();
        final Map<SubjectQuestion, SubjectVerdict> verdicts = new HashMap<>();
        boolean selected;
        boolean terminating; // as the namespace says
        boolean refused; // a creation was refused because the namespace is terminating
        boolean appeared; // an owner that was not there, since the last creation began
        boolean known;

        @Nullable
        RoleContent role; // null if absent, or not known

        String version = ""; // the newest that was seen of the Role, its deletion included
        String labelled = ""; // the uid of the last Role of this term that had the label of this policy
        String older = ""; // the version of a list that is older than the newest that was seen; empty if none was
        String rereadFrom = ""; // the newest version when the Role was begun to be read again
        ImmutableSet<ObjectRef> oldest = ImmutableSet.of(); // what the Role had at the begin of the term
        ImmutableSortedSet<ObjectRef> attempted = ImmutableSortedSet.of(); // the names of the last write
        final Set<ImmutableSortedSet<ObjectRef>> unsure = new LinkedHashSet<>(); // of writes that may have arrived
        boolean writing; // a write is in flight
        boolean creating; // and it creates
        boolean rereads; // is to be read again
        boolean rereading;
        String foreignTold = ""; // the uid of the Role of somebody else that was told of
        String restored = ""; // what somebody did to the Role; empty if nothing
        long changedAt = NEVER;
        long writtenAt = -BETWEEN_LARGE.toNanos();
        long retryAt;
        int failures;
        int names; // of the last computation

        NamespaceRole(String name) {
            this.name = name;
        }

        boolean isBlocked() {
            return writing || rereading || (!known && !rereads) || terminating || refused;
        }
    }

    /**
     * Makes a ledger that knows nothing.
     *
     * @param random uniform in [0, 1), for pauses after failures
     */
    RoleLedger(RolePolicy policy, DoubleSupplier random) {
        this.policy = policy;
        this.random = random;
    }

    // inputs: namespaces

    /** A namespace is selected, or not any more; or it is terminating. */
    void namespace(String name, boolean selected, boolean terminating, long now) {
        NamespaceRole namespace = of(name);
        if (namespace.selected != selected || namespace.terminating != terminating) {
            namespace.selected = selected;
            namespace.terminating = terminating;
            change(namespace, now);
        }
    }

    /** A namespace is gone, and its Role with it. */
    List<RoleAction> namespaceGone(String name) {
        NamespaceRole namespace = namespaces.remove(name);
        if (namespace == null) {
            return List.of();
        }
        changed.remove(namespace);
        keepOwners(namespace);
        List<RoleAction> forgotten = new ArrayList<>();
        namespace.verdicts.keySet().forEach(question -> forgotten.add(new ForgetAccess(question)));
        return forgotten;
    }

    /**
     * Keeps the owners of a namespace that is gone which one watch of all namespaces reports: it says itself which are gone,
     * and may have reported one of the next namespace of this name already.
     */
    private void keepOwners(NamespaceRole gone) {
        gone.owners.forEach((kind, counted) -> {
            if (listedEverywhere.contains(kind) && !counted.isEmpty()) {
                of(gone.name).owners.put(kind, counted);
            }
        });
    }

    // inputs: owners

    /**
     * The owners of a kind were listed; there are no others.
     *
     * @param scope the namespace that was listed; empty for all
     */
    void ownersListed(OwnerKind kind, String scope, Collection<GrantOwner> owners, long now) {
        absent.remove(kind);
        Map<String, Map<ObjectKey, GrantOwner>> byNamespace = new HashMap<>();
        owners.stream()
                .sorted(Comparator.comparing(GrantOwner::created).thenComparing(GrantOwner::uid))
                .forEach(owner -> byNamespace
                        .computeIfAbsent(owner.key().namespace(), name -> new LinkedHashMap<>())
                        .put(owner.key(), owner));
        if (scope.isEmpty()) {
            listedEverywhere.add(kind);
            byNamespace.keySet().forEach(this::of);
            namespaces
                    .values()
                    .forEach(namespace ->
                            replace(namespace, kind, byNamespace.getOrDefault(namespace.name, Map.of()), now));
        } else {
            NamespaceRole namespace = of(scope);
            namespace.listed.add(kind);
            replace(namespace, kind, byNamespace.getOrDefault(scope, Map.of()), now);
        }
    }

    private void replace(NamespaceRole namespace, OwnerKind kind, Map<ObjectKey, GrantOwner> owners, long now) {
        Map<ObjectKey, CountedOwner> counted = namespace.owners.computeIfAbsent(kind, each -> new LinkedHashMap<>());
        counted.keySet().retainAll(owners.keySet());
        owners.values().forEach(owner -> put(namespace, counted, owner));
        // even if nothing changed: the Role may shrink now
        change(namespace, now);
    }

    /** An owner appeared or changed, or is reported again. */
    void ownerSeen(OwnerKind kind, GrantOwner owner, long now) {
        absent.remove(kind);
        NamespaceRole namespace = of(owner.key().namespace());
        Map<ObjectKey, CountedOwner> counted = namespace.owners.computeIfAbsent(kind, each -> new LinkedHashMap<>());
        if (put(namespace, counted, owner)) {
            change(namespace, now);
        }
    }

    /** An owner is gone, or counts no more. */
    void ownerGone(OwnerKind kind, ObjectKey key, String uid, long now) {
        NamespaceRole namespace = of(key.namespace());
        Map<ObjectKey, CountedOwner> counted = namespace.owners.get(kind);
        CountedOwner owner = counted == null ? null : counted.get(key);
        if (counted != null && owner != null && owner.facts.uid().equals(uid)) {
            counted.remove(key);
            change(namespace, now);
        }
    }

    /** A live read found that the definition of a kind is absent: it has no owners. */
    void definitionAbsent(OwnerKind kind, long now) {
        absent.add(kind);
        namespaces.values().forEach(namespace -> replace(namespace, kind, Map.of(), now));
    }

    private boolean put(NamespaceRole namespace, Map<ObjectKey, CountedOwner> counted, GrantOwner owner) {
        CountedOwner before = counted.get(owner.key());
        if (before != null && before.facts.equals(owner)) {
            return false;
        }
        CountedOwner now = before;
        if (now == null || !now.facts.uid().equals(owner.uid())) {
            now = new CountedOwner(owner);
            counted.put(owner.key(), now);
            // a terminating namespace gets no new objects: this is another one of its name
            namespace.refused = false;
            namespace.appeared = true;
        }
        now.facts = owner;
        now.ages.keySet().retainAll(owner.references());
        for (ObjectRef reference : owner.references()) {
            if (!now.ages.containsKey(reference)) {
                now.ages.put(reference, ++references);
            }
        }
        return true;
    }

    // inputs: Roles

    /**
     * The Role of a namespace was listed. If that is older than what was seen before, the Role is read again.
     *
     * @param role null if there is none
     * @param version of the list
     */
    void roleListed(String name, @Nullable RoleContent role, String version, long now) {
        NamespaceRole known = of(name);
        boolean older = ResourceVersions.isOlder(version, known.version)
                || (role != null && ResourceVersions.isOlder(role.resourceVersion(), known.version));
        if (known.known && older) {
            known.older = version;
            known.rereads = true;
            change(known, now);
            return;
        }
        if (role != null) {
            roleSeen(name, role, now);
            return;
        }
        NamespaceRole namespace = of(name);
        if (!namespace.known) {
            namespace.known = true;
            namespace.version = version;
            change(namespace, now);
        } else {
            roleGone(name, version, now);
        }
    }

    /** The Role of a namespace appeared or changed, or is reported again. */
    void roleSeen(String name, RoleContent role, long now) {
        NamespaceRole namespace = of(name);
        if (namespace.known && !ResourceVersions.isOlder(namespace.version, role.resourceVersion())) {
            return;
        }
        boolean news = learn(namespace, role);
        // a write of ours that was not answered may be seen when something else is wanted
        if (news || !namespace.writing || !role.grants(namespace.attempted, policy)) {
            change(namespace, now);
        }
    }

    /** The Role of a namespace was deleted. */
    void roleGone(String name, String version, long now) {
        NamespaceRole namespace = of(name);
        if (namespace.known && !ResourceVersions.isOlder(version, namespace.version)) {
            namespace.version = version;
            if (namespace.role != null) {
                namespace.role = null;
                namespace.restored = "deleted";
                change(namespace, now);
            }
        }
    }

    /** Returns whether it is new, and not our own write. */
    private boolean learn(NamespaceRole namespace, RoleContent role) {
        RoleContent before = namespace.role;
        boolean first = !namespace.known;
        if (first) {
            namespace.oldest = ImmutableSet.copyOf(role.names());
        }
        namespace.known = true;
        namespace.role = role;
        namespace.version = role.resourceVersion();
        remember(namespace, role);
        boolean ours = role.grants(namespace.attempted, policy)
                || namespace.unsure.stream().anyMatch(names -> role.grants(names, policy))
                || (before != null && before.exact() && role.grants(before.names(), policy));
        if (!first && !ours) {
            namespace.restored = "changed";
        }
        return first || !ours;
    }

    /** Remembers that a Role is this policy's, should somebody take its label away. */
    private void remember(NamespaceRole namespace, RoleContent role) {
        if (role.policy().equals(policy.name())) {
            namespace.labelled = role.uid();
        }
    }

    // inputs: answers

    /** The Role was created or patched. */
    List<RoleAction> written(String name, RoleContent role, long now) {
        NamespaceRole namespace = of(name);
        boolean created = namespace.creating;
        namespace.writing = false;
        namespace.creating = false;
        namespace.failures = 0;
        namespace.retryAt = 0;
        // whatever was under way before carries an older version, and is refused
        namespace.unsure.clear();
        remember(namespace, role);
        if (!ResourceVersions.isOlder(role.resourceVersion(), namespace.version)) {
            learn(namespace, role);
        }
        if (created) {
            // what it was created for was gathered already
            changeAt(namespace, now - GATHERED.toNanos());
        }
        String done = namespace.restored;
        boolean complete = !created || namespace.names == 0;
        if (done.isEmpty() || !complete) {
            return List.of();
        }
        namespace.restored = "";
        return List.of(new TellOfRole(
                name,
                role.uid(),
                false,
                "RoleRestored",
                "somebody " + done + " this Role; it is equal to the references of policy " + policy.name()
                        + " again: change the policy or the owners instead"));
    }

    /**
     * The Role was read again: after a conflict, or because a list was older than what had been seen.
     *
     * @return whether the storage of the API server was restored to an older state, so that nothing that was seen before
     *     counts any more
     */
    boolean reread(String name, @Nullable RoleContent role, long now) {
        NamespaceRole namespace = of(name);
        boolean restored;
        if (role == null) {
            restored = !namespace.older.isEmpty();
            namespace.version = restored ? namespace.older : namespace.version;
            namespace.restored = namespace.role == null ? namespace.restored : "deleted";
            namespace.known = true;
            namespace.role = null;
        } else {
            restored = ResourceVersions.isOlder(role.resourceVersion(), namespace.rereadFrom);
            if (restored || !ResourceVersions.isOlder(role.resourceVersion(), namespace.version)) {
                learn(namespace, role);
            }
        }
        namespace.rereading = false;
        namespace.rereads = false;
        namespace.older = "";
        changeAt(namespace, now - GATHERED.toNanos());
        return restored;
    }

    /**
     * A write, or what precedes it, has failed.
     *
     * @return whether this is to be said: the first failure in a row that does not pass by itself
     */
    boolean failed(String name, Throwable failure, long now) {
        NamespaceRole namespace = of(name);
        boolean creates = namespace.creating;
        FailureReason reason = ApiServerException.reasonOf(failure);
        if (namespace.writing && (reason == null || Retries.mayPass(reason)) && namespace.unsure.size() < MOST_UNSURE) {
            namespace.unsure.add(namespace.attempted);
        }
        namespace.writing = false;
        namespace.creating = false;
        namespace.rereading = false;
        change(namespace, now);
        if (reason == FailureReason.CONFLICT
                || reason == FailureReason.ALREADY_EXISTS
                || (reason == FailureReason.NOT_FOUND && !creates)) {
            // an endless contest with another writer must not be a storm
            namespace.rereads = true;
            namespace.retryAt = now + (namespace.failures++ == 0 ? 0 : pause(namespace, failure));
            return false;
        }
        boolean terminating = creates && isTerminating(failure, reason);
        if (terminating && !namespace.appeared) {
            namespace.refused = true;
            changed.remove(namespace);
            namespace.changedAt = NEVER;
            return false;
        }
        namespace.failures++;
        namespace.retryAt = now + pause(namespace, failure);
        return namespace.failures == 1 && !terminating && reason != null && !Retries.mayPass(reason);
    }

    private long pause(NamespaceRole namespace, Throwable failure) {
        return RETRIES.pause(namespace.failures, random.getAsDouble(), failure).toNanos();
    }

    /** A namespace that is gone has no place for a Role; one that is terminating refuses it. */
    private static boolean isTerminating(Throwable failure, @Nullable FailureReason reason) {
        return reason == FailureReason.NOT_FOUND
                || (reason == FailureReason.FORBIDDEN
                        && ApiServerException.describe(failure).contains("being terminated"));
    }

    /** A subject may read an object, or may not. */
    void reviewed(SubjectQuestion question, SubjectVerdict verdict, long now) {
        NamespaceRole namespace = namespaces.get(question.object().namespace());
        if (namespace != null
                && namespace.verdicts.containsKey(question)
                && namespace.verdicts.put(question, verdict) != verdict) {
            change(namespace, now);
        }
    }

    /** A question could not be asked: it is asked again. */
    void unasked(SubjectQuestion question, long now) {
        NamespaceRole namespace = namespaces.get(question.object().namespace());
        if (namespace != null && namespace.verdicts.remove(question) != null) {
            change(namespace, now);
        }
    }

    private NamespaceRole of(String name) {
        return namespaces.computeIfAbsent(name, NamespaceRole::new);
    }

    private void change(NamespaceRole namespace, long now) {
        changeAt(namespace, now);
    }

    private void changeAt(NamespaceRole namespace, long since) {
        namespace.changedAt = Math.min(namespace.changedAt, since);
        // what is neither selected nor followed has nothing to be decided, and one watch may report owners in thousands
        if (namespace.selected || namespace.known) {
            changed.add(namespace);
        }
    }

    // outputs

    /** Returns whether it is known which owners a namespace has that count: none, if it is not selected. */
    private boolean isComplete(NamespaceRole namespace) {
        return !namespace.selected
                || policy.owners().stream()
                        .allMatch(kind -> listedEverywhere.contains(kind)
                                || namespace.listed.contains(kind)
                                || absent.contains(kind));
    }

    /** Returns whether a namespace is selected. */
    boolean isSelected(String name) {
        NamespaceRole namespace = namespaces.get(name);
        return namespace != null && namespace.selected;
    }

    /** Returns when {@link #actions} has something to do, if nothing happens before; {@link Long#MAX_VALUE} for never. */
    long nextAt() {
        long next = NEVER;
        for (NamespaceRole namespace : changed) {
            if (!namespace.isBlocked()) {
                next = Math.min(next, dueAt(namespace));
            }
        }
        return next;
    }

    private static long dueAt(NamespaceRole namespace) {
        long gathered = namespace.changedAt == NEVER ? NEVER : namespace.changedAt + GATHERED.toNanos();
        long due = Math.max(gathered, namespace.retryAt);
        boolean large = !namespace.rereads
                && Math.max(
                                namespace.names,
                                namespace.role == null
                                        ? 0
                                        : namespace.role.names().size())
                        > LARGE;
        return large ? Math.max(due, namespace.writtenAt + BETWEEN_LARGE.toNanos()) : due;
    }

    /**
     * Returns what is to be done now.
     *
     * @param mayWrite whether the lease lasts for a write; nothing is written otherwise
     */
    List<RoleAction> actions(long now, boolean mayWrite) {
        List<RoleAction> actions = new ArrayList<>();
        for (NamespaceRole namespace : List.copyOf(changed)) {
            if (namespace.isBlocked() || dueAt(namespace) > now) {
                continue;
            }
            if (namespace.rereads) {
                namespace.rereading = true;
                namespace.rereadFrom = namespace.version;
                actions.add(new RereadRole(namespace.name));
            } else {
                decide(namespace, now, mayWrite, actions);
            }
        }
        return actions;
    }

    private void decide(NamespaceRole namespace, long now, boolean mayWrite, List<RoleAction> actions) {
        RoleContent role = namespace.role;
        if (role != null && isForeign(namespace, role)) {
            if (!namespace.foreignTold.equals(role.uid() + role.policy())) {
                namespace.foreignTold = role.uid() + role.policy();
                actions.add(foreign(namespace, role));
            }
            settle(namespace);
            return;
        }
        namespace.foreignTold = "";
        ImmutableSortedSet<ObjectRef> desired = desired(namespace, actions);
        namespace.names = desired.size();
        boolean wanted = role != null || !desired.isEmpty() || (namespace.selected && hasOwners(namespace));
        boolean known = role == null ? !wanted : role.grants(desired, policy);
        boolean waits = role != null && !role.exact() && !isComplete(namespace);
        if (known || waits) {
            namespace.restored = waits ? namespace.restored : "";
            settle(namespace);
        } else if (mayWrite && dueAt(namespace) <= now) {
            settle(namespace);
            namespace.writing = true;
            namespace.creating = role == null;
            namespace.appeared &= role != null;
            namespace.attempted = role == null ? ImmutableSortedSet.of() : desired;
            if (role == null) {
                actions.add(new CreateRole(namespace.name));
            } else {
                namespace.writtenAt = now;
                actions.add(new PatchRole(namespace.name, role, desired));
            }
        }
    }

    private boolean isForeign(NamespaceRole namespace, RoleContent role) {
        return role.policy().isEmpty()
                ? !role.uid().equals(namespace.labelled)
                : !role.policy().equals(policy.name());
    }

    private TellOfRole foreign(NamespaceRole namespace, RoleContent role) {
        String label = RolePolicy.LABEL + "=" + policy.name();
        return role.policy().isEmpty()
                ? new TellOfRole(
                        namespace.name,
                        role.uid(),
                        true,
                        "RoleOfSomebodyElse",
                        "policy " + policy.name() + " has a Role of this name, but this one has no label "
                                + RolePolicy.LABEL
                                + ": it is left as it is, and nothing is granted here; give the policy"
                                + " another Role, delete this one, or label it " + label
                                + " to have its rules replaced")
                : new TellOfRole(
                        namespace.name,
                        role.uid(),
                        true,
                        "RoleOfAnotherPolicy",
                        "policy " + policy.name() + " has this Role too, but its label says policy " + role.policy()
                                + ": it is left as it is; give one of them another Role, or label it " + label);
    }

    private void settle(NamespaceRole namespace) {
        namespace.changedAt = NEVER;
        changed.remove(namespace);
    }

    private static boolean hasOwners(NamespaceRole namespace) {
        return namespace.owners.values().stream().anyMatch(counted -> !counted.isEmpty());
    }

    /** Returns what the Roles would contain, by namespace; without those that would be empty. For a dry run. */
    Map<String, ImmutableSortedSet<ObjectRef>> preview(List<RoleAction> actions) {
        Map<String, ImmutableSortedSet<ObjectRef>> roles = new TreeMap<>();
        for (NamespaceRole namespace : namespaces.values()) {
            ImmutableSortedSet<ObjectRef> desired = names(namespace, actions);
            if (!desired.isEmpty()) {
                roles.put(namespace.name, desired);
            }
        }
        return roles;
    }

    /**
     * Returns the selected namespaces of which it is not known what their Roles would contain: their owners are not all
     * listed, or a review that {@link #preview} needed is not answered.
     */
    Set<String> incomplete() {
        Set<String> names = new TreeSet<>();
        for (NamespaceRole namespace : namespaces.values()) {
            if (namespace.selected
                    && (!isComplete(namespace) || namespace.verdicts.containsValue(SubjectVerdict.PENDING))) {
                names.add(namespace.name);
            }
        }
        return names;
    }

    private ImmutableSortedSet<ObjectRef> desired(NamespaceRole namespace, List<RoleAction> actions) {
        ImmutableSortedSet<ObjectRef> names = names(namespace, actions);
        RoleContent role = namespace.role;
        if (role == null || isComplete(namespace) || names.containsAll(role.names())) {
            return names;
        }
        return ImmutableSortedSet.<ObjectRef>naturalOrder()
                .addAll(names)
                .addAll(role.names())
                .build();
    }

    /** Returns what the owners of a namespace may have, and adds the events that this is worth. */
    private ImmutableSortedSet<ObjectRef> names(NamespaceRole namespace, List<RoleAction> actions) {
        Map<ObjectRef, Long> ages = new HashMap<>();
        Map<CountedOwner, Notices> notices = new LinkedHashMap<>();
        Set<SubjectQuestion> asked = new HashSet<>();
        if (namespace.selected) {
            namespace
                    .owners
                    .values()
                    .forEach(counted -> counted.values().forEach(owner -> {
                        Notices told = new Notices(owner.facts);
                        notices.put(owner, told);
                        for (ObjectRef reference : oldest(namespace, owner)) {
                            if (isAllowed(namespace, owner.facts, reference, asked, told, actions)) {
                                ages.merge(reference, age(namespace, owner, reference), Math::min);
                                told.granted.add(reference);
                            }
                        }
                    }));
        }
        ImmutableSortedSet<ObjectRef> fitting = fitting(ages);
        notices.forEach((owner, told) -> owner.told = told.actions(owner.told, fitting, actions));
        namespace.verdicts.keySet().removeIf(question -> {
            boolean unneeded = !asked.contains(question);
            if (unneeded) {
                actions.add(new ForgetAccess(question));
            }
            return unneeded;
        });
        return fitting;
    }

    private boolean isAllowed(
            NamespaceRole namespace,
            GrantOwner owner,
            ObjectRef reference,
            Set<SubjectQuestion> asked,
            Notices told,
            List<RoleAction> actions) {
        String account = owner.account();
        if (account == null) {
            return true;
        }
        if (account.isEmpty()) {
            return false;
        }
        SubjectQuestion question = new SubjectQuestion(account, reference);
        asked.add(question);
        SubjectVerdict verdict = namespace.verdicts.get(question);
        if (verdict == null) {
            verdict = SubjectVerdict.PENDING;
            namespace.verdicts.put(question, verdict);
            actions.add(new AskAccess(question));
        }
        if (!verdict.text.isEmpty()) {
            told.denied.computeIfAbsent(verdict, each -> new TreeSet<>()).add(reference);
        }
        // at the begin of a term nobody has answered yet, and what is granted must not flicker
        return verdict == SubjectVerdict.ALLOWED
                || (verdict == SubjectVerdict.PENDING
                        && namespace.oldest.contains(reference)
                        && namespace.role != null
                        && namespace.role.names().contains(reference));
    }

    private static List<ObjectRef> oldest(NamespaceRole namespace, CountedOwner owner) {
        List<ObjectRef> references = new ArrayList<>(owner.ages.keySet());
        if (references.size() <= NAMES_OF_OWNER) {
            return references;
        }
        references.sort(Comparator.comparingLong(reference -> age(namespace, owner, reference)));
        return references.subList(0, NAMES_OF_OWNER);
    }

    private static long age(NamespaceRole namespace, CountedOwner owner, ObjectRef reference) {
        return namespace.oldest.contains(reference) ? 0 : owner.ages.getOrDefault(reference, 0L);
    }

    private static ImmutableSortedSet<ObjectRef> fitting(Map<ObjectRef, Long> ages) {
        long bytes = ROLE_FRAME_BYTES;
        for (ObjectRef reference : ages.keySet()) {
            bytes += bytes(reference);
        }
        if (bytes <= ROLE_BYTES) {
            return ImmutableSortedSet.copyOf(ages.keySet());
        }
        List<ObjectRef> byAge = new ArrayList<>(ages.keySet());
        byAge.sort(Comparator.<ObjectRef>comparingLong(reference -> ages.getOrDefault(reference, 0L))
                .thenComparing(Comparator.naturalOrder()));
        ImmutableSortedSet.Builder<ObjectRef> fitting = ImmutableSortedSet.naturalOrder();
        long left = ROLE_BYTES - ROLE_FRAME_BYTES;
        for (ObjectRef reference : byAge) {
            left -= bytes(reference);
            if (left < 0) {
                break;
            }
            fitting.add(reference);
        }
        return fitting.build();
    }

    /** A name in JSON: quotation marks and a comma. */
    private static int bytes(ObjectRef reference) {
        return reference.name().length() + 3;
    }

    /** Why names of an owner are not granted. */
    private static final class Notices {

        private static final int SHOWN = 3;

        final GrantOwner owner;
        final Map<SubjectVerdict, Set<ObjectRef>> denied = new EnumMap<>(SubjectVerdict.class);
        final List<ObjectRef> granted = new ArrayList<>();

        Notices(GrantOwner owner) {
            this.owner = owner;
        }

        /** Adds an event for each reason that was not told, and returns all reasons. */
        Set<String> actions(Set<String> told, Set<ObjectRef> fitting, List<RoleAction> actions) {
            Map<String, String> reasons = new LinkedHashMap<>();
            int references = owner.references().size();
            if (references > NAMES_OF_OWNER) {
                reasons.put(
                        "many",
                        "refers to " + references + " objects; only the oldest " + NAMES_OF_OWNER
                                + " references are granted: name fewer objects");
            }
            long full = granted.stream()
                    .filter(reference -> !fitting.contains(reference))
                    .count();
            if (full > 0) {
                reasons.put(
                        "full",
                        full + " of its references are not granted, because the Role of this namespace has 1 MiB"
                                + " of older ones: use fewer names in this namespace");
            }
            if (owner.illegal() > 0) {
                reasons.put("illegal", owner.illegal() + " of its references are no names of objects: correct them");
            }
            String account = owner.account();
            if (account != null && account.isEmpty() && references > 0) {
                reasons.put(
                        "nobody",
                        "names no legal ServiceAccount on whose behalf it refers to objects; nothing is granted:"
                                + " name one");
            }
            denied.forEach((verdict, objects) -> {
                String some = String.join(
                        ", ",
                        objects.stream().limit(SHOWN).map(ObjectRef::toString).toList());
                reasons.put(
                        "denied " + account + verdict + objects.hashCode(),
                        "ServiceAccount " + account + " " + verdict.text + " " + some
                                + (objects.size() > SHOWN ? " and " + (objects.size() - SHOWN) + " others" : "")
                                + "; not granted until it may");
            });
            reasons.forEach((reason, message) -> {
                if (!told.contains(reason)) {
                    actions.add(new TellOwner(
                            owner, reason.startsWith("denied") ? "GrantDenied" : "GrantRefused", message));
                }
            });
            return reasons.isEmpty() ? Set.of() : Set.copyOf(reasons.keySet());
        }
    }
}
