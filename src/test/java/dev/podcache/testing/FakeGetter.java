package dev.podcache.testing;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.embedded.ApiRequest;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.Verb;
import dev.podcache.object.ModelJson;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** The implementation of {@link FakeApiServer#getter}. */
final class FakeGetter<T extends HasMetadata> implements ObjectGetter<T> {

    private final FakeApiServer server;
    private final ObjectKind<T> kind;

    FakeGetter(FakeApiServer server, ObjectKind<T> kind) {
        this.server = server;
        this.kind = kind;
    }

    @Override
    public CompletableFuture<Fetched<T>> get(ObjectKey key, ReadSource freshness, Duration timeout) {
        server.record(new FakeApiServer.Action(Verb.GET, kind, key, freshness));
        Resource resource = Resource.of(kind.model());
        String version = freshness == ReadSource.CACHE ? "0" : "";
        ApiRequest request = new ApiRequest(Verb.GET, resource, key);
        return new FakeCall<>(
                        server, request, () -> fetched(kind, server.cluster().get(resource, key, version)))
                .answer(timeout);
    }

    static <T extends HasMetadata> Fetched<T> fetched(ObjectKind<T> kind, ObjectNode json) {
        int length = json.toString().getBytes(StandardCharsets.UTF_8).length;
        String version = json.path("metadata").path("resourceVersion").asText();
        return new Fetched<>(ModelJson.model(json, kind.model()), version, length);
    }
}
