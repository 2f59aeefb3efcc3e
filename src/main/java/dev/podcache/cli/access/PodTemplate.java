package dev.podcache.cli.access;

import com.google.common.collect.ImmutableList;
import dev.podcache.kubelet.podconfig.ServiceAccountTokens;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Quoted;
import dev.podcache.object.Reference;
import dev.podcache.object.Usage;
import dev.podcache.pod.ReferencePath;
import dev.podcache.pod.ReferencePaths;
import dev.podcache.pod.TrustBundleReferences;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.util.List;
import java.util.Optional;

/**
 * A pod, or the template of a workload's pods.
 *
 * @param kind such as {@code Deployment}
 * @param key the namespace and name of the pod or workload
 * @param path the path of the spec in its manifest, such as {@code spec.template.spec}
 */
record PodTemplate(String kind, ObjectKey key, String path, PodSpec spec) {

    /** The ConfigMap that every pod with a ServiceAccount token mounts. */
    private static final String ROOT_CERTIFICATE = "kube-root-ca.crt";

    private static final String TOKEN_VOLUME = "added by the API server, in the volume kube-api-access";

    /**
     * Returns every place that names an object. Includes the ConfigMap that the API server adds to a pod which does not
     * refuse a ServiceAccount token.
     */
    List<ReferencePath> references() {
        List<ReferencePath> written = ReferencePaths.of(spec, key.namespace(), path);
        ReferencePath added = new ReferencePath(
                ObjectKind.CONFIG_MAP,
                new Reference(ObjectKey.of(key.namespace(), ROOT_CERTIFICATE), Usage.VOLUME),
                TOKEN_VOLUME,
                false);
        boolean refused = Boolean.FALSE.equals(spec.getAutomountServiceAccountToken());
        boolean present = written.stream()
                .anyMatch(path -> path.reference().equals(added.reference())
                        && path.kind().equals(added.kind()));
        return refused || present
                ? written
                : ImmutableList.<ReferencePath>builder()
                        .addAll(written)
                        .add(added)
                        .build();
    }

    /**
     * Returns the ServiceAccount whose tokens an agent requests for such pods; empty if they have no token. A pod that does not
     * refuse one gets it from the API server.
     */
    Optional<ObjectKey> tokenAccount() {
        boolean automatic = !Boolean.FALSE.equals(spec.getAutomountServiceAccountToken());
        boolean projected = spec.getVolumes().stream()
                .filter(volume -> volume.getProjected() != null)
                .flatMap(volume -> volume.getProjected().getSources().stream())
                .anyMatch(source -> source.getServiceAccountToken() != null);
        return automatic || projected
                ? Optional.of(ObjectKey.of(key.namespace(), ServiceAccountTokens.account(spec)))
                : Optional.empty();
    }

    /** Returns the trust bundles that an agent reads for such pods. */
    TrustBundleReferences trustBundles() {
        return TrustBundleReferences.of(spec);
    }

    /** Returns kind, namespace and name, on one line. */
    @Override
    public String toString() {
        return Quoted.text(kind + " " + key);
    }
}
