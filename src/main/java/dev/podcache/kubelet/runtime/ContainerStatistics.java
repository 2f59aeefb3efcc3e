package dev.podcache.kubelet.runtime;

import dev.podcache.object.PodKey;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Measures what containers use, for {@code /stats/summary}, {@code /metrics/resource} and eviction. A {@link PodRuntime}
 * that can do this implements this, too.
 */
public interface ContainerStatistics {

    /** Returns the usage of all running containers. May block. */
    List<PodUsage> usage() throws IOException;

    /** The usage of a pod's containers. Immutable; the list is copied. */
    record PodUsage(PodKey pod, List<ContainerUsage> containers) {

        public PodUsage {
            containers = List.copyOf(containers);
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
     */
    record ContainerUsage(
            String name,
            Instant measuredAt,
            Instant startedAt,
            Duration cpu,
            long workingSetBytes,
            long rssBytes,
            long logBytes,
            long diskBytes) {}
}
