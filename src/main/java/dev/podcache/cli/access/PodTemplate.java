package dev.podcache.cli.access;

import com.google.common.collect.ImmutableList;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Quoted;
import dev.podcache.object.Reference;
import dev.podcache.object.Usage;
import dev.podcache.pod.ReferencePath;
import dev.podcache.pod.ReferencePaths;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.util.List;

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

    /** Returns kind, namespace and name, on one line. */
    @Override
    public String toString() {
        return Quoted.text(kind + " " + key);
    }
}
