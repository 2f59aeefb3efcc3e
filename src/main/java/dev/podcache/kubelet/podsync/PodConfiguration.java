package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.podconfig.ContainerConfiguration;
import dev.podcache.kubelet.podconfig.ImagePullSecrets;
import dev.podcache.kubelet.podconfig.PodPlacement;
import dev.podcache.kubelet.podconfig.PodVolumes;
import dev.podcache.kubelet.podconfig.ServiceAccountTokens;
import dev.podcache.kubelet.podconfig.ServiceLister;
import dev.podcache.kubelet.podconfig.TrustBundles;
import dev.podcache.kubelet.podconfig.VolumePayloads;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.LocalVolumes;
import dev.podcache.manager.Manager;
import dev.podcache.pod.PodReferences;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The configuration that registered pods get from Secrets, ConfigMaps, Services, tokens and trust bundles. Thread-safe. */
public final class PodConfiguration {

    private final Manager<Secret> secrets;
    private final Manager<ConfigMap> configMaps;
    private final ServiceAccountTokens tokens;
    private final TrustBundles bundles;
    private final ContainerConfiguration containers;
    private final VolumePayloads payloads;
    private final ImagePullSecrets pullSecrets;

    /**
     * Creates a configuration on these sources, which it does not close.
     *
     * @param clusterDomain the end of the full names of pods; "" for no full names
     * @param volumes where the files of {@code fileKeyRef} are
     * @param events receives a warning event if pull secrets of a pod are unavailable
     */
    public PodConfiguration(
            Manager<Secret> secrets,
            Manager<ConfigMap> configMaps,
            ServiceLister services,
            ServiceAccountTokens tokens,
            TrustBundles bundles,
            String clusterDomain,
            LocalVolumes volumes,
            EventRecorder events) {
        this.secrets = secrets;
        this.configMaps = configMaps;
        this.tokens = tokens;
        this.bundles = bundles;
        this.containers = new ContainerConfiguration(secrets, configMaps, services, clusterDomain, volumes);
        this.payloads = new VolumePayloads(secrets, configMaps, tokens, bundles);
        this.pullSecrets = new ImagePullSecrets(secrets, events);
    }

    void register(Pod pod) {
        secrets.registerPod(pod);
        configMaps.registerPod(pod);
        bundles.register(pod);
    }

    void unregister(Pod pod) {
        secrets.unregisterPod(pod);
        configMaps.unregisterPod(pod);
        bundles.unregister(pod);
        tokens.forget(PodReferences.key(pod));
    }

    Launch launch(Pod pod, Container container, PodPlacement placement, int restartCount) {
        return containers.launch(pod, container, placement, pullSecrets.of(pod), restartCount);
    }

    /** Returns the Secrets to pull images with that are available. */
    List<Secret> pullSecrets(Pod pod) {
        return pullSecrets.of(pod);
    }

    /** Returns the volumes that are made here; the runtime makes volumes of other types. */
    PodVolumes volumes(Pod pod, PodPlacement placement) {
        return payloads.of(pod, placement, volume -> true);
    }

    /** Returns when the volumes must be written again because a token expires; empty if none does. */
    Optional<Duration> nextChange(Pod pod) {
        return tokens.nextRenewal(pod);
    }
}
