package dev.podcache.testing;

import com.google.common.collect.ImmutableList;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.kubelet.podconfig.TrustBundleSource;
import dev.podcache.kubelet.podconfig.TrustBundles;
import dev.podcache.manager.Manager;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.reflector.Recovery;
import dev.podcache.testkit.FakePodcache;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** ClusterTrustBundles in memory. Everything happens on the thread of the caller. */
public final class FakeTrustBundles implements TrustBundleSource, AutoCloseable {

    /** The kind that is served. */
    public static final ObjectKind<GenericKubernetesResource> KIND =
            ObjectKind.of("certificates.k8s.io/v1beta1", "ClusterTrustBundle", "clustertrustbundles", false);

    private final FakePodcache cache = new FakePodcache();
    private final Map<String, GenericKubernetesResource> bundles = new TreeMap<>();
    private final List<Consumer<WatchEvent<GenericKubernetesResource>>> watches = new CopyOnWriteArrayList<>();

    /** How often {@link #kind} was asked. */
    public final AtomicInteger questions = new AtomicInteger();

    /** How many registrations of pods by name fail from now on. */
    public final AtomicInteger failingRegistrations = new AtomicInteger();

    /** How often all were listed. */
    public final AtomicInteger lists = new AtomicInteger();

    /** What the server answers when it is asked what it serves. */
    public CompletableFuture<Optional<ObjectKind<GenericKubernetesResource>>> answer =
            CompletableFuture.completedFuture(Optional.of(KIND));

    /** Returns what nobody is told of. */
    public TrustBundles untold(Timekeeper timekeeper) {
        return new TrustBundles(this, new Recovery(timekeeper), timekeeper, new TrustBundles.BundleEvents() {
            @Override
            public void found(Manager<GenericKubernetesResource> named) {}

            @Override
            public void changed(String podUid) {}
        });
    }

    /** Returns a bundle. */
    public static GenericKubernetesResource bundle(
            String name, @Nullable String signer, Map<String, String> labels, String pem) {
        GenericKubernetesResource bundle = new GenericKubernetesResource();
        bundle.setApiVersion(KIND.apiVersion());
        bundle.setKind(KIND.name());
        bundle.setMetadata(
                new ObjectMetaBuilder().withName(name).withLabels(labels).build());
        bundle.setAdditionalProperty(
                "spec", signer == null ? Map.of("trustBundle", pem) : Map.of("trustBundle", pem, "signerName", signer));
        return bundle;
    }

    /** Creates or replaces a bundle. */
    public void put(GenericKubernetesResource bundle) {
        bundles.put(bundle.getMetadata().getName(), bundle);
        cache.put(KIND, bundle);
        watches.forEach(watch -> watch.accept(new WatchEvent.Upserted<>(new Fetched<>(bundle, "2", 1))));
    }

    /** Sends what no server should: bundles without metadata, and without a name, which exist and are deleted. */
    public void sendNameless() {
        GenericKubernetesResource without = bundle("x", "example.com/signer", Map.of(), "");
        without.setMetadata(null);
        GenericKubernetesResource nameless = bundle("x", "example.com/signer", Map.of(), "");
        nameless.getMetadata().setName(null);
        for (GenericKubernetesResource each : List.of(without, nameless)) {
            watches.forEach(watch -> watch.accept(new WatchEvent.Upserted<>(new Fetched<>(each, "2", 1))));
            watches.forEach(watch -> watch.accept(new WatchEvent.Deleted<>(new Fetched<>(each, "3", 1))));
        }
    }

    /** Deletes a bundle. */
    public void remove(String name) {
        GenericKubernetesResource last = bundles.remove(name);
        cache.remove(KIND, "", name);
        if (last != null) {
            watches.forEach(watch -> watch.accept(new WatchEvent.Deleted<>(new Fetched<>(last, "3", 1))));
        }
    }

    /** Has the reads of a bundle fail. */
    public void fail(String name, FailureReason reason) {
        cache.fail(KIND, "", name, reason);
    }

    /** Returns the names of the bundles that pods hold by name. */
    public List<String> held() {
        return cache.entries().stream().map(entry -> entry.key().name()).toList();
    }

    @Override
    public CompletableFuture<Optional<ObjectKind<GenericKubernetesResource>>> kind() {
        questions.incrementAndGet();
        return answer;
    }

    @Override
    @SuppressWarnings("unchecked") // a proxy has no type arguments
    public Manager<GenericKubernetesResource> named(ObjectKind<GenericKubernetesResource> kind) {
        Manager<GenericKubernetesResource> manager = cache.objects(kind);
        return (Manager<GenericKubernetesResource>) Proxy.newProxyInstance(
                Manager.class.getClassLoader(), new Class<?>[] {Manager.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("register")
                            && failingRegistrations.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
                        throw new IllegalStateException("register fails for the test");
                    }
                    try {
                        return method.invoke(manager, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Override
    public ListerWatcher<GenericKubernetesResource> all(ObjectKind<GenericKubernetesResource> kind) {
        return new AllBundles();
    }

    private final class AllBundles implements ListerWatcher<GenericKubernetesResource> {

        @Override
        public CompletableFuture<Listed<GenericKubernetesResource>> list(Duration timeout) {
            lists.incrementAndGet();
            ImmutableList<Fetched<GenericKubernetesResource>> items = bundles.values().stream()
                    .map(bundle -> new Fetched<>(bundle, "1", 1))
                    .collect(ImmutableList.toImmutableList());
            return CompletableFuture.completedFuture(new Listed<>(items, "1"));
        }

        @Override
        public WatchHandle watch(
                String resourceVersion,
                Duration serverTimeout,
                Consumer<WatchEvent<GenericKubernetesResource>> events) {
            watches.add(events);
            events.accept(new WatchEvent.Opened<>());
            return () -> watches.remove(events);
        }
    }

    @Override
    public void close() {
        cache.close();
    }
}
