package dev.podcache.manager;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ReadConsistency;
import dev.podcache.store.ObjectState;
import dev.podcache.store.Store;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.concurrent.CompletableFuture;

/** A store in which nobody reads. */
abstract class ReferencesOnly implements Store<Secret> {

    @Override
    public ObjectKind<?> kind() {
        return ObjectKind.SECRET;
    }

    @Override
    public Secret get(String namespace, String name) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Secret get(String namespace, String name, ReadConsistency consistency) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<Secret> getAsync(String namespace, String name) {
        throw new UnsupportedOperationException();
    }

    @Override
    public ObjectState state(ObjectKey key) {
        throw new UnsupportedOperationException();
    }
}
