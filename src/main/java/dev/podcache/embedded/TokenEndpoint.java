package dev.podcache.embedded;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.Streams;
import dev.podcache.object.ObjectKey;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Answers the subresource {@code token} of ServiceAccounts. The tokens are unsigned, and this server accepts every one of
 * them. A pod that a token is bound to must exist. The ServiceAccount itself need not: every name counts as existing.
 */
final class TokenEndpoint {

    private static final Pattern PATH =
            Pattern.compile("/api/v1/namespaces/([-a-z0-9]+)/serviceaccounts/([-.a-z0-9]+)/token");
    private static final long DEFAULT_SECONDS = 3600;
    private static final long MIN_SECONDS = 600;
    private static final long MAX_SECONDS = 1L << 32;
    private static final String DEFAULT_AUDIENCE = "https://kubernetes.default.svc";

    private final InMemoryCluster cluster;

    TokenEndpoint(InMemoryCluster cluster) {
        this.cluster = cluster;
    }

    /** Returns whether a path names this subresource. */
    static boolean isAt(String path) {
        return PATH.matcher(path).matches();
    }

    /**
     * Answers a request whose path {@link #isAt} accepts.
     *
     * @throws StatusException if the request is refused
     */
    HttpAnswer answer(String method, String urlPath, Buffer body) {
        Matcher path = PATH.matcher(urlPath);
        if (!path.matches() || !method.equals("POST")) {
            throw StatusException.of(
                    405, "MethodNotAllowed", "the server does not allow this method on the requested resource");
        }
        ObjectNode request = parsed(body);
        ObjectNode spec = Json.object(request, "spec");
        long seconds = spec.path("expirationSeconds").asLong(DEFAULT_SECONDS);
        if (seconds < MIN_SECONDS || seconds > MAX_SECONDS) {
            FieldError error = FieldError.invalid(
                    "spec.expirationSeconds",
                    Long.toString(seconds),
                    seconds < MIN_SECONDS
                            ? "may not specify a duration less than 10 minutes"
                            : "may not specify a duration larger than 2^32 seconds");
            throw StatusException.of(
                    422, "Invalid", "TokenRequest.authentication.k8s.io \"\" is invalid: " + error.message());
        }
        requireBoundPod(path.group(1), spec.path("boundObjectRef"));
        if (spec.path("audiences").isEmpty()) {
            spec.putArray("audiences").add(DEFAULT_AUDIENCE);
        }
        spec.put("expirationSeconds", seconds);
        Instant end = cluster.now().plusSeconds(seconds).truncatedTo(ChronoUnit.SECONDS);
        Json.object(request, "status")
                .put("token", token(path.group(1), path.group(2), spec, end))
                .put("expirationTimestamp", end.toString());
        return HttpAnswer.json(201, request.put("kind", "TokenRequest").put("apiVersion", "authentication.k8s.io/v1"));
    }

    /**
     * Returns for which of the audiences a token is, or whether it is for this server if there are none. One that names no audience
     * is for all.
     */
    static ImmutableList<String> audiences(String token, List<String> wanted) {
        List<String> asked = wanted.isEmpty() ? List.of(DEFAULT_AUDIENCE) : wanted;
        JsonNode named = Caller.claims(token).path("aud");
        return asked.stream()
                .filter(audience -> named.isMissingNode()
                        || Streams.stream(named).anyMatch(each -> each.asText().equals(audience)))
                .collect(ImmutableList.toImmutableList());
    }

    private void requireBoundPod(String namespace, JsonNode reference) {
        if (!reference.path("kind").asText().equals("Pod")) {
            return;
        }
        String name = reference.path("name").asText();
        ObjectNode pod = cluster.get(Resource.PODS, ObjectKey.of(namespace, name), "");
        String uid = pod.path("metadata").path("uid").asText();
        if (!reference.path("uid").asText(uid).equals(uid)) {
            throw StatusException.conflict(
                    Resource.PODS,
                    name,
                    "the UID in the bound object reference ("
                            + reference.path("uid").asText()
                            + ") does not match the UID in record. The object might have been deleted and then"
                            + " recreated");
        }
    }

    /** Has the parts of a JSON Web Token, so that clients can read its claims, but no signature. */
    private static String token(String namespace, String account, ObjectNode spec, Instant end) {
        ObjectNode claims = Json.MAPPER.createObjectNode();
        claims.set("aud", spec.path("audiences"));
        claims.put("exp", end.getEpochSecond());
        claims.put("jti", UUID.randomUUID().toString());
        claims.put("sub", Caller.accountName(namespace, account));
        return Caller.token(claims);
    }

    private static ObjectNode parsed(Buffer body) {
        try {
            if (Json.MAPPER.readTree(body.getBytes()) instanceof ObjectNode object) {
                return object;
            }
        } catch (IOException e) {
            // answered below; the message of the parser quotes the body
        }
        throw StatusException.badRequest("the body of the request must be a JSON object");
    }
}
