package dev.podcache.kubelet.eviction;

import com.google.common.collect.ImmutableSet;
import dev.podcache.kubelet.eviction.StorageLayout.StoragePart;
import dev.podcache.kubelet.runtime.ContainerStatistics.ContainerUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.VolumeUsage;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Volume;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/** Sums up what pods use of disks. Pure. Follows {@code podDiskUsage} of the kubelet's {@code eviction/helpers.go}. */
final class PodDiskUsage {

    private PodDiskUsage() {}

    static long bytes(Pod pod, PodUsage usage, Set<StoragePart> parts) {
        long sum = 0;
        for (ContainerUsage container : usage.containers()) {
            sum += parts.contains(StoragePart.ROOT) ? container.diskBytes() : 0;
            sum += parts.contains(StoragePart.LOGS) ? container.logBytes() : 0;
        }
        if (parts.contains(StoragePart.VOLUMES)) {
            sum += volumes(usage, localVolumes(pod)).stream()
                    .mapToLong(VolumeUsage::usedBytes)
                    .sum();
        }
        return sum;
    }

    static long inodes(Pod pod, PodUsage usage, Set<StoragePart> parts) {
        long sum = 0;
        for (ContainerUsage container : usage.containers()) {
            sum += parts.contains(StoragePart.ROOT) ? container.diskInodes() : 0;
            sum += parts.contains(StoragePart.LOGS) ? container.logInodes() : 0;
        }
        if (parts.contains(StoragePart.VOLUMES)) {
            sum += volumes(usage, localVolumes(pod)).stream()
                    .mapToLong(VolumeUsage::inodes)
                    .sum();
        }
        return sum;
    }

    /** Returns what a pod uses of its limit of ephemeral storage, in bytes. */
    static long ephemeral(Pod pod, PodUsage usage, StorageLayout layout) {
        long containers = usage.containers().stream()
                .mapToLong(each -> container(each, layout))
                .sum();
        long volumes = volumes(usage, ephemeralVolumes(pod)).stream()
                .mapToLong(VolumeUsage::usedBytes)
                .sum();
        return containers + volumes;
    }

    /** Returns what a container uses of its limit of ephemeral storage, in bytes. */
    static long container(ContainerUsage usage, StorageLayout layout) {
        return usage.logBytes() + (layout.rootOnNodeFs() ? usage.diskBytes() : 0);
    }

    private static List<VolumeUsage> volumes(PodUsage usage, Set<String> names) {
        return usage.volumes().stream()
                .filter(volume -> names.contains(volume.name()))
                .toList();
    }

    private static ImmutableSet<String> localVolumes(Pod pod) {
        return volumes(pod).stream()
                .filter(volume -> volume.getHostPath() != null || isEphemeral(volume))
                .map(Volume::getName)
                .collect(ImmutableSet.toImmutableSet());
    }

    private static ImmutableSet<String> ephemeralVolumes(Pod pod) {
        return volumes(pod).stream()
                .filter(PodDiskUsage::isEphemeral)
                .map(Volume::getName)
                .collect(ImmutableSet.toImmutableSet());
    }

    static List<Volume> volumes(Pod pod) {
        return Objects.requireNonNullElse(pod.getSpec().getVolumes(), List.of());
    }

    private static boolean isEphemeral(Volume volume) {
        boolean onDisk = volume.getEmptyDir() != null
                && Objects.requireNonNullElse(volume.getEmptyDir().getMedium(), "")
                        .isEmpty();
        return onDisk || volume.getConfigMap() != null || volume.getGitRepo() != null;
    }
}
