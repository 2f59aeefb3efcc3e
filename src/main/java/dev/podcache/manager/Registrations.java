package dev.podcache.manager;

import com.google.common.base.Strings;
import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSet;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.PodKey;
import dev.podcache.object.Quoted;
import dev.podcache.object.Referrer;
import dev.podcache.object.Usage;
import dev.podcache.pod.PodReferences;
import dev.podcache.store.ObservableStore;
import dev.podcache.store.Store;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Collections;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the registered referrers and the references that each of them holds, of all kinds. Thread-safe.
 *
 * <p>Each call for a referrer is one step over all kinds: concurrent calls of {@link #registerPod} and {@link
 * #unregister} take effect in the same order for Secrets and ConfigMaps. No call makes a request or waits for one.
 */
final class Registrations {

    private final ConcurrentHashMap<Referrer, Registration> byReferrer = new ConcurrentHashMap<>();
    private final AtomicInteger managers = new AtomicInteger();
    private final @Nullable LongAdder hits;
    private final Set<Usage> followed;

    /**
     * Makes an empty instance.
     *
     * @param hits where the managers count hits; null if they do not
     * @param followed the usages that need the changes of an object; empty for all
     */
    Registrations(@Nullable LongAdder hits, Set<Usage> followed) {
        this.hits = hits;
        this.followed = followed;
    }

    /** Returns whether an owner with these usages of an object, or without any, needs the changes of the object. */
    boolean follows(Set<Usage> usages) {
        return followed.isEmpty() || usages.isEmpty() || !Collections.disjoint(usages, followed);
    }

    /** Returns a new manager whose registrations are kept here. */
    <T> StoreManager<T> manager(
            Store<T> store, BiFunction<String, String, ObjectKey> keys, Function<Pod, ObjectNeeds> references) {
        return hits != null && store instanceof ObservableStore<T> observable
                ? new CountingManager<>(this, hits, observable, keys, references)
                : new StoreManager<>(this, store, keys, references);
    }

    /** Returns the index of a new manager. */
    int nextIndex() {
        return managers.getAndIncrement();
    }

    void registerPod(Pod pod, ImmutableList<StoreManager<?>> with) {
        PodKey key = PodReferences.registrableKey(pod);
        String version = Strings.nullToEmpty(pod.getMetadata().getResourceVersion());
        Registration known = byReferrer.get(key);
        if (known == null || !known.isAt(version, with)) {
            ImmutableList.Builder<Wanted> wanted = ImmutableList.builderWithExpectedSize(with.size());
            for (int i = 0; i < with.size(); i++) {
                wanted.add(with.get(i).wantedBy(pod));
            }
            register(key, version, wanted.build());
        }
    }

    /** @throws IllegalArgumentException if the referrer has no UID */
    void register(Referrer referrer, String version, ImmutableList<Wanted> wanted) {
        if (Strings.isNullOrEmpty(referrer.uid())) {
            throw new IllegalArgumentException("referrer " + Quoted.text(referrer.toString())
                    + " has no uid: give it an identifier that no other owner has, such as metadata.uid");
        }
        boolean updated = wanted.isEmpty();
        while (!updated) {
            Registration registration = byReferrer.computeIfAbsent(referrer, Registration::new);
            try {
                updated = registration.update(version, wanted);
            } finally {
                if (registration.isReleased()) {
                    // by this update, or by another thread, which also removes it: this saves waiting for it
                    byReferrer.remove(referrer, registration);
                }
            }
        }
    }

    void unregister(Referrer referrer, ImmutableList<StoreManager<?>> with) {
        @Nullable Registration registration = byReferrer.get(referrer);
        if (registration != null && registration.release(with)) {
            byReferrer.remove(referrer, registration);
        }
    }

    /** Returns the number of referrers that are remembered. */
    int size() {
        return byReferrer.size();
    }

    /** Returns what a referrer uses an object of a manager for; empty if it does not say, or holds it no longer. */
    Set<Usage> usages(Referrer referrer, StoreManager<?> manager, ObjectKey key) {
        Registration registration = byReferrer.get(referrer);
        return registration == null ? Set.of() : registration.needs(manager).usagesOf(key);
    }

    /** The objects of the kind of one manager that a referrer needs. */
    record Wanted(StoreManager<?> manager, ObjectNeeds needs) {
        ImmutableSet<ObjectKey> keys() {
            return needs.keys();
        }
    }
}
