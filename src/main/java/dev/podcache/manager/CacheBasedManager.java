package dev.podcache.manager;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import dev.podcache.manager.Registrations.Wanted;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.Referrer;
import dev.podcache.pod.PodReferences;
import dev.podcache.store.ObjectState;
import dev.podcache.store.Store;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;

/**
 * Adds references to a store and takes them back as referrers register and unregister. {@link Registrations} remembers
 * what each referrer holds.
 *
 * <p>Follows {@code cacheBasedManager} of the kubelet's {@code pkg/kubelet/util/manager/cache_based_manager.go} in its
 * newest form: a pod that is registered again only adds what is new.
 */
final class CacheBasedManager<T> implements Manager<T> {

    final int index;
    final Store<T> store;
    private final Registrations registrations;
    private final Function<Pod, ? extends Set<ObjectKey>> references;
    private final ImmutableList<CacheBasedManager<?>> itself = ImmutableList.of(this);

    /**
     * Makes one that holds nothing.
     *
     * @param index of this among the managers whose registrations are kept together
     */
    CacheBasedManager(
            Registrations registrations,
            int index,
            Store<T> store,
            Function<Pod, ? extends Set<ObjectKey>> references) {
        this.registrations = registrations;
        this.index = index;
        this.store = store;
        this.references = references;
    }

    @Override
    public T getObject(String namespace, String name) {
        return store.get(namespace, name);
    }

    @Override
    public void registerPod(Pod pod) {
        registrations.registerPod(pod, itself);
    }

    @Override
    public void unregisterPod(Pod pod) {
        registrations.unregister(PodReferences.key(pod), itself);
    }

    @Override
    public void register(Referrer referrer, Set<ObjectKey> objects) {
        Objects.requireNonNull(referrer, "referrer");
        ImmutableSet<ObjectKey> keys = ImmutableSet.copyOf(Objects.requireNonNull(objects, "objects"));
        registrations.register(referrer, "", ImmutableList.of(new Wanted(this, keys)));
    }

    @Override
    public void unregister(Referrer referrer) {
        registrations.unregister(Objects.requireNonNull(referrer, "referrer"), itself);
    }

    /** What {@code pod} needs of this kind. */
    Wanted wantedBy(Pod pod) {
        return new Wanted(this, ImmutableSet.copyOf(references.apply(pod)));
    }

    @Override
    public ObjectState state(String namespace, String name) {
        return store.state(ObjectKey.validated(namespace, name));
    }
}
