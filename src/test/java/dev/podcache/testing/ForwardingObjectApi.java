package dev.podcache.testing;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.object.ObjectKey;
import java.util.concurrent.CompletableFuture;

/** An {@link ObjectApi} that forwards every call to another one. Test doubles override single methods. */
public abstract class ForwardingObjectApi<T> implements ObjectApi<T> {

    private final ObjectApi<T> api;

    /** Creates a port that forwards to {@code api}. */
    protected ForwardingObjectApi(ObjectApi<T> api) {
        this.api = api;
    }

    @Override
    public CompletableFuture<T> get(ObjectKey key) {
        return api.get(key);
    }

    @Override
    public CompletableFuture<T> create(T object) {
        return api.create(object);
    }

    @Override
    public CompletableFuture<T> update(T object) {
        return api.update(object);
    }

    @Override
    public CompletableFuture<T> patch(ObjectKey key, String patch) {
        return api.patch(key, patch);
    }

    @Override
    public CompletableFuture<T> patchStatus(ObjectKey key, String patch) {
        return api.patchStatus(key, patch);
    }

    @Override
    public CompletableFuture<T> delete(ObjectKey key, String uid) {
        return api.delete(key, uid);
    }

    @Override
    public CompletableFuture<T> deleteGracefully(ObjectKey key, String uid) {
        return api.deleteGracefully(key, uid);
    }
}
