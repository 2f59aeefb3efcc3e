package dev.podcache.cli.doctor;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSetMultimap;
import com.google.common.collect.SetMultimap;
import com.google.common.hash.Hashing;
import dev.podcache.cli.access.RoleManifests;
import dev.podcache.cli.access.RoleSubject;
import dev.podcache.cli.access.StrategyAccess;
import dev.podcache.cli.config.ObjectId;
import dev.podcache.kubelet.agent.ObjectCaching;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.Quoted;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;

/**
 * Judges which verbs on which objects are allowed, and makes the Role that is missing. Pure.
 *
 * @param access the verbs that are needed on each object
 * @param objects the objects to cache
 * @param allowed the verbs that are allowed, {@link StrategyAccess#replacementOf replacements} included
 * @param user the user name; empty if unknown
 * @param agent whether a node agent caches them, which polls some objects with every strategy
 * @param refusedTokens the ServiceAccounts whose tokens an agent needs, and may not request
 */
record AccessDiagnoses(
        StrategyAccess access,
        Set<ObjectId> objects,
        SetMultimap<ObjectId, String> allowed,
        String user,
        boolean agent,
        Set<ObjectKey> refusedTokens) {

    /** Of a cache that is not a node agent's. */
    AccessDiagnoses(StrategyAccess access, Set<ObjectId> objects, SetMultimap<ObjectId, String> allowed, String user) {
        this(access, objects, allowed, user, false, Set.of());
    }

    /** Returns the access that one object needs. */
    static StrategyAccess needed(StrategyAccess access, ObjectId object, boolean agent) {
        return agent && ObjectCaching.isPolled(object.key()) ? StrategyAccess.GET : access;
    }

    private StrategyAccess needed(ObjectId object) {
        return needed(access, object, agent);
    }

    private static final String NODE_PREFIX = "system:node:";
    private static final int HASH_LENGTH = 8;
    private static final String STREAMED =
            ", unless the server streams lists (Kubernetes 1.32, and from 1.34 on): then watch alone is enough as long as it"
                    + " does not refuse and is not behind";

    /** Returns a diagnosis for each verb that is refused on an object, or one that all are allowed. */
    ImmutableList<Diagnosis> diagnoses() {
        ImmutableList.Builder<Diagnosis> all = ImmutableList.builder();
        refusedTokens.forEach(account -> all.add(tokensRefused(account)));
        for (ObjectId object : objects) {
            needed(object).verbs().stream()
                    .filter(verb -> !allowed.containsEntry(object, verb))
                    .forEach(
                            verb -> all.add(isReplaced(object, verb) ? replaced(object, verb) : refused(object, verb)));
        }
        ImmutableList<Diagnosis> found = all.build();
        return found.isEmpty()
                ? ImmutableList.of(Diagnosis.ok(
                        "access",
                        who() + " may " + verbs(access) + " "
                                + (objects.size() == 1
                                        ? objects.iterator().next()
                                        : "each of the " + objects.size() + " objects")))
                : found;
    }

    /** Returns the verbs that no other allowed verb replaces. */
    ImmutableSetMultimap<ObjectId, String> missing() {
        ImmutableSetMultimap.Builder<ObjectId, String> missing = ImmutableSetMultimap.builder();
        for (ObjectId object : objects) {
            needed(object).verbs().stream()
                    .filter(verb -> !allowed.containsEntry(object, verb) && !isReplaced(object, verb))
                    .forEach(verb -> missing.put(object, verb));
        }
        return missing.build();
    }

    /**
     * Returns the smallest Roles that are missing, and their bindings; none if the user is unknown, or a node, whose access
     * no Role should give.
     */
    ImmutableList<Map<String, Object>> roles() {
        ImmutableSetMultimap<ObjectId, String> missing = missing();
        if ((missing.isEmpty() && refusedTokens.isEmpty()) || user.isEmpty() || isNode()) {
            return ImmutableList.of();
        }
        // a name of its own for each content: a Role of the same name would be replaced, with what it allows
        String hash = Hashing.sha256()
                .hashString(user + missing + (refusedTokens.isEmpty() ? "" : refusedTokens), StandardCharsets.UTF_8)
                .toString()
                .substring(0, HASH_LENGTH);
        return new RoleManifests("podcache-" + hash, RoleSubject.user(user)).forVerbs(missing, refusedTokens);
    }

    private boolean isReplaced(ObjectId object, String verb) {
        return needed(object)
                .replacementOf(verb)
                .filter(other -> allowed.containsEntry(object, other))
                .isPresent();
    }

    private Diagnosis refused(ObjectId object, String verb) {
        return Diagnosis.problem(
                "access",
                who() + " may not " + verb + " " + object,
                "strategy " + access + " needs the verbs " + verbs(needed(object))
                        + " on that name; without them, getObject fails"
                        + (isOnlyWatched(object) ? STREAMED : ""),
                remedy(verb));
    }

    private boolean isOnlyWatched(ObjectId object) {
        return allowed.get(object).equals(Set.of("watch"));
    }

    private String remedy(String verb) {
        if (isNode()) {
            return "bind a pod to this node that refers to the object: the Node authorizer then allows it, without a Role";
        }
        return user.isEmpty()
                ? "grant " + verb + " on that name to the user of these credentials"
                : "apply the Role below";
    }

    private Diagnosis replaced(ObjectId object, String verb) {
        return Diagnosis.note(
                "access",
                who() + " may not " + verb + " " + object + ", but may "
                        + access.replacementOf(verb).orElse("") + " it",
                "it works: Podcache gets the object and watches from its version; after a lost watch that costs a request"
                        + " more",
                "grant " + verb + " on that name");
    }

    private Diagnosis tokensRefused(ObjectKey account) {
        return Diagnosis.problem(
                "access",
                who() + " may not create serviceaccounts/token for " + account,
                "the agent requests the tokens of its pods; without them, the pods of that ServiceAccount do not start",
                isNode()
                        ? "bind a pod to this node that uses the ServiceAccount: the Node authorizer then allows it, without a Role"
                        : user.isEmpty()
                                ? "grant create on serviceaccounts/token with that name to the user of these credentials"
                                : "apply the Role below");
    }

    private static String verbs(StrategyAccess needed) {
        return String.join(" and ", needed.verbs());
    }

    private boolean isNode() {
        return user.startsWith(NODE_PREFIX);
    }

    private String who() {
        return user.isEmpty() ? "the user of these credentials" : Quoted.text(user);
    }
}
