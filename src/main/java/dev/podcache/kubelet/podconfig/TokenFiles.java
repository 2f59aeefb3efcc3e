package dev.podcache.kubelet.podconfig;

import com.google.common.collect.Iterables;
import dev.podcache.kubelet.runtime.VolumeFile;
import io.fabric8.kubernetes.api.model.ClusterTrustBundleProjection;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSecurityContext;
import io.fabric8.kubernetes.api.model.SecurityContext;
import io.fabric8.kubernetes.api.model.ServiceAccountTokenProjection;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Makes the files of a pod's ServiceAccount tokens and trust bundles. Follows {@code collectData} of the kubelet's {@code
 * pkg/volume/projected} and {@code FsUserFrom} of {@code pkg/volume/util}.
 */
record TokenFiles(ServiceAccountTokens tokens, TrustBundles bundles, Pod pod) {

    private static final int ONLY_OWNER = 0600;

    /**
     * Returns the file of a token. If the pod has an fsGroup, or if all its containers run as one user, only the owner
     * may read it.
     *
     * @throws PodConfigException if there is no valid token
     */
    VolumeFile file(ServiceAccountTokenProjection projection, int defaultMode, ConfigTarget target) {
        return file(tokens.of(pod, projection, target).getBytes(StandardCharsets.UTF_8), defaultMode);
    }

    /**
     * Returns the file of a trust bundle, with the permissions of a token.
     *
     * @throws PodConfigException if the bundle is not available now
     */
    VolumeFile file(ClusterTrustBundleProjection projection, int defaultMode, ConfigTarget target) {
        return file(bundles.content(projection, target), defaultMode);
    }

    private VolumeFile file(byte[] content, int defaultMode) {
        Long user = user();
        if (user != null) {
            return VolumeFile.of(content, ONLY_OWNER).ownedBy(user);
        }
        PodSecurityContext context = pod.getSpec().getSecurityContext();
        boolean hasGroup = context != null && context.getFsGroup() != null;
        return VolumeFile.of(content, hasGroup ? ONLY_OWNER : defaultMode);
    }

    /** Returns the user of all containers, or null if one container has no user or another user. */
    private @Nullable Long user() {
        Long common = null;
        for (Container container : Iterables.concat(
                Nullables.orEmpty(pod.getSpec().getInitContainers()),
                Nullables.orEmpty(pod.getSpec().getContainers()))) {
            Long user = user(container);
            if (user == null || (common != null && !common.equals(user))) {
                return null;
            }
            common = user;
        }
        return common;
    }

    private @Nullable Long user(Container container) {
        SecurityContext own = container.getSecurityContext();
        if (own != null && own.getRunAsUser() != null) {
            return own.getRunAsUser();
        }
        PodSecurityContext context = pod.getSpec().getSecurityContext();
        return context == null ? null : context.getRunAsUser();
    }
}
