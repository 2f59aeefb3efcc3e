package dev.podcache.kubelet.process;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableListMultimap;
import com.google.common.collect.Multimaps;
import com.google.common.primitives.Longs;
import dev.podcache.kubelet.runtime.ContainerStatistics.ContainerUsage;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * The processes of this machine at one time, by their session: what containers use. A process that left the session of
 * its container is not counted. Immutable.
 */
public final class ProcessUsage {

    private static final long MILLIS_PER_TICK = 10;
    private static final long BYTES_PER_KILOBYTE = 1024;
    private static final Splitter BLANKS = Splitter.on(' ').omitEmptyStrings();
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
    public Optional<ContainerUsage> of(ContainerInstance container, Instant now) throws IOException {
        Optional<ProcessIdentity> command = container.command().filter(ProcessIdentity::isAlive);
        if (command.isEmpty()) {
            return Optional.empty();
        }
        Collection<ProcessStat> processes = sessions.get(command.get().pid());
        long ticks = processes.stream().mapToLong(ProcessStat::cpuTicks).sum();
        return Optional.of(new ContainerUsage(
                container.name(),
                now,
                container.record().startedAt(),
                Duration.ofMillis(ticks * MILLIS_PER_TICK),
                memory(processes, "VmRSS:"),
                memory(processes, "RssAnon:"),
                OutputFiles.size(container.directory()),
                bytes(container.directory().resolve(ContainerInstance.ROOT))));
    }

    private static long memory(Collection<ProcessStat> processes, String field) {
        return processes.stream()
                .mapToLong(process -> memory(process.pid(), field))
                .sum();
    }

    private static long memory(long pid, String field) {
        try {
            return Files.readAllLines(PROC.resolve(pid + "/status")).stream()
                    .filter(line -> line.startsWith(field))
                    .map(line ->
                            BLANKS.splitToList(line.substring(field.length()).trim()))
                    .mapToLong(words -> Long.parseLong(words.get(0)) * BYTES_PER_KILOBYTE)
                    .sum();
        } catch (IOException ended) {
            return 0;
        }
    }

    /** Returns the size of the files below a directory, without following links. */
    private static long bytes(Path directory) throws IOException {
        AtomicLong bytes = new AtomicLong();
        Files.walkFileTree(directory, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                bytes.addAndGet(attributes.size());
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException deletedOrPrivate) {
                return FileVisitResult.CONTINUE;
            }
        });
        return bytes.get();
    }
}
