package dev.podcache.cli.observe;

import dev.podcache.manager.Manager;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.Referrer;
import dev.podcache.store.ObjectState;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Set;

/** A manager of which each read is counted, and told if it brought something new. */
final class SeenManager<T extends HasMetadata> implements Manager<T> {

    private final Manager<T> manager;
    private final ObjectKind<T> kind;
    private final ReadCounter counter;
    private final Sightings sightings;

    SeenManager(Manager<T> manager, ObjectKind<T> kind, ReadCounter counter, Sightings sightings) {
        this.manager = manager;
        this.kind = kind;
        this.counter = counter;
        this.sightings = sightings;
    }

    @Override
    public T getObject(String namespace, String name) {
        ObjectKey key = ObjectKey.of(namespace, name);
        try {
            T object = manager.getObject(namespace, name);
            counter.read(kind, key, true);
            sightings.saw(kind, key, Outcome.of(object));
            return object;
        } catch (ObjectUnavailableException failed) {
            counter.read(kind, key, false);
            sightings.saw(kind, key, Outcome.of(failed));
            throw failed;
        }
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
    public ObjectState state(String namespace, String name) {
        return manager.state(namespace, name);
    }

    @Override
    public AutoCloseable listen(
            java.util.concurrent.Executor executor,
            java.util.function.Consumer<dev.podcache.manager.ObjectEvent<T>> listener) {
        return manager.listen(executor, listener);
    }
}
