package dev.podcache.kubelet.podconfig;

import com.google.common.collect.ImmutableSet;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.manager.Manager;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.PodKey;
import dev.podcache.pod.PodReferences;
import dev.podcache.pod.TrustBundleReferences;
import dev.podcache.reflector.Recovery;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.ClusterTrustBundleProjection;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.LabelSelector;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The ClusterTrustBundles that registered pods project into volumes: by name, from a cache of exactly these, or by signer and
 * labels, from a watch of all that begins with the first such pod. Before the first pod that projects one, nothing is asked of the
 * server. Thread-safe.
 *
 * <p>Follows the kubelet's {@code pkg/kubelet/clustertrustbundle}, with its messages. Which version the server serves is asked
 * when a pod needs it, and at most every ten seconds while it serves none.
 */
public final class TrustBundles implements AutoCloseable {

    /*
     * `uses` says what each pod needs. Who changes it, or learns what is served, carries out for a pod what `uses` says then, and
     * looks again afterwards: so the last change wins, whoever carries it out, and no lock is held meanwhile.
     */

    private static final Logger log = LoggerFactory.getLogger(TrustBundles.class);

    /** The field of a bundle's spec with its certificates. */
    static final String CONTENT = "trustBundle";

    private static final String RESOURCE = "clustertrustbundle.certificates.k8s.io";
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);
    private static final Duration ASK_AGAIN = Duration.ofSeconds(10);
    private static final byte[] EMPTY = {};

    private final TrustBundleSource source;
    private final Recovery recovery;
    private final Timekeeper timekeeper;
    private final BundleEvents events;
    private final Map<String, PodUse> uses = new ConcurrentHashMap<>(); // by UID
    private @Nullable CompletableFuture<Optional<ServedBundles>> asked; // guarded by this, like the next two
    private long askedNanos;
    private boolean closed;
    private volatile @Nullable ServedBundles served;

    /** Receives what happens. No method may block. */
    public interface BundleEvents {

        /** The server serves ClusterTrustBundles, and these are the ones that pods name. Called at most once. */
        void found(Manager<GenericKubernetesResource> named);

        /** What a pod projects by signer may have changed. */
        void changed(String podUid);
    }

    private record PodUse(PodKey pod, Set<ObjectKey> names, Set<String> signers) {}

    private record ServedBundles(Manager<GenericKubernetesResource> named, SignedBundles signed) {}

    /**
     * Makes an instance that knows no pod.
     *
     * @param recovery shared by all reflectors of the server
     */
    public TrustBundles(TrustBundleSource source, Recovery recovery, Timekeeper timekeeper, BundleEvents events) {
        this.source = source;
        this.recovery = recovery;
        this.timekeeper = timekeeper;
        this.events = events;
    }

    /** Returns a text of the spec of a bundle; "" if it is missing or no text. */
    static String text(GenericKubernetesResource bundle, String field) {
        return bundle.getAdditionalProperties().get("spec") instanceof Map<?, ?> spec
                        && spec.get(field) instanceof String text
                ? text
                : "";
    }

    /**
     * Notes which bundles a pod projects, from now on these and no others. Called at each sync of the pod. Returns at once.
     *
     * @throws RuntimeException what the cache of bundles threw; the next call tries again, and {@link #unregister} releases what
     *     the pod had before
     */
    public void register(Pod pod) {
        PodUse use = use(pod);
        String uid = use.pod.uid();
        if (use.names.isEmpty() && use.signers.isEmpty()) {
            release(uid);
        } else if (!use.equals(uses.put(uid, use))) {
            ServedBundles known = served;
            if (known == null) {
                ask();
            } else {
                carryOut(known, uid);
            }
        }
    }

    /** Releases what a pod projects. Returns at once. */
    public void unregister(Pod pod) {
        release(PodReferences.key(pod).uid());
    }

    private void release(String uid) {
        PodUse before = uses.remove(uid);
        ServedBundles known = served;
        if (before != null && known != null) {
            known.named.unregister(before.pod);
            carryOut(known, uid);
        }
    }

    private void carryOut(ServedBundles known, String uid) {
        PodUse use = uses.get(uid);
        while (use != null) {
            try {
                known.named.register(use.pod, use.names);
                if (!use.signers.isEmpty()) {
                    known.signed.follow();
                }
            } catch (RuntimeException | Error e) {
                // the next sync of the pod tries again; until then, the pod may still hold what it had before
                uses.replace(uid, use, new PodUse(use.pod, Set.of(), Set.of()));
                throw e;
            }
            PodUse now = uses.get(uid);
            if (now == null) {
                known.named.unregister(use.pod);
            }
            if (Objects.equals(now, use)) {
                return;
            }
            use = now;
        }
    }

    private static PodUse use(Pod pod) {
        TrustBundleReferences references = TrustBundleReferences.of(pod.getSpec());
        Set<ObjectKey> names =
                references.names().stream().map(name -> ObjectKey.of("", name)).collect(ImmutableSet.toImmutableSet());
        return new PodUse(PodReferences.key(pod), names, references.signers());
    }

    /** Returns what the server is found to serve; asks it, unless it was asked just now. */
    private CompletableFuture<Optional<ServedBundles>> ask() {
        CompletableFuture<Optional<ServedBundles>> question = new CompletableFuture<>();
        synchronized (this) {
            if (closed) {
                return CompletableFuture.completedFuture(Optional.empty());
            }
            ServedBundles known = served;
            if (known != null) {
                // whatever failed after the answer must not be the answer for ever
                return CompletableFuture.completedFuture(Optional.of(known));
            }
            if (asked != null && (!asked.isDone() || isFreshLocked())) {
                return asked;
            }
            asked = question;
            askedNanos = timekeeper.nanoTime();
        }
        CompletableFuture.completedFuture(source)
                .thenCompose(TrustBundleSource::kind)
                .thenApply(kind -> kind.map(this::found))
                .whenComplete((found, failure) -> {
                    if (failure == null) {
                        question.complete(found);
                    } else {
                        question.completeExceptionally(ApiServerException.causeOf(failure));
                    }
                });
        return question;
    }

    private boolean isFreshLocked() {
        return timekeeper.nanoTime() - askedNanos < ASK_AGAIN.toNanos();
    }

    private ServedBundles found(ObjectKind<GenericKubernetesResource> kind) {
        ServedBundles found = new ServedBundles(
                source.named(kind), new SignedBundles(source.all(kind), recovery, this::signersChanged));
        synchronized (this) {
            if (closed) {
                throw new IllegalStateException("closed");
            }
            served = found;
        }
        guarded("the receiver of what is served", () -> events.found(found.named));
        uses.keySet().forEach(uid -> guarded("the pod with UID " + uid, () -> carryOut(found, uid)));
        return found;
    }

    /** One that throws must not keep the others from their bundles. */
    private static void guarded(String who, Runnable call) {
        try {
            call.run();
        } catch (RuntimeException | Error e) {
            log.error("cannot give ClusterTrustBundles to {}; continuing", who, e);
        }
    }

    private void signersChanged(Set<String> signers) {
        uses.forEach((uid, use) -> {
            if (!Collections.disjoint(use.signers, signers)) {
                events.changed(uid);
            }
        });
    }

    /**
     * Returns the content of the file that a projection asks for. Blocks while the object is read, and at most ten seconds until
     * it is known whether the server has such objects, and all of them are listed once.
     *
     * @throws PodConfigException if it is not available now
     */
    byte[] content(ClusterTrustBundleProjection projection, ConfigTarget target) {
        boolean optional = Boolean.TRUE.equals(projection.getOptional());
        if (projection.getName() != null) {
            return named(projection.getName(), optional, target);
        }
        if (projection.getSignerName() != null) {
            return ofSigner(projection.getSignerName(), projection.getLabelSelector(), optional, target);
        }
        throw target.failure("clusterTrustBundle of a projected volume has neither name nor signerName");
    }

    private byte[] named(String name, boolean optional, ConfigTarget target) {
        String doing = "while getting ClusterTrustBundle: ";
        try {
            GenericKubernetesResource bundle = require(target).named.getObject("", name);
            return TrustAnchors.merged(List.of(text(bundle, CONTENT)));
        } catch (NotFound e) {
            // the server is asked again and has not answered yet: a new watch of the object, or a fetch
            boolean unconfirmed = e.getCause() instanceof ObjectUnavailableException;
            if (optional && !unconfirmed) {
                return EMPTY;
            }
            throw target.failure(doing + (unconfirmed ? e.getMessage() : RESOURCE + " \"" + name + "\" not found"), e);
        } catch (ObjectUnavailableException e) {
            throw target.failure(doing + e.getMessage(), e);
        } catch (IllegalArgumentException e) {
            throw target.failure(doing + "invalid name: " + e.getMessage(), e);
        }
    }

    private byte[] ofSigner(String signer, @Nullable LabelSelector selector, boolean optional, ConfigTarget target) {
        SignedBundles signed = require(target).signed;
        signed.follow();
        if (!isDone(signed.synced())) {
            throw target.failure("ClusterTrustBundle informer has not yet synced");
        }
        List<String> bundles;
        try {
            bundles = signed.of(signer, selector);
        } catch (IllegalArgumentException e) {
            throw target.failure("while parsing label selector: " + e.getMessage(), e);
        }
        if (bundles.isEmpty() && !optional) {
            throw target.failure("combination of signerName and labelSelector matched zero ClusterTrustBundles");
        }
        return TrustAnchors.merged(bundles);
    }

    private ServedBundles require(ConfigTarget target) {
        CompletableFuture<Optional<ServedBundles>> answer = ask();
        try {
            if (!isDone(answer)) {
                throw target.failure("failed to ensure informer manager for ClusterTrustBundles: the API server has not"
                        + " said whether it has them");
            }
            return answer.join()
                    .orElseThrow(() -> target.failure("ClusterTrustBundle projection is not supported: the API server"
                            + " does not serve clustertrustbundles of certificates.k8s.io"));
        } catch (CompletionException e) {
            throw target.failure(
                    "failed to ensure informer manager for ClusterTrustBundles: " + ApiServerException.describe(e), e);
        }
    }

    private boolean isDone(CompletableFuture<?> answer) {
        try {
            return timekeeper.await(answer, LONGEST_WAIT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Ends the watch. What was read stays. Idempotent. */
    @Override
    public void close() {
        ServedBundles known;
        synchronized (this) {
            closed = true;
            known = served;
        }
        if (known != null) {
            known.signed.close();
        }
    }
}
