package dev.podcache.kubelet.eviction;

import com.google.common.base.Splitter;
import dev.podcache.kubelet.host.Quantities;
import dev.podcache.kubelet.runtime.ContainerStatistics.ContainerUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.VolumeUsage;
import dev.podcache.pod.PodReferences;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;

/** Pods as upstream's tests make them, and what they use. */
final class MeasuredPods {

    static final int LOW = -1;
    static final int NORMAL = 0;
    static final int HIGH = 1;

    private MeasuredPods() {}

    /** A pod with one container of its name. Requests and limits are like {@code memory=1Gi cpu=100m}. */
    static Pod pod(String name, int priority, String requests, String limits) {
        return new PodBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName(name)
                .withUid("uid-" + name)
                .endMetadata()
                .withNewSpec()
                .withPriority(priority)
                .withContainers(container(name, requests, limits))
                .endSpec()
                .build();
    }

    static Container container(String name, String requests, String limits) {
        return new ContainerBuilder()
                .withName(name)
                .withNewResources()
                .withRequests(quantities(requests))
                .withLimits(quantities(limits))
                .endResources()
                .build();
    }

    /** Adds the volume {@code local-volume}, an emptyDir. */
    static Pod withLocalVolume(Pod pod, String medium, String sizeLimit) {
        return new PodBuilder(pod)
                .editSpec()
                .addNewVolume()
                .withName("local-volume")
                .withNewEmptyDir()
                .withMedium(medium)
                .withSizeLimit(sizeLimit.isEmpty() ? null : Quantity.parse(sizeLimit))
                .endEmptyDir()
                .endVolume()
                .endSpec()
                .build();
    }

    private static Map<String, Quantity> quantities(String text) {
        Map<String, Quantity> quantities = new LinkedHashMap<>();
        for (String pair : Splitter.on(' ').omitEmptyStrings().split(text)) {
            List<String> parts = Splitter.on('=').splitToList(pair);
            quantities.put(parts.get(0), Quantity.parse(parts.get(1)));
        }
        return quantities;
    }

    static long bytes(String quantity) {
        return quantity.isEmpty() ? 0 : Quantities.whole(Quantity.parse(quantity));
    }

    static PodUsage memory(Pod pod, String workingSet) {
        return used(pod, new ContainerUse(bytes(workingSet), 0, 0, 0, 0), 0, 0, 0);
    }

    static PodUsage processes(Pod pod, long count) {
        return used(pod, new ContainerUse(0, 0, 0, 0, 0), 0, 0, count);
    }

    /** What the container and the volume {@code local-volume} use, in bytes. */
    static PodUsage disk(Pod pod, String root, String logs, String volume) {
        return used(pod, new ContainerUse(0, bytes(logs), bytes(root), 0, 0), bytes(volume), 0, 0);
    }

    /** What the container and the volume {@code local-volume} use, in inodes. */
    static PodUsage inodes(Pod pod, String root, String logs, String volume) {
        return used(pod, new ContainerUse(0, 0, 0, bytes(logs), bytes(root)), 0, bytes(volume), 0);
    }

    /** What one container uses. */
    record ContainerUse(long memory, long logs, long root, long logInodes, long rootInodes) {}

    static ContainerUsage container(String name, ContainerUse use) {
        return new ContainerUsage(
                name,
                Instant.EPOCH,
                Instant.EPOCH,
                Duration.ZERO,
                use.memory,
                0,
                use.logs,
                use.root,
                use.logInodes,
                use.rootInodes);
    }

    private static PodUsage used(Pod pod, ContainerUse use, long volumeBytes, long volumeInodes, long processes) {
        return new PodUsage(
                PodReferences.key(pod),
                List.of(container(pod.getMetadata().getName(), use)),
                List.of(new VolumeUsage("local-volume", volumeBytes, volumeInodes, OptionalLong.empty())),
                processes);
    }
}
