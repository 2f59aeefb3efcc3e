package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.podconfig.ContainerEnvironment;
import dev.podcache.kubelet.podconfig.ImagePullSecrets;
import dev.podcache.kubelet.podconfig.PodPlacement;
import dev.podcache.kubelet.podconfig.ServiceLister;
import dev.podcache.kubelet.podconfig.VolumePayloads;
import dev.podcache.kubelet.runtime.Launch;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.manager.Manager;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Volume;
import java.util.List;
import java.util.Map;

/** The configuration that registered pods get from Secrets, ConfigMaps and Services. Thread-safe. */
public final class PodConfiguration {

    private final Manager<Secret> secrets;
    private final Manager<ConfigMap> configMaps;
    private final ContainerEnvironment environments;
    private final VolumePayloads volumes;
    private final ImagePullSecrets pullSecrets;

    /**
     * Creates a configuration on these sources, which it does not close.
     *
     * @param events receives a warning event if pull secrets of a pod are unavailable
     */
    public PodConfiguration(
            Manager<Secret> secrets, Manager<ConfigMap> configMaps, ServiceLister services, EventRecorder events) {
        this.secrets = secrets;
        this.configMaps = configMaps;
        this.environments = new ContainerEnvironment(secrets, configMaps, services);
        this.volumes = new VolumePayloads(secrets, configMaps);
        this.pullSecrets = new ImagePullSecrets(secrets, events);
    }

    void register(Pod pod) {
        secrets.registerPod(pod);
        configMaps.registerPod(pod);
    }

    void unregister(Pod pod) {
        secrets.unregisterPod(pod);
        configMaps.unregisterPod(pod);
    }

    Launch launch(Pod pod, Container container, PodPlacement placement, int restartCount) {
        Map<String, String> environment =
                environments.of(pod, container, placement).variables();
        // read after the environment: each read of an unavailable pull secret records an event
        return new Launch(List.of(), List.of(), "", environment, List.of(), pullSecrets.of(pod), restartCount);
    }

    Map<String, VolumeFile> volume(Pod pod, Volume volume, PodPlacement placement) {
        return volumes.of(pod, volume, placement);
    }
}
