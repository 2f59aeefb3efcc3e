package dev.podcache.kubelet.podconfig;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.object.FailureReason;
import dev.podcache.pod.LabelSelectorMatch;
import dev.podcache.reflector.Recovery;
import dev.podcache.reflector.Reflector;
import dev.podcache.reflector.ReflectorSink;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The ClusterTrustBundles that have a signer, kept up to date by a watch of all ClusterTrustBundles from {@link #follow} on, as a
 * kubelet's: RBAC can restrict no list to a signer, and not every server selects by it. Thread-safe; no method blocks.
 */
final class SignedBundles implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(SignedBundles.class);

    private final Reflector<GenericKubernetesResource> reflector;
    private final Consumer<Set<String>> changed;
    private final Map<String, SignedBundle> bundles =
            new ConcurrentHashMap<>(); // by name; written only by the reflector
    private final AtomicBoolean following = new AtomicBoolean();
    private final CompletableFuture<Void> synced = new CompletableFuture<>();

    private record SignedBundle(String signer, Map<String, String> labels, String bundle) {

        @Override
        public String toString() {
            return "trust bundle of " + signer;
        }
    }

    /** @param changed receives the signers whose bundles may have changed; must not block */
    SignedBundles(ListerWatcher<GenericKubernetesResource> all, Recovery recovery, Consumer<Set<String>> changed) {
        this.reflector = new Reflector<>(all, new BundleSink(), recovery);
        this.changed = changed;
    }

    /** Starts the watch. Idempotent. */
    void follow() {
        if (following.compareAndSet(false, true)) {
            reflector.start();
        }
    }

    /** Completes when all bundles were listed once. */
    CompletableFuture<Void> synced() {
        return synced;
    }

    /**
     * Returns the contents of the bundles of a signer whose labels are selected.
     *
     * @throws IllegalArgumentException if the selector is not legal
     */
    List<String> of(String signer, @Nullable LabelSelector selector) {
        if (selector != null) {
            // also if there is no bundle to compare it with
            LabelSelectorMatch.require(selector);
        }
        return bundles.values().stream()
                .filter(each -> LabelSelectorMatch.selects(selector, each.labels) && each.signer.equals(signer))
                .map(SignedBundle::bundle)
                .toList();
    }

    @Override
    public void close() {
        reflector.close();
    }

    /** Called by one thread at a time. */
    private final class BundleSink implements ReflectorSink<GenericKubernetesResource> {

        private boolean failing;

        @Override
        public void replace(List<Fetched<GenericKubernetesResource>> items, String resourceVersion) {
            Map<String, SignedBundle> listed = new TreeMap<>();
            items.forEach(item -> put(listed, item));
            Set<String> signers = new TreeSet<>();
            bundles.forEach((name, before) -> {
                if (!before.equals(listed.get(name))) {
                    signers.add(before.signer);
                }
            });
            listed.forEach((name, now) -> {
                if (!now.equals(bundles.get(name))) {
                    signers.add(now.signer);
                }
            });
            // puts before it removes, so that readers never miss one that exists before and after
            bundles.putAll(listed);
            bundles.keySet().retainAll(listed.keySet());
            synced.complete(null);
            tell(signers);
        }

        @Override
        public void upsert(Fetched<GenericKubernetesResource> fetched) {
            Map<String, SignedBundle> read = new TreeMap<>();
            put(read, fetched);
            String name = name(fetched);
            if (name == null) {
                return;
            }
            SignedBundle now = read.get(name);
            SignedBundle before = now == null ? bundles.remove(name) : bundles.put(name, now);
            Set<String> signers = new TreeSet<>();
            if (before != null && !before.equals(now)) {
                signers.add(before.signer);
            }
            if (now != null && !now.equals(before)) {
                signers.add(now.signer);
            }
            tell(signers);
        }

        @Override
        public void delete(Fetched<GenericKubernetesResource> last) {
            String name = name(last);
            SignedBundle before = name == null ? null : bundles.remove(name);
            tell(before == null ? Set.of() : Set.of(before.signer));
        }

        private void put(Map<String, SignedBundle> read, Fetched<GenericKubernetesResource> fetched) {
            GenericKubernetesResource object = fetched.object();
            String signer = TrustBundles.text(object, "signerName");
            String name = name(fetched);
            if (!signer.isEmpty() && name != null) {
                Map<String, String> labels = object.getMetadata().getLabels();
                read.put(
                        name,
                        new SignedBundle(
                                signer,
                                // a label may be null, which Map.copyOf refuses
                                labels == null ? Map.of() : new HashMap<>(labels),
                                TrustBundles.text(object, TrustBundles.CONTENT)));
            }
        }

        /** Returns null for what no server should send, and what is nobody's bundle. */
        private static @Nullable String name(Fetched<GenericKubernetesResource> fetched) {
            @Nullable ObjectMeta metadata = fetched.object().getMetadata();
            return metadata == null ? null : metadata.getName();
        }

        private void tell(Set<String> signers) {
            if (!signers.isEmpty()) {
                changed.accept(signers);
            }
        }

        @Override
        public void connected() {
            if (failing) {
                failing = false;
                log.info("watch of ClusterTrustBundles works again");
            }
        }

        @Override
        public void disconnected(ApiServerException cause) {
            // the reflector lists at once after 410 Gone
            if (!failing && cause.reason() != FailureReason.EXPIRED) {
                failing = true;
                log.warn("watch of ClusterTrustBundles failed; retrying: {}", cause.getMessage());
            }
        }
    }
}
