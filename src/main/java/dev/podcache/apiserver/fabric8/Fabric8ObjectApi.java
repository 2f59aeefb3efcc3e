package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.http.ServerRequest;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.DeleteOptions;
import io.fabric8.kubernetes.api.model.DeleteOptionsBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Implements {@link ObjectApi} over a {@link Sender} of requests. */
final class Fabric8ObjectApi<T extends HasMetadata> implements ObjectApi<T> {

    private static final String JSON = "application/json";
    private static final String STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json";

    private final ObjectKind<T> kind;
    private final KubernetesSerialization serialization;
    private final Fabric8ObjectDecoder<T> decoder;
    private final Sender<T> sender;

    /** Sends one request, in a single attempt, and decodes its answer on a worker thread. Never throws. */
    @FunctionalInterface
    interface Sender<T> {
        CompletableFuture<T> send(ServerRequest request, Function<byte[], T> decode);
    }

    Fabric8ObjectApi(ObjectKind<T> kind, KubernetesSerialization serialization, Sender<T> sender) {
        this.kind = kind;
        this.serialization = serialization;
        this.decoder = new Fabric8ObjectDecoder<>(kind, serialization);
        this.sender = sender;
    }

    @Override
    public CompletableFuture<T> get(ObjectKey key) {
        return send("GET", key, kind.path(key), null);
    }

    @Override
    public CompletableFuture<T> create(T object) {
        ObjectKey key = keyOf(object);
        return send("POST", key, kind.collectionPath(key.namespace()), json(object));
    }

    @Override
    public CompletableFuture<T> update(T object) {
        ObjectKey key = keyOf(object);
        return send("PUT", key, kind.path(key), json(object));
    }

    @Override
    public CompletableFuture<T> patch(ObjectKey key, String patch) {
        return send("PATCH", key, kind.path(key), new ServerRequest.Body(STRATEGIC_MERGE_PATCH, patch));
    }

    @Override
    public CompletableFuture<T> patchStatus(ObjectKey key, String patch) {
        return send("PATCH", key, kind.path(key) + "/status", new ServerRequest.Body(STRATEGIC_MERGE_PATCH, patch));
    }

    @Override
    public CompletableFuture<T> delete(ObjectKey key, String uid) {
        return delete(key, uid, 0L);
    }

    @Override
    public CompletableFuture<T> deleteGracefully(ObjectKey key, String uid) {
        return delete(key, uid, null);
    }

    private CompletableFuture<T> delete(ObjectKey key, String uid, @Nullable Long gracePeriodSeconds) {
        DeleteOptions options = new DeleteOptionsBuilder()
                .withGracePeriodSeconds(gracePeriodSeconds)
                .withNewPreconditions()
                .withUid(uid)
                .endPreconditions()
                .build();
        return send("DELETE", key, kind.path(key), json(options));
    }

    private CompletableFuture<T> send(String method, ObjectKey key, String path, ServerRequest.@Nullable Body body) {
        ServerRequest request = ServerRequest.of(method + " " + kind + " " + key, method, path, body);
        return sender.send(request, answer -> decoder.decodeNamed(key, answer).object());
    }

    private ServerRequest.Body json(Object object) {
        return new ServerRequest.Body(JSON, serialization.asJson(object));
    }

    private static ObjectKey keyOf(HasMetadata object) {
        String namespace = object.getMetadata().getNamespace();
        return ObjectKey.of(
                Objects.requireNonNullElse(namespace, ""), object.getMetadata().getName());
    }
}
