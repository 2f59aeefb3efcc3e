package dev.podcache.kubelet.podconfig;

import io.fabric8.kubernetes.api.model.Pod;

/** All that one container or one volume can draw on. For one thread. */
record Ingredients(PodObjects objects, DownwardFields fields, ContainerResources resources, Subject subject) {

    static Ingredients of(PodObjects.Sources sources, Pod pod, PodPlacement placement, Subject subject) {
        return new Ingredients(
                new PodObjects(sources, pod.getMetadata().getNamespace(), subject),
                new DownwardFields(pod, placement, subject),
                new ContainerResources(pod, placement, subject),
                subject);
    }
}
