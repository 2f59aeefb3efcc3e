package dev.podcache.manager;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.Referrer;
import dev.podcache.pod.PodReferences;
import dev.podcache.store.ObjectState;
import dev.podcache.store.Store;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Objects;
import java.util.Set;

/**
 * Strategy GET: registration means nothing. Follows {@code simpleSecretManager} of the
 * kubelet's {@code pkg/kubelet/secret}.
 */
final class SimpleManager<T> implements Manager<T> {

    private final Store<T> store;

    SimpleManager(Store<T> store) {
        this.store = store;
    }

    @Override
    public T getObject(String namespace, String name) {
        return store.get(namespace, name);
    }

    // the checks are those of the other strategies, so that an agent cannot work under one and fail under another

    @Override
    public void registerPod(Pod pod) {
        PodReferences.registrableKey(pod);
    }

    @Override
    public void unregisterPod(Pod pod) {
        PodReferences.key(pod);
    }

    @Override
    public void register(Referrer referrer, Set<ObjectKey> objects) {
        Objects.requireNonNull(referrer, "referrer");
        Objects.requireNonNull(objects, "objects").forEach(Objects::requireNonNull);
    }

    @Override
    public void unregister(Referrer referrer) {
        Objects.requireNonNull(referrer, "referrer");
    }

    @Override
    public ObjectState state(String namespace, String name) {
        return store.state(ObjectKey.validated(namespace, name));
    }
}
