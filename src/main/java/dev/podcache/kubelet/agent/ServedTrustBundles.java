package dev.podcache.kubelet.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.kubelet.podconfig.TrustBundleSource;
import dev.podcache.manager.Manager;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * The ClusterTrustBundles of a server, as objects without a model class: not every version of fabric8 that is supported has one
 * for each version of the API. Thread-safe.
 *
 * @param named returns the manager of a kind
 */
record ServedTrustBundles(
        Fabric8ApiServer server,
        Function<ObjectKind<GenericKubernetesResource>, Manager<GenericKubernetesResource>> named)
        implements TrustBundleSource {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final String GROUP = "certificates.k8s.io/";
    private static final String PLURAL = "clustertrustbundles";

    /** A kubelet's order. */
    private static final List<String> VERSIONS = List.of("v1", "v1beta1", "v1alpha1");

    @Override
    public CompletableFuture<Optional<ObjectKind<GenericKubernetesResource>>> kind() {
        return kind(0);
    }

    private CompletableFuture<Optional<ObjectKind<GenericKubernetesResource>>> kind(int version) {
        if (version == VERSIONS.size()) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        String apiVersion = GROUP + VERSIONS.get(version);
        return serves(apiVersion)
                .thenCompose(isServed -> isServed
                        ? CompletableFuture.completedFuture(
                                Optional.of(ObjectKind.of(apiVersion, "ClusterTrustBundle", PLURAL, false)))
                        : kind(version + 1));
    }

    /** Every authenticated user may ask which resources there are. */
    private CompletableFuture<Boolean> serves(String apiVersion) {
        return server.raw("/apis/" + apiVersion, TIMEOUT)
                .thenApply(ServedTrustBundles::isListed)
                .exceptionallyCompose(failure -> ApiServerException.reasonOf(failure) == FailureReason.NOT_FOUND
                        ? CompletableFuture.completedFuture(false)
                        : CompletableFuture.failedFuture(ApiServerException.causeOf(failure)));
    }

    private static boolean isListed(byte[] answer) {
        try {
            for (JsonNode resource : JSON.readTree(answer).path("resources")) {
                if (PLURAL.equals(resource.path("name").asText())) {
                    return true;
                }
            }
            return false;
        } catch (IOException e) {
            throw new UncheckedIOException("the list of resources is no JSON", e);
        }
    }

    @Override
    public Manager<GenericKubernetesResource> named(ObjectKind<GenericKubernetesResource> kind) {
        return named.apply(kind);
    }

    @Override
    public ListerWatcher<GenericKubernetesResource> all(ObjectKind<GenericKubernetesResource> kind) {
        return server.listerWatcher(kind, "", "");
    }
}
