package dev.podcache.apiserver.fabric8;

import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.apiserver.http.ServerRequest;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Implements {@link ObjectGetter} with requests that count against the client-side limit. */
final class Fabric8ObjectGetter<T extends HasMetadata> implements ObjectGetter<T> {

    private final ObjectKind<T> kind;
    private final Requests requests;
    private final Fabric8ObjectDecoder<T> decoder;

    Fabric8ObjectGetter(ObjectKind<T> kind, Requests requests, Fabric8ObjectDecoder<T> decoder) {
        this.kind = kind;
        this.requests = requests;
        this.decoder = decoder;
    }

    @Override
    public CompletableFuture<Fetched<T>> get(ObjectKey key, ReadSource source, Duration timeout) {
        String query = source == ReadSource.CACHE ? "?resourceVersion=0" : "";
        ServerRequest get = ServerRequest.get("GET " + kind + " " + key, kind.path(key) + query);
        return requests.send(get, timeout, body -> decoder.decodeNamed(key, body));
    }
}
