package dev.podcache.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableListMultimap;
import com.google.common.collect.ImmutableSet;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Objects;

/**
 * Who sends a request: a user with groups. The name of a ServiceAccount brings its groups.
 *
 * @param extra further facts about the user, which RBAC does not use
 */
record Caller(String name, String uid, ImmutableList<String> groups, ImmutableListMultimap<String, String> extra) {

    static final String MASTERS = "system:masters";
    static final String AUTHENTICATED = "system:authenticated";
    static final String UNAUTHENTICATED = "system:unauthenticated";

    /** Who sends a request without a token. */
    static final Caller ANONYMOUS =
            new Caller("system:anonymous", "", ImmutableList.of(UNAUTHENTICATED), ImmutableListMultimap.of());

    private static final String ACCOUNT = "system:serviceaccount:";
    private static final Splitter DOTS = Splitter.on('.');
    private static final Splitter COLONS = Splitter.on(':');

    Caller {
        Objects.requireNonNull(name, "name");
    }

    /** Returns a user who has proved to be that user: with the group {@code system:authenticated}. */
    static Caller authenticated(String name, String uid, List<String> groups) {
        ImmutableSet<String> all = ImmutableSet.<String>builder()
                .addAll(groups)
                .addAll(groupsOfAccount(name))
                .add(AUTHENTICATED)
                .build();
        return new Caller(name, uid, all.asList(), ImmutableListMultimap.of());
    }

    /** Returns the groups that a ServiceAccount is in by its name; none for another user. */
    static ImmutableList<String> groupsOfAccount(String name) {
        String namespace = namespaceOfAccount(name);
        return namespace.isEmpty()
                ? ImmutableList.of()
                : ImmutableList.of("system:serviceaccounts", "system:serviceaccounts:" + namespace);
    }

    /** Returns the namespace of a ServiceAccount by the name of its user; empty for another user. */
    static String namespaceOfAccount(String name) {
        List<String> parts = COLONS.splitToList(name);
        boolean account = name.startsWith(ACCOUNT) && parts.size() == 4;
        return account && !parts.get(3).isEmpty() ? parts.get(2) : "";
    }

    static String accountName(String namespace, String account) {
        return ACCOUNT + namespace + ":" + account;
    }

    boolean isMaster() {
        return groups.contains(MASTERS);
    }

    /** Returns a token that {@link #ofToken} accepts. It has the parts of a JSON Web Token, but no signature. */
    static String token(String user, List<String> groups) {
        ObjectNode claims = Json.MAPPER.createObjectNode().put("sub", user);
        groups.forEach(claims.putArray("groups")::add);
        return token(claims);
    }

    /** Returns a token with these claims, of which {@code sub} is the user. */
    static String token(ObjectNode claims) {
        return encoded("{\"alg\":\"none\"}") + "." + encoded(claims.toString()) + ".";
    }

    /**
     * Returns whom a token names.
     *
     * @throws StatusException 401 if it names nobody, or its time is over
     */
    static Caller ofToken(String token, Instant now) {
        JsonNode claims = claims(token);
        String user = claims.path("sub").asText();
        long end = claims.path("exp").asLong(Long.MAX_VALUE);
        if (user.isEmpty() || end <= now.getEpochSecond()) {
            throw StatusException.unauthorized();
        }
        ImmutableList.Builder<String> groups = ImmutableList.builder();
        claims.path("groups").forEach(group -> groups.add(group.asText()));
        return authenticated(user, claims.path("uid").asText(), groups.build());
    }

    /** Returns what a token says; a missing node if it has not the form of one. */
    static JsonNode claims(String token) {
        List<String> parts = DOTS.splitToList(token);
        try {
            return parts.size() < 2
                    ? Json.MAPPER.missingNode()
                    : Json.MAPPER.readTree(Base64.getUrlDecoder().decode(parts.get(1)));
        } catch (IllegalArgumentException | IOException e) {
            return Json.MAPPER.missingNode();
        }
    }

    private static String encoded(String json) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(json.getBytes(StandardCharsets.UTF_8));
    }
}
