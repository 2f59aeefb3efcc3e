package dev.podcache.controlplane.planner;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The objects of one kind in a simulation, by name. Every request is answered at once. Objects that were handed out are
 * never modified. For one thread.
 */
abstract class SimulatedObjects<T extends HasMetadata> implements ObjectApi<T> {

    private final Map<String, T> objects = new HashMap<>();
    private final Consumer<T> changed;
    private long version;

    /**
     * Creates an empty collection.
     *
     * @param changed called with every object that was created or changed
     */
    SimulatedObjects(Consumer<T> changed) {
        this.changed = changed;
    }

    @Nullable
    T find(String name) {
        return objects.get(name);
    }

    /** Stores an object that nobody else has, with a new version, and returns it. */
    T store(T object) {
        version++;
        object.getMetadata().setResourceVersion(String.valueOf(version));
        objects.put(object.getMetadata().getName(), object);
        changed.accept(object);
        return object;
    }

    @Override
    public CompletableFuture<T> get(ObjectKey key) {
        T found = find(key.name());
        return found == null
                ? CompletableFuture.failedFuture(ApiServerException.withoutAnswer(
                        FailureReason.NOT_FOUND, key.name(), "it does not exist", null))
                : CompletableFuture.completedFuture(found);
    }

    @Override
    public CompletableFuture<T> create(T object) {
        object.getMetadata().setUid("uid-" + object.getMetadata().getName());
        return CompletableFuture.completedFuture(store(object));
    }

    @Override
    public CompletableFuture<T> update(T object) {
        return notSimulated("update");
    }

    @Override
    public CompletableFuture<T> patch(ObjectKey key, String patch) {
        return notSimulated("patch");
    }

    @Override
    public CompletableFuture<T> patchStatus(ObjectKey key, String patch) {
        return notSimulated("patchStatus");
    }

    @Override
    public CompletableFuture<T> delete(ObjectKey key, String uid) {
        return notSimulated("delete");
    }

    @Override
    public CompletableFuture<T> deleteGracefully(ObjectKey key, String uid) {
        return notSimulated("deleteGracefully");
    }

    private CompletableFuture<T> notSimulated(String request) {
        return CompletableFuture.failedFuture(new UnsupportedOperationException(request + " is not simulated"));
    }
}
