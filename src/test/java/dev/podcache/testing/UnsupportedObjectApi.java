package dev.podcache.testing;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.object.ObjectKey;
import java.util.concurrent.CompletableFuture;

/** An {@link ObjectApi} whose every call throws. Test doubles override what the code under test may call. */
public abstract class UnsupportedObjectApi<T> implements ObjectApi<T> {

    @Override
    public CompletableFuture<T> get(ObjectKey key) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<T> create(T object) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<T> update(T object) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<T> patch(ObjectKey key, String patch) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<T> patchStatus(ObjectKey key, String patch) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<T> delete(ObjectKey key, String uid) {
        throw new UnsupportedOperationException();
    }
}
