package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.AccessReviews;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.http.ServerRequest;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.Subject;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.ByteArrayInputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Implements {@link AccessReviews}. No failure quotes an answer, because the answer repeats the token. */
final class Fabric8AccessReviews implements AccessReviews {

    private final KubernetesSerialization serialization;
    private final ReviewSender sender;
    private final Duration timeout;

    /** Sends one request, in a single attempt. */
    interface ReviewSender {
        <R> CompletableFuture<R> send(ServerRequest request, Duration timeout, Function<byte[], R> decode);
    }

    /**
     * Makes the port.
     *
     * @param sender says what limits the reviews
     */
    Fabric8AccessReviews(KubernetesSerialization serialization, ReviewSender sender, Duration timeout) {
        this.serialization = serialization;
        this.sender = sender;
        this.timeout = timeout;
    }

    @Override
    public CompletableFuture<Optional<Subject>> reviewToken(String token) {
        return create("authentication.k8s.io", "TokenReview", Map.of("token", token), Fabric8AccessReviews::owner);
    }

    @Override
    public CompletableFuture<Review> review(Subject subject, ResourceAccess access) {
        Map<String, Object> spec = new LinkedHashMap<>();
        spec.put("user", subject.name());
        spec.put("uid", subject.uid());
        spec.put("groups", subject.groups());
        spec.put("extra", subject.extra());
        spec.put("resourceAttributes", attributes(access));
        return create("authorization.k8s.io", "SubjectAccessReview", spec, Fabric8AccessReviews::reviewed);
    }

    @Override
    public CompletableFuture<Boolean> serviceAccountExists(String namespace, String name) {
        String what = "GET ServiceAccount " + namespace + "/" + name;
        String path = "/api/v1/namespaces/" + namespace + "/serviceaccounts/" + name;
        return sender.send(ServerRequest.get(what, path), timeout, json -> true).exceptionally(thrown -> {
            if (ApiServerException.reasonOf(thrown) == FailureReason.NOT_FOUND) {
                return false;
            }
            throw new CompletionException(ApiServerException.causeOf(thrown));
        });
    }

    @Override
    public CompletableFuture<Optional<String>> ownUser() {
        return create("authentication.k8s.io", "SelfSubjectReview", Map.of(), Fabric8AccessReviews::ownName)
                .exceptionally(thrown -> {
                    FailureReason reason = ApiServerException.reasonOf(thrown);
                    // an older server authorizes a path before it says that there is nothing
                    if (reason == FailureReason.NOT_FOUND || reason == FailureReason.FORBIDDEN) {
                        return Optional.empty();
                    }
                    throw new CompletionException(ApiServerException.causeOf(thrown));
                });
    }

    @Override
    public CompletableFuture<Review> reviewOwn(ResourceAccess access) {
        Map<String, Object> spec = Map.of("resourceAttributes", attributes(access));
        return create("authorization.k8s.io", "SelfSubjectAccessReview", spec, Fabric8AccessReviews::reviewed);
    }

    private static Map<String, Object> attributes(ResourceAccess access) {
        return Map.of(
                "verb", access.verb(),
                "group", access.group(),
                "version", access.version(),
                "resource", access.resource(),
                "subresource", access.subresource(),
                "namespace", access.namespace(),
                "name", access.name());
    }

    private static Review reviewed(Map<?, ?> status) {
        boolean allowed = isAllowed(status);
        String reason = status.get("reason") instanceof String text ? text : "";
        // only without an answer by a rule is the failed evaluation the reason
        String failed = status.get("evaluationError") instanceof String text ? text : "";
        return new Review(allowed, reason.isEmpty() && !allowed ? failed : reason);
    }

    @Override
    public CompletableFuture<Boolean> mayRequestToken(ObjectKey serviceAccount) {
        Map<String, Object> attributes = Map.of(
                "group", "",
                "version", "v1",
                "resource", "serviceaccounts",
                "subresource", "token",
                "namespace", serviceAccount.namespace(),
                "name", serviceAccount.name(),
                "verb", "create");
        Map<String, Object> spec = Map.of("resourceAttributes", attributes);
        return create("authorization.k8s.io", "SelfSubjectAccessReview", spec, Fabric8AccessReviews::isAllowed);
    }

    private static boolean isAllowed(Map<?, ?> status) {
        return isTrue(status, "allowed") && !isTrue(status, "denied");
    }

    /** Creates a review and returns what {@code answer} makes of its status. */
    private <R> CompletableFuture<R> create(
            String group, String kind, Map<String, Object> spec, Function<Map<?, ?>, R> answer) {
        String what = "POST " + kind;
        Map<String, Object> review = Map.of("apiVersion", group + "/v1", "kind", kind, "spec", spec);
        ServerRequest.Body body = new ServerRequest.Body("application/json", serialization.asJson(review));
        String path = "/apis/" + group + "/v1/" + kind.toLowerCase(Locale.ROOT) + "s";
        return sender.send(
                ServerRequest.of(what, "POST", path, body), timeout, json -> answer.apply(status(what, json)));
    }

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

    private static Optional<Subject> owner(Map<?, ?> status) {
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
        List<String> groups = texts(user.get("groups"));
        groups.removeIf(String::isEmpty);
        extra.remove("");
        return Optional.of(Subject.user(name, groups, uid, extra));
    }

    private static Optional<String> ownName(Map<?, ?> status) {
        return status.get("userInfo") instanceof Map<?, ?> user
                        && user.get("username") instanceof String name
                        && !name.isEmpty()
                ? Optional.of(name)
                : Optional.empty();
    }

    private static List<String> texts(@Nullable Object values) {
        return values instanceof List<?> list
                ? list.stream().map(String::valueOf).collect(Collectors.toCollection(ArrayList::new))
                : new ArrayList<>();
    }

    private static boolean isTrue(Map<?, ?> status, String field) {
        return Boolean.TRUE.equals(status.get(field));
    }

    private static ApiServerException unreadable(String what, String why) {
        return ApiServerException.withoutAnswer(FailureReason.UNREADABLE, what, "the answer " + why, null);
    }
}
