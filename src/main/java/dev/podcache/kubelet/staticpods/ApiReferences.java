package dev.podcache.kubelet.staticpods;

import dev.podcache.pod.PodReferences;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeProjection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds what a pod needs from the API server. Follows {@code HasAPIObjectReference} of {@code pkg/api/pod/util.go}. Pure
 * functions.
 */
final class ApiReferences {

    private static final String SERVICE_ACCOUNTS = "service accounts";
    private static final String CLAIMS = "persistent volume claims";

    private ApiReferences() {}

    /** Returns a kind of object that the pod refers to, for people; null if it refers to none. */
    static @Nullable String first(Pod pod) {
        PodSpec spec = pod.getSpec();
        if (isSet(spec.getServiceAccountName()) || isSet(spec.getServiceAccount())) {
            return SERVICE_ACCOUNTS;
        }
        if (!PodReferences.secrets(pod).isEmpty()) {
            return "Secrets";
        }
        if (!PodReferences.configMaps(pod).isEmpty()) {
            return "ConfigMaps";
        }
        if (!spec.getResourceClaims().isEmpty()) {
            return "resource claims";
        }
        return spec.getVolumes().stream()
                .map(ApiReferences::of)
                .filter(kind -> kind != null)
                .findFirst()
                .orElse(null);
    }

    private static @Nullable String of(Volume volume) {
        if (volume.getPersistentVolumeClaim() != null || volume.getEphemeral() != null) {
            return CLAIMS;
        }
        if (volume.getCsi() != null) {
            return "CSI drivers";
        }
        if (volume.getGlusterfs() != null) {
            return "endpoints";
        }
        List<VolumeProjection> sources = volume.getProjected() == null
                ? List.of()
                : volume.getProjected().getSources();
        for (VolumeProjection source : sources) {
            if (source.getServiceAccountToken() != null) {
                return SERVICE_ACCOUNTS;
            }
            if (source.getClusterTrustBundle() != null) {
                return "cluster trust bundles";
            }
            if (source.getPodCertificate() != null) {
                return "pod certificates";
            }
        }
        return null;
    }

    private static boolean isSet(@Nullable String name) {
        return name != null && !name.isEmpty();
    }
}
