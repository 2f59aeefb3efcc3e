package dev.podcache.kubelet.podconfig;

import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.manager.Manager;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Volume;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Resolves the files of volumes whose content comes from Secrets, ConfigMaps or the pod itself: volumes of kind {@code
 * secret}, {@code configMap}, {@code downwardAPI} and {@code projected}, which combines the other three with tokens and trust
 * bundles. Thread-safe.
 *
 * <p>If a reference is {@code optional}, its object, or a key in it, may be missing. An object counts as missing only
 * if the API server reported that it does not exist, not if the request failed.
 *
 * <p>Tokens of a projected {@code serviceAccountToken} come from {@link ServiceAccountTokens}, and the certificates of a
 * {@code clusterTrustBundle} from {@link TrustBundles}. A projected {@code podCertificate} is rejected.
 *
 * <p>Follows {@code MakePayload} of the kubelet's {@code pkg/volume/secret} and {@code configmap}, and {@code
 * collectData} of {@code pkg/volume/projected} and {@code downwardapi}. {@link VolumeDirectory} writes the
 * files.
 */
public final class VolumePayloads {

    private final PodObjects.PodManagers managers;
    private final ServiceAccountTokens tokens;
    private final TrustBundles bundles;

    /**
     * Creates a resolver on these sources, which it does not close.
     *
     * @param secrets the Secrets of all pods that are registered with it
     * @param configMaps the ConfigMaps of all pods that are registered with it
     * @param tokens the tokens of the pods' ServiceAccounts
     * @param bundles the ClusterTrustBundles of all pods that are registered with it
     */
    public VolumePayloads(
            Manager<Secret> secrets, Manager<ConfigMap> configMaps, ServiceAccountTokens tokens, TrustBundles bundles) {
        this.managers = new PodObjects.PodManagers(secrets, configMaps);
        this.tokens = tokens;
        this.bundles = bundles;
    }

    /** Returns whether {@code volume} is of a kind that {@link #of} supports. */
    public static boolean isMadeHere(Volume volume) {
        return volume.getSecret() != null
                || volume.getConfigMap() != null
                || volume.getDownwardAPI() != null
                || volume.getProjected() != null;
    }

    /**
     * Resolves all volumes of {@code pod} whose content is made here. Other volumes are the runtime's: they are left
     * out if {@code madeByRuntime} accepts them, and fail otherwise with a message that names their type. Blocks as
     * {@link #of(Pod, Volume, PodPlacement)} does, for one volume after the other.
     *
     * @param pod the pod as the API server returned it, with metadata and spec; neither kept nor modified
     * @param placement the node's facts about the pod
     * @param madeByRuntime returns whether the runtime makes a volume itself
     */
    public PodVolumes of(Pod pod, PodPlacement placement, Predicate<Volume> madeByRuntime) {
        Map<String, Map<String, VolumeFile>> files = new LinkedHashMap<>();
        Map<String, PodConfigException> failures = new LinkedHashMap<>();
        for (Volume volume : Nullables.orEmpty(pod.getSpec().getVolumes())) {
            try {
                if (isMadeHere(volume)) {
                    files.put(volume.getName(), of(pod, volume, placement));
                } else if (!madeByRuntime.test(volume)) {
                    throw ConfigTarget.volume(volume.getName())
                            .failure("volumes of type " + VolumeTypes.of(volume) + " are not supported on this node");
                }
            } catch (PodConfigException e) {
                failures.put(volume.getName(), e);
            }
        }
        return new PodVolumes(files, failures);
    }

    /**
     * Returns the files of {@code volume} by path. Paths are relative, separated by {@code /}, and contain no {@code .}
     * or {@code ..}. Calls {@link Manager#getObject} once for each object that the volume refers to, and blocks as long
     * as these calls and requests for tokens do.
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
        PayloadAssembly assembly = new PayloadAssembly(
                ConfigSources.of(managers, pod, placement, target), new TokenFiles(tokens, bundles, pod));
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
