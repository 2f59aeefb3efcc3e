package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.TokenRequests;
import dev.podcache.apiserver.http.ServerRequest;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.Durations;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.ByteArrayInputStream;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Implements {@link TokenRequests} with requests that count against the client-side limit. */
final class Fabric8TokenRequests implements TokenRequests {

    private static final String API_VERSION = "authentication.k8s.io/v1";

    private final KubernetesSerialization serialization;
    private final Fabric8ApiServer server;
    private final Duration timeout;

    Fabric8TokenRequests(KubernetesSerialization serialization, Fabric8ApiServer server, Duration timeout) {
        this.serialization = serialization;
        this.server = server;
        this.timeout = timeout;
    }

    @Override
    public CompletableFuture<IssuedToken> create(ObjectKey serviceAccount, TokenSpec spec) {
        String what = "POST ServiceAccount " + serviceAccount + " token";
        String path = "/api/v1/namespaces/" + serviceAccount.namespace() + "/serviceaccounts/" + serviceAccount.name()
                + "/token";
        ServerRequest.Body body = new ServerRequest.Body("application/json", serialization.asJson(request(spec)));
        return server.send(ServerRequest.of(what, "POST", path, body), timeout, json -> decoded(what, json));
    }

    private static Map<String, Object> request(TokenSpec spec) {
        Map<String, Object> content = new LinkedHashMap<>();
        content.put("audiences", spec.audience().isEmpty() ? List.of() : List.of(spec.audience()));
        spec.expirationSeconds().ifPresent(seconds -> content.put("expirationSeconds", seconds));
        content.put(
                "boundObjectRef",
                Map.of(
                        "apiVersion",
                        "v1",
                        "kind",
                        "Pod",
                        "name",
                        spec.pod().name(),
                        "uid",
                        spec.pod().uid()));
        return Map.of("apiVersion", API_VERSION, "kind", "TokenRequest", "spec", content);
    }

    /** Failures have no cause and no part of the answer in the message, because the answer is secret. */
    private IssuedToken decoded(String what, byte[] json) {
        if (json.length == 0 || json[0] != '{') {
            throw unreadable(what, "is not a JSON object");
        }
        GenericKubernetesResource answer;
        try {
            answer = serialization.unmarshal(new ByteArrayInputStream(json), GenericKubernetesResource.class);
        } catch (RuntimeException e) {
            throw unreadable(what, "could not be decoded");
        }
        Object token = field(answer, "status", "token");
        if (!(token instanceof String text) || text.isEmpty()) {
            throw unreadable(what, "has no status.token");
        }
        // the server sets the life that it granted, which may differ from the requested one
        Object seconds = field(answer, "spec", "expirationSeconds");
        if (!(seconds instanceof Number life) || life.longValue() <= 0) {
            throw unreadable(what, "has no spec.expirationSeconds");
        }
        return new IssuedToken(text, Durations.ofSeconds(life.longValue()));
    }

    private static @Nullable Object field(GenericKubernetesResource answer, String part, String name) {
        return answer.getAdditionalProperties().get(part) instanceof Map<?, ?> fields ? fields.get(name) : null;
    }

    private static ApiServerException unreadable(String what, String why) {
        return ApiServerException.withoutAnswer(FailureReason.UNREADABLE, what, "the answer " + why, null);
    }
}
