package dev.podcache.manager;

import com.google.common.collect.ImmutableSet;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.PodKey;
import dev.podcache.object.Referrer;
import dev.podcache.pod.PodReferences;
import dev.podcache.store.ObjectState;
import dev.podcache.store.Store;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Turns registrations into references, and only what changed of them.
 *
 * <p>Works on any {@link Referrer}; that a referrer is a pod is known to three methods of {@link Manager} alone.
 *
 * <p>Follows {@code cacheBasedManager} of the kubelet's {@code pkg/kubelet/util/manager/cache_based_manager.go} in its
 * newest form: a pod that is registered again only adds what is new.
 */
final class CacheBasedManager<T> implements Manager<T> {

    private final Store<T> store;
    private final Function<Pod, ? extends Set<ObjectKey>> references;
    private final ConcurrentHashMap<Referrer, Registration> registrations = new ConcurrentHashMap<>();

    CacheBasedManager(Store<T> store, Function<Pod, ? extends Set<ObjectKey>> references) {
        this.store = store;
        this.references = references;
    }

    @Override
    public T getObject(String namespace, String name) {
        return store.get(namespace, name);
    }

    @Override
    public void registerPod(Pod pod) {
        PodKey key = PodReferences.registrableKey(pod);
        String version = pod.getMetadata().getResourceVersion() == null
                ? ""
                : pod.getMetadata().getResourceVersion();
        Registration known = registrations.get(key);
        if (known == null || !known.isAt(version)) {
            register(key, version, ImmutableSet.copyOf(references.apply(pod)));
        }
    }

    @Override
    public void unregisterPod(Pod pod) {
        unregister(PodReferences.key(pod));
    }

    @Override
    public void register(Referrer referrer, Set<ObjectKey> objects) {
        Objects.requireNonNull(referrer, "referrer");
        register(referrer, "", ImmutableSet.copyOf(Objects.requireNonNull(objects, "objects")));
    }

    private void register(Referrer referrer, String version, ImmutableSet<ObjectKey> keys) {
        boolean updated = false;
        while (!updated) {
            Registration registration = registrations.computeIfAbsent(referrer, Registration::new);
            updated = registration.update(version, keys, store);
            if (!updated) {
                // released, and whoever released it is about to take it out: lend a hand
                registrations.remove(referrer, registration);
            }
        }
    }

    @Override
    public void unregister(Referrer referrer) {
        Registration registration = registrations.get(Objects.requireNonNull(referrer, "referrer"));
        if (registration != null) {
            registration.release(store);
            registrations.remove(referrer, registration);
        }
    }

    @Override
    public ObjectState state(String namespace, String name) {
        return store.state(ObjectKey.validated(namespace, name));
    }
}
