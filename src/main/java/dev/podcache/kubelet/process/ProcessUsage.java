package dev.podcache.kubelet.process;

import com.google.common.collect.ImmutableListMultimap;
import com.google.common.collect.Multimaps;
import com.google.common.primitives.Longs;
import dev.podcache.kubelet.runtime.ContainerStatistics.ContainerUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.PodUsage;
import dev.podcache.kubelet.runtime.ContainerStatistics.VolumeUsage;
import dev.podcache.object.PodKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/**
 * The processes of this machine at one time, by their session: what containers use. A process that left the session of
 * its container is not counted. Immutable.
 */
public final class ProcessUsage {

    private static final long MILLIS_PER_TICK = 10;
    private static final Path PROC = Path.of("/proc");

    private final ImmutableListMultimap<Long, ProcessStat> sessions;

    private ProcessUsage(ImmutableListMultimap<Long, ProcessStat> sessions) {
        this.sessions = sessions;
    }

    /** Returns the processes that there are now. */
    public static ProcessUsage now() throws IOException {
        try (Stream<Path> entries = Files.list(PROC)) {
            List<ProcessStat> processes = entries.map(entry -> Longs.tryParse(String.valueOf(entry.getFileName())))
                    .filter(Objects::nonNull)
                    .map(ProcessStat::of)
                    .flatMap(Optional::stream)
                    .toList();
            return new ProcessUsage(Multimaps.index(processes, ProcessStat::session));
        }
    }

    /** Returns what a container uses; empty if it does not run. */
    Optional<ContainerUsage> of(ContainerInstance container, Instant now) throws IOException {
        Optional<ProcessIdentity> command = container.command().filter(ProcessIdentity::isAlive);
        if (command.isEmpty()) {
            return Optional.empty();
        }
        Collection<ProcessStat> processes = sessions.get(command.get().pid());
        DiskUsage root = DiskUsage.of(container.root());
        long ticks = processes.stream().mapToLong(ProcessStat::cpuTicks).sum();
        ProcessMemory memory =
                ProcessMemory.of(processes.stream().map(ProcessStat::pid).toList());
        return Optional.of(new ContainerUsage(
                container.name(),
                now,
                container.record().startedAt(),
                Duration.ofMillis(ticks * MILLIS_PER_TICK),
                memory.workingSet(),
                memory.anonymous(),
                OutputFiles.size(container.directory()),
                root.bytes(),
                OutputFiles.numbers(container.directory()).size(),
                root.inodes()));
    }

    /** Returns the number of processes of a container; 0 if it does not run. */
    private long processes(ContainerInstance container) throws IOException {
        return container
                .command()
                .filter(ProcessIdentity::isAlive)
                .map(command -> sessions.get(command.pid()).size())
                .orElse(0);
    }

    /**
     * Returns what a pod uses; empty if none of its containers runs.
     *
     * @param containers the newest instance of each container
     * @param volumes the directories of its volumes, by name
     */
    public Optional<PodUsage> of(PodKey pod, List<ContainerInstance> containers, Map<String, Path> volumes, Instant now)
            throws IOException {
        List<ContainerUsage> used = new ArrayList<>();
        long processes = 0;
        for (ContainerInstance container : containers) {
            of(container, now).ifPresent(used::add);
            processes += processes(container);
        }
        if (used.isEmpty()) {
            return Optional.empty();
        }
        List<VolumeUsage> measured = new ArrayList<>();
        for (Map.Entry<String, Path> volume : volumes.entrySet()) {
            DiskUsage disk = DiskUsage.of(volume.getValue());
            measured.add(new VolumeUsage(volume.getKey(), disk.bytes(), disk.inodes(), OptionalLong.empty()));
        }
        return Optional.of(new PodUsage(pod, used, measured, processes));
    }
}
