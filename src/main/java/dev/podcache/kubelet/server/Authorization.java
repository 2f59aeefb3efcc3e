package dev.podcache.kubelet.server;

import dev.podcache.apiserver.AccessReviews;
import dev.podcache.apiserver.AccessReviews.ResourceAccess;
import dev.podcache.apiserver.AccessReviews.Review;
import dev.podcache.apiserver.CachedReviews;
import dev.podcache.object.Subject;
import dev.podcache.time.Timekeeper;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Decides whether a user may make a request: whether the user has a verb on a subresource of this Node, after {@code
 * pkg/kubelet/server/auth.go}. Thread-safe; no method blocks.
 *
 * <p>The API server is asked once for a user and an access, however many requests wait for the answer. {@link CachedReviews}
 * says for how long an answer counts. A failure is not remembered.
 */
final class Authorization {

    /** Endpoints that change a container, whatever the method: WebSocket clients begin with GET. */
    private static final Set<String> COMMANDS = Set.of("exec", "attach", "portforward", "run");

    private final CachedReviews reviews;
    private final String node;

    Authorization(AccessReviews reviews, String node, Timekeeper timekeeper) {
        this.reviews = new CachedReviews(reviews, false, timekeeper);
        this.node = node;
    }

    /**
     * Returns whether the user may make the request: whether one of its {@link #accesses} is allowed. The future fails
     * if the API server does not answer.
     */
    CompletableFuture<Boolean> isAllowed(Subject user, KubeletRequest request) {
        return anyOf(user, accesses(request));
    }

    private CompletableFuture<Boolean> anyOf(Subject user, List<ResourceAccess> accesses) {
        ResourceAccess first = accesses.get(0);
        List<ResourceAccess> others = accesses.subList(1, accesses.size());
        return reviews.review(user, first)
                .thenApply(Review::allowed)
                .thenCompose(allowed ->
                        allowed || others.isEmpty() ? CompletableFuture.completedFuture(allowed) : anyOf(user, others));
    }

    /**
     * Returns the accesses of a request, of which one is enough. Unlike upstream, a command needs {@code create}
     * whatever the method, because with {@code get} a user who may only read could run it by WebSocket.
     */
    List<ResourceAccess> accesses(KubeletRequest request) {
        String first = firstSegment(request.path());
        String verb = COMMANDS.contains(first.toLowerCase(Locale.ROOT)) ? "create" : verb(request.method());
        return subresources(first).stream()
                .map(subresource -> new ResourceAccess(verb, "nodes", subresource, node))
                .toList();
    }

    private static List<String> subresources(String first) {
        return switch (first) {
            case "stats" -> List.of("stats");
            case "metrics" -> List.of("metrics");
            case "logs" -> List.of("log");
            case "pods", "runningpods" -> List.of("pods", "proxy");
            case "healthz", "livez", "readyz" -> List.of("healthz", "proxy");
            case "configz", "statusz", "flagz" -> List.of(first, "proxy");
            default -> List.of("proxy");
        };
    }

    private static String verb(String method) {
        return switch (method) {
            case "GET" -> "get";
            case "POST" -> "create";
            case "PUT" -> "update";
            case "PATCH" -> "patch";
            case "DELETE" -> "delete";
            // one for all others, as upstream: a client that invents methods would have an access reviewed for each
            default -> "";
        };
    }

    /** Returns the first segment as it was sent. The endpoint is chosen by it, too, so both always agree. */
    static String firstSegment(String path) {
        int end = path.indexOf('/', 1);
        return end < 0 ? path.substring(Math.min(1, path.length())) : path.substring(1, end);
    }
}
