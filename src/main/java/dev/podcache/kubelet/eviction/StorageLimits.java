package dev.podcache.kubelet.eviction;

import static dev.podcache.pod.PodSpecNames.present;

import com.google.common.collect.Iterables;
import dev.podcache.kubelet.host.Quantities;
import dev.podcache.kubelet.runtime.ContainerStatistics.ContainerUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.VolumeUsage;
import dev.podcache.object.Amounts;
import dev.podcache.pod.PodResources;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.Volume;
import java.math.BigDecimal;
import java.util.Optional;

/**
 * Checks the limits of local storage that a pod has: the size limit of an {@code emptyDir}, the ephemeral storage of the
 * pod, and that of a container, in this order. Pure. Follows {@code localStorageEviction} of the kubelet's {@code
 * eviction_manager.go}.
 */
final class StorageLimits {

    static final String EMPTY_DIR = "emptydirfs.limit";
    static final String POD = "ephemeralpodfs.limit";
    static final String CONTAINER = "ephemeralcontainerfs.limit";

    private static final String RESOURCE = "ephemeral-storage";

    private final Pod pod;
    private final PodUsage usage;
    private final StorageLayout layout;

    private StorageLimits(Pod pod, PodUsage usage, StorageLayout layout) {
        this.pod = pod;
        this.usage = usage;
        this.layout = layout;
    }

    /**
     * A limit that a pod exceeds.
     *
     * @param signal its name in the kubelet's metric of evictions
     * @param message for the pod's status
     */
    record ExceededLimit(String signal, String message) {}

    /** Returns the first limit that a pod exceeds; empty if it exceeds none. */
    static Optional<ExceededLimit> exceeded(Pod pod, PodUsage usage, StorageLayout layout) {
        StorageLimits limits = new StorageLimits(pod, usage, layout);
        return limits.emptyDir().or(limits::wholePod).or(limits::container);
    }

    private Optional<ExceededLimit> emptyDir() {
        for (Volume volume : PodDiskUsage.volumes(pod)) {
            if (volume.getEmptyDir() != null) {
                Optional<VolumeUsage> used = usage.volumes().stream()
                        .filter(each -> each.name().equals(volume.getName()))
                        .findFirst();
                Optional<Quantity> limit = used.flatMap(each -> limit(volume, each));
                if (limit.isPresent() && isExceeded(limit.get(), used.get().usedBytes())) {
                    return Optional.of(new ExceededLimit(
                            EMPTY_DIR,
                            "Usage of EmptyDir volume \"" + volume.getName() + "\" exceeds the limit \""
                                    + ResourceText.text(limit.get()) + "\". "));
                }
            }
        }
        return Optional.empty();
    }

    /**
     * Returns the limit of a volume: its size limit, or the real size of a volume in memory if that was measured, because
     * it may have been resized.
     */
    private static Optional<Quantity> limit(Volume volume, VolumeUsage used) {
        if ("Memory".equals(volume.getEmptyDir().getMedium())
                && used.capacityBytes().isPresent()) {
            return Optional.of(Quantities.of("memory", used.capacityBytes().getAsLong()));
        }
        return Optional.ofNullable(volume.getEmptyDir().getSizeLimit())
                .filter(limit -> Amounts.of(limit).signum() > 0);
    }

    private Optional<ExceededLimit> wholePod() {
        BigDecimal used = BigDecimal.valueOf(PodDiskUsage.ephemeral(pod, usage, layout));
        return PodResources.limit(pod, RESOURCE)
                .filter(limit -> used.compareTo(limit) > 0)
                .map(limit -> new ExceededLimit(
                        POD,
                        "Pod ephemeral local storage usage exceeds the total limit of containers "
                                + ResourceText.text(Quantities.of(RESOURCE, limit)) + ". "));
    }

    private Optional<ExceededLimit> container() {
        for (ContainerUsage container : usage.containers()) {
            Optional<Quantity> limit = container(container.name())
                    .flatMap(each -> PodResources.limit(each, RESOURCE))
                    .filter(quantity -> Amounts.of(quantity).signum() != 0);
            if (limit.isPresent() && isExceeded(limit.get(), PodDiskUsage.container(container, layout))) {
                return Optional.of(new ExceededLimit(
                        CONTAINER,
                        "Container " + container.name() + " exceeded its local ephemeral storage limit \""
                                + ResourceText.text(limit.get()) + "\". "));
            }
        }
        return Optional.empty();
    }

    /** Returns a regular container or a sidecar. */
    private Optional<Container> container(String name) {
        for (Container container : Iterables.concat(
                present(pod.getSpec().getContainers()),
                Iterables.filter(present(pod.getSpec().getInitContainers()), PodResources::isSidecar))) {
            if (name.equals(container.getName())) {
                return Optional.of(container);
            }
        }
        return Optional.empty();
    }

    private static boolean isExceeded(Quantity limit, long used) {
        return BigDecimal.valueOf(used).compareTo(Amounts.of(limit)) > 0;
    }
}
