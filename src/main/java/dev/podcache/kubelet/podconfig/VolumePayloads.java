package dev.podcache.kubelet.podconfig;

import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.manager.Manager;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Volume;
import java.util.Map;

/**
 * Resolves the files of volumes whose content comes from Secrets, ConfigMaps or the pod itself: volumes of kind {@code
 * secret}, {@code configMap}, {@code downwardAPI} and {@code projected}, which combines the other three. Thread-safe.
 *
 * <p>If a reference is {@code optional}, its object, or a key in it, may be missing. An object counts as missing only
 * if the API server reported that it does not exist, not if the request failed.
 *
 * <p>Files of a projected {@code serviceAccountToken} are omitted, because Podcache requests no tokens. Nearly every
 * pod has such a volume, and its other files are useful without the token; a container runtime can add a token of its
 * own. A projected {@code clusterTrustBundle} or {@code podCertificate} is rejected, because a pod that requests one
 * depends on it.
 *
 * <p>Follows {@code MakePayload} of the kubelet's {@code pkg/volume/secret} and {@code configmap}, and {@code
 * collectData} of {@code pkg/volume/projected} and {@code downwardapi}. The writer of the files must set their group
 * ({@code fsGroup}).
 */
public final class VolumePayloads {

    private final PodObjects.PodManagers managers;

    /**
     * Creates a resolver on these managers, which it does not close.
     *
     * @param secrets the Secrets of all pods that are registered with it
     * @param configMaps the ConfigMaps of all pods that are registered with it
     */
    public VolumePayloads(Manager<Secret> secrets, Manager<ConfigMap> configMaps) {
        this.managers = new PodObjects.PodManagers(secrets, configMaps);
    }

    /** Returns whether {@code volume} is of a kind that {@link #of} supports. */
    public static boolean isMadeHere(Volume volume) {
        return volume.getSecret() != null
                || volume.getConfigMap() != null
                || volume.getDownwardAPI() != null
                || volume.getProjected() != null;
    }

    /**
     * Returns the files of {@code volume} by path. Paths are relative, separated by {@code /}, and contain no {@code .}
     * or {@code ..}. Calls {@link Manager#getObject} once for each object that the volume refers to, and blocks as long
     * as these calls do.
     *
     * @param pod the pod as the API server returned it, with metadata and spec; neither kept nor modified
     * @param volume a volume of the pod
     * @param placement the node's facts about the pod
     * @return the files in the order of the volume's sources; unmodifiable
     * @throws PodConfigException if the volume cannot be filled now; for a projected volume, the message names the
     *     failures of all its sources
     * @throws IllegalArgumentException if {@code volume} is of another kind, see {@link #isMadeHere}
     */
    public Map<String, VolumeFile> of(Pod pod, Volume volume, PodPlacement placement) {
        ConfigTarget target = ConfigTarget.volume(volume.getName());
        PayloadAssembly assembly = new PayloadAssembly(ConfigSources.of(managers, pod, placement, target));
        if (volume.getSecret() != null) {
            assembly.add(volume.getSecret());
        } else if (volume.getConfigMap() != null) {
            assembly.add(volume.getConfigMap());
        } else if (volume.getDownwardAPI() != null) {
            assembly.add(volume.getDownwardAPI());
        } else if (volume.getProjected() != null) {
            assembly.add(volume.getProjected());
        } else {
            throw new IllegalArgumentException(
                    "volume " + volume.getName() + " must be of kind secret, configMap, downwardAPI or projected");
        }
        return assembly.payload();
    }
}
