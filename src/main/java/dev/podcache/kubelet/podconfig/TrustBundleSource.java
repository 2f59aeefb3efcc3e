package dev.podcache.kubelet.podconfig;

import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.manager.Manager;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Where the ClusterTrustBundles of an API server are read. Thread-safe. */
public interface TrustBundleSource {

    /**
     * Asks the server which version of ClusterTrustBundles it serves. Returns at once.
     *
     * @return the kind in the newest of them; empty if it serves none; exceptionally an {@link
     *     dev.podcache.apiserver.ApiServerException} if that is not known
     */
    CompletableFuture<Optional<ObjectKind<GenericKubernetesResource>>> kind();

    /**
     * Returns the manager of those that pods name.
     *
     * @throws IllegalStateException if the cache is closed
     */
    Manager<GenericKubernetesResource> named(ObjectKind<GenericKubernetesResource> kind);

    /** Returns what lists and watches all of them. */
    ListerWatcher<GenericKubernetesResource> all(ObjectKind<GenericKubernetesResource> kind);
}
