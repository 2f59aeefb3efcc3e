package dev.podcache.chaos;

import dev.podcache.testing.LiveThreads;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * What this process holds at one moment.
 *
 * @param threads those that live, but for those of the JVM and of the JDK's HTTP client, which the run's own writer uses
 * @param files open file descriptors, sockets among them
 * @param heap bytes in use after a collection
 */
record ResourceUse(Set<Thread> threads, int files, int sockets, long heap) {

    private static final int MEGABYTE = 1 << 20;
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final Duration POLL = Duration.ofMillis(200);
    private static final int UNCHANGED_POLLS = 10;

    /** Those of now, after waiting until they have been the same for two seconds; {@code patience} at most. */
    static ResourceUse steady(Duration patience) {
        long giveUp = System.nanoTime() + patience.toNanos();
        LiveCounts known = LiveCounts.now();
        int unchanged = 0;
        while (unchanged < UNCHANGED_POLLS && System.nanoTime() < giveUp) {
            LockSupport.parkNanos(POLL.toNanos());
            LiveCounts now = LiveCounts.now();
            unchanged = now.equals(known) ? unchanged + 1 : 0;
            known = now;
        }
        return new ResourceUse(known.threads, descriptors(""), known.sockets, heapInUse());
    }

    /**
     * Those of now, after waiting until there are no other threads than {@code before} and at most {@code few} more
     * sockets; {@code patience} at most, because the other end of a connection may take its time to close it.
     */
    static ResourceUse backTo(ResourceUse before, int few, Duration patience) {
        long giveUp = System.nanoTime() + patience.toNanos();
        LiveCounts known = LiveCounts.now();
        while ((!before.threads.containsAll(known.threads) || known.sockets > before.sockets + few)
                && System.nanoTime() < giveUp) {
            LockSupport.parkNanos(POLL.toNanos());
            known = LiveCounts.now();
        }
        return new ResourceUse(known.threads, descriptors(""), known.sockets, heapInUse());
    }

    /** What comes and goes. */
    private record LiveCounts(Set<Thread> threads, int sockets) {
        static LiveCounts now() {
            return new LiveCounts(
                    Thread.getAllStackTraces().keySet().stream()
                            .filter(Thread::isAlive)
                            .filter(thread -> !LiveThreads.isOfTheJvm(thread))
                            .collect(Collectors.toSet()),
                    descriptors("socket:"));
        }
    }

    /** Threads that were not there before. */
    List<String> newSince(ResourceUse before) {
        return threads.stream()
                .filter(thread -> !before.threads.contains(thread))
                .map(Thread::getName)
                .toList();
    }

    private static int descriptors(String target) {
        int count = 0;
        try (DirectoryStream<Path> all = Files.newDirectoryStream(DESCRIPTORS)) {
            for (Path descriptor : all) {
                if (target(descriptor).startsWith(target)) {
                    count++;
                }
            }
            return count;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException closedMeanwhile) {
            return "";
        }
    }

    private static long heapInUse() {
        System.gc();
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    @Override
    public String toString() {
        return threads.size() + " threads, " + files + " file descriptors, " + sockets + " of them sockets, "
                + heap / MEGABYTE + " MB of heap";
    }
}
