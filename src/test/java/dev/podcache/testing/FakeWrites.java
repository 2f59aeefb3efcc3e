package dev.podcache.testing;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.embedded.ApiRequest;
import dev.podcache.embedded.DeleteOptions;
import dev.podcache.embedded.ObjectPart;
import dev.podcache.embedded.PatchBody;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.Verb;
import dev.podcache.object.ModelJson;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** The implementation of {@link FakeApiServer#api}. */
final class FakeWrites<T extends HasMetadata> implements ObjectApi<T> {

    private static final ObjectMapper MAPPER = JsonMapper.builder().build();

    private final FakeApiServer server;
    private final ObjectKind<T> kind;
    private final Resource resource;
    private final Duration timeout;

    FakeWrites(FakeApiServer server, ObjectKind<T> kind, Duration timeout) {
        this.server = server;
        this.kind = kind;
        this.resource = Resource.of(kind.model());
        this.timeout = timeout;
    }

    @Override
    public CompletableFuture<T> get(ObjectKey key) {
        server.record(new FakeApiServer.Action(Verb.GET, kind, key, ReadSource.QUORUM));
        return answer(Verb.GET, key, () -> server.cluster().get(resource, key, ""));
    }

    @Override
    public CompletableFuture<T> create(T object) {
        return send(
                Verb.CREATE,
                keyOf(object),
                json(object),
                body -> server.cluster().create(resource, keyOf(object).namespace(), body));
    }

    @Override
    public CompletableFuture<T> update(T object) {
        return send(
                Verb.UPDATE,
                keyOf(object),
                json(object),
                body -> server.cluster().update(resource, keyOf(object), ObjectPart.OBJECT, body));
    }

    @Override
    public CompletableFuture<T> patch(ObjectKey key, String patch) {
        return patch(key, ObjectPart.OBJECT, patch);
    }

    @Override
    public CompletableFuture<T> patchStatus(ObjectKey key, String patch) {
        return patch(key, ObjectPart.STATUS, patch);
    }

    private CompletableFuture<T> patch(ObjectKey key, ObjectPart part, String patch) {
        return send(
                Verb.PATCH,
                key,
                patch,
                body -> server.cluster()
                        .patch(resource, key, part, new PatchBody(PatchBody.PatchType.STRATEGIC, body)));
    }

    @Override
    public CompletableFuture<T> delete(ObjectKey key, String uid) {
        server.record(new FakeApiServer.Action(Verb.DELETE, kind, key, null));
        return answer(Verb.DELETE, key, () -> server.cluster().delete(resource, key, new DeleteOptions(0L, uid, null)));
    }

    @Override
    public CompletableFuture<T> deleteGracefully(ObjectKey key, String uid) {
        server.record(new FakeApiServer.Action(Verb.DELETE, kind, key, null));
        return answer(
                Verb.DELETE, key, () -> server.cluster().delete(resource, key, new DeleteOptions(null, uid, null)));
    }

    private interface Write {
        ObjectNode apply(ObjectNode body);
    }

    private CompletableFuture<T> send(Verb verb, ObjectKey key, String json, Write write) {
        server.record(new FakeApiServer.Action(verb, kind, key, null));
        server.recordSent(new FakeApiServer.Sent(verb, kind, key, json));
        return answer(verb, key, () -> write.apply(tree(json)));
    }

    private CompletableFuture<T> answer(Verb verb, ObjectKey key, Supplier<ObjectNode> reading) {
        return new FakeCall<>(
                        server,
                        new ApiRequest(verb, resource, key),
                        () -> FakeGetter.fetched(kind, reading.get()).object())
                .answer(timeout);
    }

    private static ObjectKey keyOf(HasMetadata object) {
        String namespace = object.getMetadata().getNamespace();
        return ObjectKey.of(
                namespace == null ? "" : namespace, object.getMetadata().getName());
    }

    private static ObjectNode tree(String json) {
        try {
            return (ObjectNode) MAPPER.readTree(json);
        } catch (JsonProcessingException e) {
            throw new AssertionError("the request is not JSON: " + json, e);
        }
    }

    private static String json(Object object) {
        return ModelJson.text(object);
    }
}
