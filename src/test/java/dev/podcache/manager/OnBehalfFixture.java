package dev.podcache.manager;

import dev.podcache.apiserver.CachedReviews;
import dev.podcache.metrics.CountedEvents;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.Referrer;
import dev.podcache.object.Subject;
import dev.podcache.store.DirectObjectStore;
import dev.podcache.store.Store;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.store.WatchObjectStore;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.ManualReviews;
import dev.podcache.testing.Secrets;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.Arrays;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The managers of a cache with owners on behalf of subjects, on a server in memory, with reviews that a test answers. */
final class OnBehalfFixture {

    static final ObjectKey TLS = ObjectKey.of("shop", "tls");
    static final Subject WEB = Subject.serviceAccount("shop", "web");
    static final Subject MAIL = Subject.serviceAccount("shop", "mail");

    final ManualReviews reviews = new ManualReviews();
    final FakeApiServer server;
    final CachedReviews cached;
    final Managers managers;
    final Manager<Secret> secrets;

    /** Makes the managers of one strategy for all kinds. */
    OnBehalfFixture(Timekeeper timekeeper, ChangeDetectionStrategy strategy) {
        server = new FakeApiServer(timekeeper);
        cached = new CachedReviews(reviews, false, timekeeper);
        StoreOptions options = StoreOptions.defaults(timekeeper);
        managers = new Managers(
                new Managers.Stores() {
                    @Override
                    public <T extends HasMetadata> Store<T> storeOf(ObjectKind<T> kind) {
                        return switch (strategy) {
                            case GET -> new DirectObjectStore<>(kind, server.getter(kind), options);
                            case CACHE ->
                                new TtlObjectStore<>(kind, server.getter(kind), FixedTtl.ofSeconds(60), options);
                            case WATCH ->
                                new WatchObjectStore<>(
                                        kind,
                                        key -> server.listerWatcher(
                                                kind, key.namespace(), "metadata.name=" + key.name()),
                                        server.getter(kind),
                                        options,
                                        WatchTimes.DEFAULT);
                        };
                    }

                    @Override
                    public boolean countsReferences(ObjectKind<?> kind) {
                        return strategy != ChangeDetectionStrategy.GET;
                    }
                },
                new CountedEvents(PodcacheMetrics.NONE),
                false,
                Set.of(),
                cached);
        secrets = managers.of(ObjectKind.SECRET);
    }

    /** Returns an owner without a subject. */
    static Referrer owner(String name) {
        GenericKubernetesResource object = new GenericKubernetesResource();
        object.setApiVersion("example.dev/v1");
        object.setKind("Website");
        object.setMetadata(new ObjectMeta());
        object.getMetadata().setNamespace("shop");
        object.getMetadata().setName(name);
        object.getMetadata().setUid("uid-" + name);
        return Referrer.of(object);
    }

    static Referrer owner(String name, @Nullable Subject subject) {
        return owner(name).onBehalfOf(subject);
    }

    void register(Referrer owner, ObjectKey... keys) {
        managers.register(
                owner,
                Arrays.stream(keys)
                        .map(key -> ObjectRef.of(ObjectKind.SECRET, key))
                        .collect(Collectors.toSet()));
    }

    /** Creates a Secret with one value. */
    void create(ObjectKey key, String value) {
        try {
            server.cluster().create(Secrets.of(key, value));
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Replaces a Secret. */
    void replace(ObjectKey key, String value) {
        try {
            server.cluster().update(Secrets.of(key, value));
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    String read(Referrer owner) {
        return Secrets.value(secrets.getObject(owner, TLS.namespace(), TLS.name()));
    }
}
