package dev.podcache.access;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.object.NotApi;
import dev.podcache.object.ObjectKind;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * Finds at the API server what a kind is called in URLs, and whether its definition exists. Thread-safe; no method blocks.
 *
 * @hidden
 */
@NotApi
public final class Definitions {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Function<String, CompletableFuture<byte[]>> server;

    /** @param server reads a path of the server live; fails with an {@link ApiServerException} */
    public Definitions(Function<String, CompletableFuture<byte[]>> server) {
        this.server = server;
    }

    /**
     * Whether a kind is served.
     *
     * @hidden
     */
    public enum KindState {
        NAMESPACED,
        CLUSTER_SCOPED,
        /** The server neither serves it nor has a definition of it. */
        ABSENT,
        /** It is not served now, but may have a definition. */
        UNKNOWN
    }

    /**
     * What the server says of a kind.
     *
     * @param kind with the plural of the server, if it is served
     * @hidden
     */
    public record Definition(KindState state, ObjectKind<?> kind) {}

    /** Returns the path of the resources of a group and version. */
    private static String discovery(ObjectKind<?> kind) {
        return (kind.apiVersion().contains("/") ? "/apis/" : "/api/") + kind.apiVersion();
    }

    /** Returns the name of the CustomResourceDefinition of a kind; empty for the core group, which has none. */
    public static String definitionName(ObjectKind<?> kind) {
        String group = RoleContent.group(kind);
        // the groups of Kubernetes itself have no dot, or end so; what ends so otherwise is approved there
        return group.contains(".") ? kind.plural() + "." + group : "";
    }

    /** Returns a kind with the plural that the server uses, if it is among what was found. */
    public static ObjectKind<?> as(ObjectKind<?> kind, List<Definition> found) {
        for (Definition definition : found) {
            if (definition.kind().name().equals(kind.name())
                    && definition.kind().apiVersion().equals(kind.apiVersion())) {
                return definition.kind();
            }
        }
        return kind;
    }

    /** Returns whether a group and version is served. */
    public CompletableFuture<Boolean> serves(String groupVersion) {
        return server.apply("/apis/" + groupVersion).thenApply(found -> true).exceptionallyCompose(failure -> {
            FailureReason reason = ApiServerException.reasonOf(failure);
            return reason == FailureReason.NOT_FOUND
                    ? CompletableFuture.completedFuture(false)
                    : CompletableFuture.failedFuture(ApiServerException.causeOf(failure));
        });
    }

    /**
     * Returns what the server says of a kind now. A kind counts as absent only if the list of resources does not have it,
     * and there is no CustomResourceDefinition of it: a server that has just started may not know its resources yet. Who may
     * not read definitions asks the server whether it is ready, which it is when it knows its definitions.
     *
     * @return exceptionally an {@link ApiServerException} if the server does not answer
     */
    public CompletableFuture<Definition> find(ObjectKind<?> kind) {
        return server.apply(discovery(kind))
                .thenApply(answer -> served(kind, answer))
                .exceptionallyCompose(failure -> ApiServerException.reasonOf(failure) == FailureReason.NOT_FOUND
                        ? CompletableFuture.completedFuture(new Definition(KindState.UNKNOWN, kind))
                        : CompletableFuture.failedFuture(ApiServerException.causeOf(failure)))
                .thenCompose(found -> found.state() == KindState.UNKNOWN
                                && !definitionName(kind).isEmpty()
                        ? defined(kind)
                        : CompletableFuture.completedFuture(found));
    }

    private CompletableFuture<Definition> defined(ObjectKind<?> kind) {
        String path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + definitionName(kind);
        return server.apply(path)
                .handle((found, failure) -> failure == null ? null : ApiServerException.reasonOf(failure))
                .thenCompose(reason -> reason == FailureReason.FORBIDDEN
                        ? missing(kind)
                        : CompletableFuture.completedFuture(new Definition(
                                reason == FailureReason.NOT_FOUND ? KindState.ABSENT : KindState.UNKNOWN, kind)));
    }

    /** A server that is ready, and does not have a kind after that. */
    private CompletableFuture<Definition> missing(ObjectKind<?> kind) {
        return server.apply("/readyz")
                .thenCompose(ready -> server.apply(discovery(kind)))
                .handle((answer, failure) -> {
                    if (answer != null) {
                        Definition found = served(kind, answer);
                        return found.state() == KindState.UNKNOWN && isList(answer)
                                ? new Definition(KindState.ABSENT, kind)
                                : found;
                    }
                    boolean absent = ApiServerException.reasonOf(failure) == FailureReason.NOT_FOUND;
                    return new Definition(absent ? KindState.ABSENT : KindState.UNKNOWN, kind);
                });
    }

    private static boolean isList(byte[] answer) {
        try {
            return JSON.readTree(answer).path("resources").isArray();
        } catch (IOException e) {
            return false;
        }
    }

    private static Definition served(ObjectKind<?> kind, byte[] answer) {
        try {
            for (JsonNode resource : JSON.readTree(answer).path("resources")) {
                String plural = resource.path("name").asText();
                if (kind.name().equals(resource.path("kind").asText()) && !plural.contains("/")) {
                    boolean namespaced = resource.path("namespaced").asBoolean();
                    return new Definition(
                            namespaced ? KindState.NAMESPACED : KindState.CLUSTER_SCOPED,
                            kind.plural().equals(plural)
                                    ? kind
                                    : ObjectKind.of(kind.apiVersion(), kind.name(), plural, true));
                }
            }
        } catch (IOException | IllegalArgumentException e) {
            // no list of resources: nothing is known
        }
        return new Definition(KindState.UNKNOWN, kind);
    }
}
