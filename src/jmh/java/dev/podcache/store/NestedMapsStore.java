package dev.podcache.store;

import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Freshness;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Referrer;
import dev.podcache.time.CoarseClock;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The hit of {@link TtlObjectStore} with its entries in a map of maps, namespace then name, in place of {@link EntryIndex}: what that is
 * worth. Everything is read when it is first referred to, and nothing is ever let go.
 */
public final class NestedMapsStore<T extends HasMetadata> implements Store<T>, AutoCloseable {

    private final ConcurrentHashMap<String, ConcurrentHashMap<String, TtlEntry<T>>> namespaces =
            new ConcurrentHashMap<>();
    private final ObjectGetter<T> getter;
    private final ObjectTtlSource ttl;
    private final StoreOptions options;
    private final CoarseClock clock;
    private final Transitions<T> transitions;

    /** An empty store. */
    public NestedMapsStore(ObjectKind<T> kind, ObjectGetter<T> getter, ObjectTtlSource ttl, StoreOptions options) {
        this.getter = getter;
        this.ttl = ttl;
        this.options = options;
        this.clock = new CoarseClock(options.timekeeper());
        this.transitions = new Transitions<>(kind, options);
        clock.retain();
    }

    @Override
    public T get(String namespace, String name) {
        TtlEntry<T> entry = find(
                Objects.requireNonNull(namespace, "namespace is null: name the namespace of the object"),
                Objects.requireNonNull(name, "name is null: name the object"));
        if (entry != null) {
            T hit = entry.ifFresh(clock.now(), ttl.ttlNanos());
            if (hit != null) {
                return hit;
            }
        }
        throw new IllegalStateException(namespace + "/" + name + " is no hit");
    }

    private @Nullable TtlEntry<T> find(String namespace, String name) {
        ConcurrentHashMap<String, TtlEntry<T>> names = namespaces.get(namespace);
        return names == null ? null : names.get(name);
    }

    @Override
    public void addReference(ObjectKey key, Referrer referrer) {
        TtlEntry<T> entry = new TtlEntry<>(key, transitions);
        entry.addReference(referrer);
        Flight<T> flight = Objects.requireNonNull(
                entry.turn(clock.now(), ttl.ttlNanos(), 0).launched());
        Fetched<T> fetched =
                getter.get(key, Freshness.LATEST, options.readTimeout()).join();
        Answer<T> answer = new Answer.Present<>(
                clock.stamp(), fetched.object(), fetched.resourceVersion(), fetched.encodedBytes(), false);
        entry.land(flight, Outcome.answered(answer), clock.now());
        namespaces
                .computeIfAbsent(key.namespace(), namespace -> new ConcurrentHashMap<>(8))
                .put(key.name(), entry);
    }

    @Override
    public void deleteReference(ObjectKey key, Referrer referrer) {}

    @Override
    public ObjectState state(ObjectKey key) {
        return ObjectState.unknown("of no interest to a hit");
    }

    @Override
    public void close() {
        clock.release();
    }
}
