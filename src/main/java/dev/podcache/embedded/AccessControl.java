package dev.podcache.embedded;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableListMultimap;
import dev.podcache.object.ObjectKey;
import io.vertx.core.http.HttpServerRequest;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Who sends a request, and whether it is allowed. Without an authorizer, everybody may do everything. Thread-safe; the
 * state is in the authorizer.
 */
final class AccessControl {

    // After apiserver/pkg/endpoints/filters/{authorization,impersonation}.go and
    // pkg/registry/rbac/*/policybased/storage.go of kubernetes/kubernetes.

    /** Begins the path of a URL that says who sends the request; the token and a slash follow. */
    static final String AS = "/as/";

    private static final String BEARER = "bearer ";
    private static final String USER = "Impersonate-User";
    private static final String GROUP = "Impersonate-Group";
    private static final String UID = "Impersonate-Uid";
    private static final String EXTRA = "impersonate-extra-";

    private final @Nullable RbacAuthorizer authorizer;
    private final Supplier<Instant> now;

    AccessControl(@Nullable RbacAuthorizer authorizer, Supplier<Instant> now) {
        this.authorizer = authorizer;
        this.now = now;
    }

    /**
     * Returns what a request asks for.
     *
     * @throws StatusException 401 if its token is not valid, 403 if its sender may not do that
     */
    AuthorizerQuestion require(HttpServerRequest http) {
        if (authorizer == null) {
            return question(Caller.ANONYMOUS, http);
        }
        AuthorizerQuestion question = question(impersonated(authenticated(http), http), http);
        require(question);
        return question;
    }

    /** Returns whom a token names; empty if it names nobody, or its time is over. */
    Optional<Caller> ownerOf(String token) {
        try {
            return Optional.of(Caller.ofToken(token, now.get()));
        } catch (StatusException invalid) {
            return Optional.empty();
        }
    }

    /** Returns the answer of the authorizer. */
    RbacAuthorizer.AuthorizerAnswer decide(AuthorizerQuestion question) {
        return authorizer == null ? new RbacAuthorizer.AuthorizerAnswer(true, "") : authorizer.decide(question);
    }

    /** Returns what somebody may do in a namespace. */
    RbacAuthorizer.HeldRules rulesOf(Caller caller, String namespace) {
        return authorizer == null
                ? new RbacAuthorizer.HeldRules(PolicyRule.everything(), ImmutableList.of())
                : authorizer.rulesOf(caller, namespace);
    }

    /** Returns the check that nobody grants more than he has, for the write that {@code question} asks for. */
    WriteCheck checkOf(AuthorizerQuestion question) {
        RbacAuthorizer rbac = authorizer;
        if (rbac == null) {
            return WriteCheck.NONE;
        }
        return (resource, key, before, after) -> {
            if (before == null && !question.verb().equals("create")) {
                require(question.withVerb("create"));
            }
            if (resource.isAccess() && !onlyReleases(before, after)) {
                requireNoEscalation(rbac, question, resource, key, after);
            }
        };
    }

    private void require(AuthorizerQuestion question) {
        RbacAuthorizer.AuthorizerAnswer answer = decide(question);
        if (!answer.allowed()) {
            throw question.refused(answer.reason());
        }
    }

    /**
     * Returns the path of a request without the part that says who sends it, {@code /as/TOKEN}. Clients send no token over
     * plain HTTP if they read it in a kubeconfig, but they keep the path of the server's URL.
     */
    static String pathOf(HttpServerRequest http) {
        String path = http.path();
        if (!path.startsWith(AS)) {
            return path;
        }
        int end = path.indexOf('/', AS.length());
        return end < 0 ? "/" : path.substring(end);
    }

    private static AuthorizerQuestion question(Caller caller, HttpServerRequest http) {
        String watch = http.getParam("watch", "");
        return AuthorizerQuestion.of(
                caller,
                new AuthorizerQuestion.HttpTarget(
                        http.method().name(),
                        URLDecoder.decode(pathOf(http), StandardCharsets.UTF_8),
                        watch.equals("1") || watch.equals("true"),
                        http.getParam("fieldSelector", "")));
    }

    private Caller authenticated(HttpServerRequest http) {
        String header = http.getHeader("Authorization");
        if (header == null || !header.toLowerCase(Locale.ROOT).startsWith(BEARER)) {
            String path = http.path();
            int end = path.indexOf('/', AS.length());
            return path.startsWith(AS) && end > 0
                    ? Caller.ofToken(path.substring(AS.length(), end), now.get())
                    : Caller.ANONYMOUS;
        }
        return Caller.ofToken(header.substring(BEARER.length()).strip(), now.get());
    }

    private Caller impersonated(Caller caller, HttpServerRequest http) {
        String user = http.headers().contains(USER) ? http.getHeader(USER) : "";
        List<String> groups = http.headers().getAll(GROUP);
        String uid = http.headers().contains(UID) ? http.getHeader(UID) : "";
        ImmutableListMultimap<String, String> extra = extra(http);
        if (user.isEmpty()) {
            if (!groups.isEmpty() || !uid.isEmpty() || !extra.isEmpty()) {
                throw StatusException.of(
                        500,
                        "InternalError",
                        "Internal error occurred: the request impersonates groups, a UID or"
                                + " extras without impersonating a user");
            }
            return caller;
        }
        String namespace = Caller.namespaceOfAccount(user);
        if (namespace.isEmpty()) {
            requireImpersonation(caller, "", "users", "", "", user);
        } else {
            requireImpersonation(
                    caller, "", "serviceaccounts", "", namespace, user.substring(user.lastIndexOf(':') + 1));
        }
        groups.forEach(group -> requireImpersonation(caller, "", "groups", "", "", group));
        extra.forEach(
                (key, value) -> requireImpersonation(caller, Resource.AUTHENTICATION, "userextras", key, "", value));
        if (!uid.isEmpty()) {
            requireImpersonation(caller, Resource.AUTHENTICATION, "uids", "", "", uid);
        }
        return new Caller(user, uid, groupsOf(user, groups), extra);
    }

    private static ImmutableList<String> groupsOf(String user, List<String> given) {
        ImmutableList.Builder<String> groups = ImmutableList.builder();
        groups.addAll(given.isEmpty() ? Caller.groupsOfAccount(user) : given);
        String everybody = user.equals(Caller.ANONYMOUS.name()) ? Caller.UNAUTHENTICATED : Caller.AUTHENTICATED;
        if (!given.contains(everybody)) {
            groups.add(everybody);
        }
        return groups.build();
    }

    private static ImmutableListMultimap<String, String> extra(HttpServerRequest http) {
        ImmutableListMultimap.Builder<String, String> extra = ImmutableListMultimap.builder();
        for (Map.Entry<String, String> header : http.headers()) {
            String name = header.getKey().toLowerCase(Locale.ROOT);
            if (name.startsWith(EXTRA)) {
                extra.put(unescaped(name.substring(EXTRA.length())), header.getValue());
            }
        }
        return extra.build();
    }

    private static String unescaped(String key) {
        try {
            return URLDecoder.decode(key.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException malformed) {
            // a kube-apiserver takes such a key as it is
            return key;
        }
    }

    private void requireImpersonation(
            Caller caller, String group, String resource, String subresource, String namespace, String name) {
        require(new AuthorizerQuestion(caller, "impersonate", group, resource, subresource, namespace, name, ""));
    }

    /** Returns whether a write changes nothing but what garbage collection needs to delete the object. */
    private static boolean onlyReleases(@Nullable ObjectNode before, ObjectNode after) {
        if (before == null) {
            return false;
        }
        return withoutCollected(before).equals(withoutCollected(after));
    }

    private static ObjectNode withoutCollected(ObjectNode object) {
        ObjectNode copy = object.deepCopy();
        Json.object(copy, "metadata").remove(ImmutableList.of("ownerReferences", "finalizers", "managedFields"));
        return copy;
    }

    private void requireNoEscalation(
            RbacAuthorizer rbac, AuthorizerQuestion question, Resource resource, ObjectKey key, ObjectNode after) {
        if (question.caller().isMaster()) {
            return;
        }
        boolean role = resource.equals(Resource.ROLES) || resource.equals(Resource.CLUSTER_ROLES);
        ImmutableList<PolicyRule> granted;
        if (role) {
            // a create request names no object in its URL: a right to escalate one role does not cover it
            if (decide(question.withVerb("escalate")).allowed()) {
                return;
            }
            granted = PolicyRule.rulesOf(after);
        } else {
            String kind = after.path("roleRef").path("kind").asText();
            String name = after.path("roleRef").path("name").asText();
            if (decide(bindQuestion(question, key.namespace(), kind, name)).allowed()) {
                return;
            }
            granted = rbac.rulesOfRole(kind, key.namespace(), name);
        }
        RbacAuthorizer.HeldRules held = rbac.rulesOf(question.caller(), key.namespace());
        requireHeld(question.caller(), held, resource, key, granted);
        if (after.has("aggregationRule")
                && !PolicyRule.missing(held.rules(), PolicyRule.everything()).isEmpty()) {
            throw forbidden(resource, key, "must have cluster-admin privileges to use the aggregationRule");
        }
    }

    private static AuthorizerQuestion bindQuestion(
            AuthorizerQuestion question, String namespace, String kind, String name) {
        String plural = kind.equals("Role") ? Resource.ROLES.plural() : Resource.CLUSTER_ROLES.plural();
        return new AuthorizerQuestion(question.caller(), "bind", Resource.RBAC, plural, "", namespace, name, "");
    }

    private static void requireHeld(
            Caller caller,
            RbacAuthorizer.HeldRules held,
            Resource resource,
            ObjectKey key,
            ImmutableList<PolicyRule> granted) {
        ImmutableList<String> missing = PolicyRule.missing(held.rules(), granted);
        if (!missing.isEmpty()) {
            String errors =
                    held.errors().isEmpty() ? "" : "; resolution errors: " + RbacAuthorizer.joined(held.errors());
            throw forbidden(
                    resource,
                    key,
                    "user \"" + caller.name() + "\" (groups=" + PolicyRule.quoted(caller.groups())
                            + ") is attempting to grant RBAC permissions not currently held:\n"
                            + String.join("\n", missing) + errors);
        }
    }

    private static StatusException forbidden(Resource resource, ObjectKey key, String why) {
        return StatusException.forbidden(resource.group(), resource.plural(), key.name(), why);
    }
}
