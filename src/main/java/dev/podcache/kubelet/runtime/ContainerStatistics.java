package dev.podcache.kubelet.runtime;

import dev.podcache.object.PodKey;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Measures what containers use, for {@code /stats/summary}, {@code /metrics/resource}, {@code
 * /metrics/cadvisor} and eviction. A {@link PodRuntime}
 * that can do this implements this, too. The agent measures every 10 s for eviction; while such a call has not returned for
 * 15 s, the node is not ready.
 */
public interface ContainerStatistics {

    /** Returns the usage of all running containers. May block. */
    List<PodUsage> usage() throws IOException;

    /**
     * Returns the file systems of images and containers that are apart from the file system that pods write to. May block.
     * Default: neither is.
     */
    default RuntimeFileSystems fileSystems() throws IOException {
        return RuntimeFileSystems.SHARED;
    }

    /**
     * The usage of a pod. Immutable; the lists are copied.
     *
     * @param volumes the usage of the pod's volumes on file systems of this machine; may be incomplete
     * @param processes the number of processes; 0 if not measured
     */
    record PodUsage(PodKey pod, List<ContainerUsage> containers, List<VolumeUsage> volumes, long processes) {

        public PodUsage {
            containers = List.copyOf(containers);
            volumes = List.copyOf(volumes);
        }

        /** A pod of which only the containers were measured. */
        public PodUsage(PodKey pod, List<ContainerUsage> containers) {
            this(pod, containers, List.of(), 0);
        }
    }

    /**
     * The usage of a container. Immutable.
     *
     * @param measuredAt the time of the measurement
     * @param startedAt the start of the container
     * @param cpu the CPU time since the start
     * @param workingSetBytes the memory that cannot be reclaimed
     * @param rssBytes the resident memory without files
     * @param logBytes the size of the log files
     * @param diskBytes the size of the writable files of the container, without logs
     * @param logInodes the number of log files; 0 if not measured
     * @param diskInodes the number of writable files of the container, without logs; 0 if not measured
     */
    record ContainerUsage(
            String name,
            Instant measuredAt,
            Instant startedAt,
            Duration cpu,
            long workingSetBytes,
            long rssBytes,
            long logBytes,
            long diskBytes,
            long logInodes,
            long diskInodes) {

        /** A container whose files were not counted. */
        public ContainerUsage(
                String name,
                Instant measuredAt,
                Instant startedAt,
                Duration cpu,
                long workingSetBytes,
                long rssBytes,
                long logBytes,
                long diskBytes) {
            this(name, measuredAt, startedAt, cpu, workingSetBytes, rssBytes, logBytes, diskBytes, 0, 0);
        }
    }

    /**
     * The usage of a volume. Immutable.
     *
     * @param name the name of the volume in the pod's spec
     * @param capacityBytes the size of a volume with a file system of its own, such as one in memory; empty if unknown
     */
    record VolumeUsage(String name, long usedBytes, long inodes, OptionalLong capacityBytes) {}

    /**
     * The space of a file system. Immutable.
     *
     * @param inodes the number of inodes; 0 if the file system does not count them
     */
    record FileSystem(long capacityBytes, long availableBytes, long inodes, long inodesFree) {}

    /**
     * The file systems of a runtime. Immutable.
     *
     * @param images the file system of images; empty if it is the one that pods write to
     * @param containers the file system of the containers' writable files; empty if they are on the same file system as
     *     the images. If present, {@code images} is present, too
     */
    record RuntimeFileSystems(Optional<FileSystem> images, Optional<FileSystem> containers) {

        /** Images and containers are on the file system that pods write to. */
        public static final RuntimeFileSystems SHARED = new RuntimeFileSystems(Optional.empty(), Optional.empty());

        public RuntimeFileSystems {
            if (containers.isPresent() && images.isEmpty()) {
                throw new IllegalArgumentException(
                        "containers have a file system of their own, but images have none: name both");
            }
        }
    }
}
