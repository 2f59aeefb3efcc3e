package dev.podcache.testing;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Measures how long something takes, without the time in which those who do it were ready to run and had no processor, because
 * others had them: the calling thread, and that thread of another process which waited longest. So a limit holds on a machine
 * with more work than processors, too. Where the system does not tell, as Linux does, nothing is taken off.
 */
public final class ProcessorWait {

    private static final Path CALLER = Path.of("/proc/thread-self");

    private final long begin = System.nanoTime();
    private final long waitOfCaller = wait(CALLER);
    private final Path threads;
    private final Map<Path, Long> waits;

    private ProcessorWait(Path threads) throws IOException {
        this.threads = threads;
        this.waits = waits();
    }

    /** Begins to measure what this thread and {@code other} do. */
    public static ProcessorWait begin(ProcessHandle other) throws IOException {
        return new ProcessorWait(Path.of("/proc", Long.toString(other.pid()), "task"));
    }

    /** Ends the measurement. Call it from the thread that began it. */
    public Duration end() throws IOException {
        long all = System.nanoTime() - begin;
        long ofCaller = wait(CALLER) - waitOfCaller;
        long ofOther = 0;
        for (Map.Entry<Path, Long> thread : waits().entrySet()) {
            ofOther = Math.max(ofOther, thread.getValue() - waits.getOrDefault(thread.getKey(), 0L));
        }
        return Duration.ofNanos(Math.max(0, all - ofCaller - ofOther));
    }

    private Map<Path, Long> waits() throws IOException {
        Map<Path, Long> all = new HashMap<>();
        if (Files.isDirectory(threads)) {
            try (DirectoryStream<Path> found = Files.newDirectoryStream(threads)) {
                found.forEach(thread -> all.put(thread, wait(thread)));
            }
        }
        return all;
    }

    /** Returns nanoseconds. */
    private static long wait(Path thread) {
        try {
            // the time on a processor, the time in the queue for one, and how often it ran
            return Long.parseLong(Files.readString(thread.resolve("schedstat")).split(" ", 3)[1]);
        } catch (IOException | RuntimeException ended) {
            return 0; // or the system does not tell
        }
    }
}
