package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.AccessReviews;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.http.ServerRequest;
import dev.podcache.object.FailureReason;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.ByteArrayInputStream;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Implements {@link AccessReviews} with requests that count against a limit of their own. */
final class Fabric8AccessReviews implements AccessReviews {

    private final KubernetesSerialization serialization;
    private final Requests requests;
    private final Duration timeout;

    Fabric8AccessReviews(KubernetesSerialization serialization, Requests requests, Duration timeout) {
        this.serialization = serialization;
        this.requests = requests;
        this.timeout = timeout;
    }

    @Override
    public CompletableFuture<Optional<ReviewedUser>> reviewToken(String token) {
        return create("authentication.k8s.io", "TokenReview", Map.of("token", token), Fabric8AccessReviews::owner);
    }

    @Override
    public CompletableFuture<Boolean> reviewAccess(ReviewedUser user, ResourceAccess access) {
        Map<String, Object> spec = new LinkedHashMap<>();
        spec.put("user", user.name());
        spec.put("uid", user.uid());
        spec.put("groups", user.groups());
        spec.put("extra", user.extra());
        spec.put(
                "resourceAttributes",
                Map.of(
                        "verb", access.verb(),
                        "version", "v1",
                        "resource", access.resource(),
                        "subresource", access.subresource(),
                        "name", access.name()));
        return create("authorization.k8s.io", "SubjectAccessReview", spec, Fabric8AccessReviews::isAllowed);
    }

    /** Returns whether the status of a review allows the access. */
    static boolean isAllowed(Map<?, ?> status) {
        return isTrue(status, "allowed") && !isTrue(status, "denied");
    }

    /** Creates a review and returns what {@code answer} makes of its status. */
    <R> CompletableFuture<R> create(
            String group, String kind, Map<String, Object> spec, Function<Map<?, ?>, R> answer) {
        String what = "POST " + kind;
        Map<String, Object> review = Map.of("apiVersion", group + "/v1", "kind", kind, "spec", spec);
        ServerRequest.Body body = new ServerRequest.Body("application/json", serialization.asJson(review));
        String path = "/apis/" + group + "/v1/" + kind.toLowerCase(Locale.ROOT) + "s";
        return requests.send(
                ServerRequest.of(what, "POST", path, body), timeout, json -> answer.apply(status(what, json)));
    }

    /** Failures have no cause and no part of the answer in the message, because the answer repeats the token. */
    private Map<?, ?> status(String what, byte[] json) {
        GenericKubernetesResource review;
        try {
            review = serialization.unmarshal(new ByteArrayInputStream(json), GenericKubernetesResource.class);
        } catch (RuntimeException e) {
            throw unreadable(what, "could not be decoded");
        }
        if (!(review != null && review.getAdditionalProperties().get("status") instanceof Map<?, ?> status)) {
            throw unreadable(what, "has no status");
        }
        return status;
    }

    private static Optional<ReviewedUser> owner(Map<?, ?> status) {
        if (!isTrue(status, "authenticated")
                || !(status.get("user") instanceof Map<?, ?> user)
                || !(user.get("username") instanceof String name)
                || name.isEmpty()) {
            return Optional.empty();
        }
        Map<String, List<String>> extra = new LinkedHashMap<>();
        if (user.get("extra") instanceof Map<?, ?> facts) {
            facts.forEach((key, values) -> extra.put(String.valueOf(key), texts(values)));
        }
        String uid = user.get("uid") instanceof String text ? text : "";
        return Optional.of(new ReviewedUser(name, uid, texts(user.get("groups")), extra));
    }

    private static List<String> texts(@Nullable Object values) {
        return values instanceof List<?> list
                ? list.stream().map(String::valueOf).toList()
                : List.of();
    }

    private static boolean isTrue(Map<?, ?> status, String field) {
        return Boolean.TRUE.equals(status.get(field));
    }

    private static ApiServerException unreadable(String what, String why) {
        return ApiServerException.withoutAnswer(FailureReason.UNREADABLE, what, "the answer " + why, null);
    }
}
