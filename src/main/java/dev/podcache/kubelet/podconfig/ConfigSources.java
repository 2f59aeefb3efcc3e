package dev.podcache.kubelet.podconfig;

import io.fabric8.kubernetes.api.model.Pod;

/** The sources that the configuration of one container or volume can refer to. Not thread-safe. */
record ConfigSources(PodObjects objects, DownwardFields fields, ContainerResources resources, ConfigTarget target) {

    static ConfigSources of(PodObjects.PodManagers managers, Pod pod, PodPlacement placement, ConfigTarget target) {
        return new ConfigSources(
                new PodObjects(managers, pod.getMetadata().getNamespace(), target),
                new DownwardFields(pod, placement, target),
                new ContainerResources(pod, placement, target),
                target);
    }
}
