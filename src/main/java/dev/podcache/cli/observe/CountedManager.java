package dev.podcache.cli.observe;

import dev.podcache.cli.config.ObjectId;
import dev.podcache.manager.Manager;
import dev.podcache.manager.ObjectEvent;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectState;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.ReadConsistency;
import dev.podcache.object.Referrer;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/** A manager whose reads are counted and observed. */
final class CountedManager<T extends HasMetadata> implements Manager<T> {

    private final Manager<T> manager;
    private final ObjectKind<T> kind;
    private final ReadMonitor reads;
    private final ObjectMonitor objects;

    CountedManager(Manager<T> manager, ObjectKind<T> kind, ReadMonitor reads, ObjectMonitor objects) {
        this.manager = manager;
        this.kind = kind;
        this.reads = reads;
        this.objects = objects;
    }

    @Override
    public T getObject(String namespace, String name) {
        ObjectId id = new ObjectId(kind, ObjectKey.of(namespace, name));
        try {
            T object = manager.getObject(namespace, name);
            reads.ended(id, true);
            objects.observed(id, Observation.of(object));
            return object;
        } catch (NotRegistered | Closed e) {
            // the pod was removed, or the agent is closed, during the sync of the pod
            reads.released();
            throw e;
        } catch (ObjectUnavailableException e) {
            reads.ended(id, false);
            objects.observed(id, Observation.of(e));
            throw e;
        } catch (IllegalArgumentException e) {
            // a pod may refer to any text; no request is made for a name that cannot exist
            objects.observed(id, Observation.ILLEGAL_NAME);
            throw e;
        }
    }

    @Override
    public T getObject(Referrer owner, String namespace, String name) {
        return manager.getObject(owner, namespace, name);
    }

    @Override
    public T getObject(Referrer owner, String namespace, String name, ReadConsistency consistency) {
        return manager.getObject(owner, namespace, name, consistency);
    }

    @Override
    public CompletableFuture<T> getObjectAsync(Referrer owner, String namespace, String name) {
        return manager.getObjectAsync(owner, namespace, name);
    }

    @Override
    public Map<ObjectKey, T> getObjects(Referrer owner, Set<ObjectKey> keys) {
        return manager.getObjects(owner, keys);
    }

    @Override
    public Optional<T> findObject(Referrer owner, String namespace, String name) {
        return manager.findObject(owner, namespace, name);
    }

    @Override
    public Optional<T> peek(Referrer owner, String namespace, String name) {
        return manager.peek(owner, namespace, name);
    }

    @Override
    public void registerPod(Pod pod) {
        manager.registerPod(pod);
    }

    @Override
    public void unregisterPod(Pod pod) {
        manager.unregisterPod(pod);
    }

    @Override
    public void register(Referrer referrer, Set<ObjectKey> objects) {
        manager.register(referrer, objects);
    }

    @Override
    public void unregister(Referrer referrer) {
        manager.unregister(referrer);
    }

    @Override
    public Optional<T> findObject(String namespace, String name) {
        return manager.findObject(namespace, name);
    }

    @Override
    public Optional<T> peek(String namespace, String name) {
        return manager.peek(namespace, name);
    }

    @Override
    public ObjectState state(String namespace, String name) {
        return manager.state(namespace, name);
    }

    @Override
    public AutoCloseable listen(Executor executor, Consumer<ObjectEvent<T>> listener) {
        return manager.listen(executor, listener);
    }

    @Override
    public T getObject(String namespace, String name, ReadConsistency consistency) {
        return manager.getObject(namespace, name, consistency);
    }

    @Override
    public CompletableFuture<T> getObjectAsync(String namespace, String name) {
        return manager.getObjectAsync(namespace, name);
    }

    @Override
    public Map<ObjectKey, T> getObjects(Set<ObjectKey> keys) {
        return manager.getObjects(keys);
    }

    @Override
    public AutoCloseable listen(
            Executor executor, Duration gather, BiConsumer<Referrer, List<ObjectEvent<T>>> listener) {
        return manager.listen(executor, gather, listener);
    }
}
