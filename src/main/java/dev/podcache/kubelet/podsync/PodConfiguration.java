package dev.podcache.kubelet.podsync;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.podconfig.ContainerEnvironment;
import dev.podcache.kubelet.podconfig.ImagePullSecrets;
import dev.podcache.kubelet.podconfig.PodPlacement;
import dev.podcache.kubelet.podconfig.ServiceLister;
import dev.podcache.kubelet.podconfig.VolumePayloads;
import dev.podcache.kubelet.runtime.VolumeFile;
import dev.podcache.manager.Manager;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Volume;

/** What pods get from Secrets, ConfigMaps and Services, as long as they are registered. Thread-safe. */
public final class PodConfiguration {

    private final Manager<Secret> secrets;
    private final Manager<ConfigMap> configMaps;
    private final ContainerEnvironment environments;
    private final VolumePayloads volumes;
    private final ImagePullSecrets pullSecrets;

    /**
     * Configuration read through these, none of which is closed here.
     *
     * @param events told of pull secrets that are missing
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

    ImmutableMap<String, String> environment(Pod pod, Container container, PodPlacement placement) {
        return environments.of(pod, container, placement).variables();
    }

    static boolean isMadeHere(Volume volume) {
        return VolumePayloads.isMadeHere(volume);
    }

    ImmutableMap<String, VolumeFile> volume(Pod pod, Volume volume, PodPlacement placement) {
        return volumes.of(pod, volume, placement);
    }

    ImmutableList<Secret> pullSecrets(Pod pod) {
        return pullSecrets.of(pod);
    }
}
