package dev.podcache.kubelet.podconfig;

import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.manager.Manager;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Volume;

/**
 * Makes the files of volumes that come from Secrets, ConfigMaps and the pod itself: {@code secret}, {@code configMap},
 * {@code downwardAPI}, and {@code projected}, which is several of these in one. Thread-safe.
 *
 * <p>An object that is {@code optional} may be missing, and so may its keys; but only that the server knows of none is
 * forgiven, not that it could not be asked.
 *
 * <p>Of a projected volume, the file of a {@code serviceAccountToken} is left out, because Podcache requests
 * no tokens: nearly every pod has one, and all else in such a volume is of use without it. Who runs containers
 * adds it, with a token of its own. A {@code clusterTrustBundle} or {@code podCertificate} is refused: who
 * asks for one cannot do without.
 *
 * <p>Follows {@code MakePayload} of the kubelet's {@code pkg/volume/secret} and {@code configmap}, and
 * {@code collectData} of {@code pkg/volume/projected} and {@code downwardapi}; owners of files ({@code
 * fsGroup}) are left to who writes them.
 */
public final class VolumePayloads {

    private final PodObjects.Sources sources;

    /**
     * Payloads from these managers, which are not closed here.
     *
     * @param secrets with which the pods are registered before
     * @param configMaps the same
     */
    public VolumePayloads(Manager<Secret> secrets, Manager<ConfigMap> configMaps) {
        this.sources = new PodObjects.Sources(secrets, configMaps);
    }

    /** Whether {@code volume} is of a kind that has a payload. */
    public static boolean isMadeHere(Volume volume) {
        return volume.getSecret() != null
                || volume.getConfigMap() != null
                || volume.getDownwardAPI() != null
                || volume.getProjected() != null;
    }

    /**
     * The files of {@code volume}, by their paths: relative, without {@code .} and {@code ..}, separated by {@code /}.
     * Blocks as long as the managers' {@link Manager#getObject} does, once for each object that the volume refers to.
     *
     * @param pod as the API server returned it, with metadata and spec; neither kept nor modified
     * @param volume one of its volumes
     * @param placement where the pod runs
     * @throws PodConfigException why the volume cannot be filled now; of a projected volume,
     *     the reasons of all its sources
     * @throws IllegalArgumentException if {@code volume} is of another kind, see {@link #isMadeHere}
     */
    public ImmutableMap<String, VolumeFile> of(Pod pod, Volume volume, PodPlacement placement) {
        Subject subject = Subject.volume(volume.getName());
        PayloadAssembly assembly = new PayloadAssembly(Ingredients.of(sources, pod, placement, subject));
        if (volume.getSecret() != null) {
            assembly.add(volume.getSecret());
        } else if (volume.getConfigMap() != null) {
            assembly.add(volume.getConfigMap());
        } else if (volume.getDownwardAPI() != null) {
            assembly.add(volume.getDownwardAPI());
        } else if (volume.getProjected() != null) {
            assembly.add(volume.getProjected());
        } else {
            throw new IllegalArgumentException("volume " + volume.getName()
                    + " has no payload: only secret, configMap, downwardAPI and projected volumes have one");
        }
        return assembly.payload();
    }
}
