package dev.podcache.kubelet.process;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A process of this machine for ever: the PID alone may be reused. Immutable.
 *
 * @param startTicks the start of the process after the boot, in hundredths of a second
 */
record ProcessIdentity(long pid, long startTicks) {

    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

    /** Returns the process with this PID; empty if there is none now. */
    static Optional<ProcessIdentity> of(long pid) {
        return ProcessStat.of(pid).map(ProcessIdentity::of);
    }

    private static ProcessIdentity of(ProcessStat stat) {
        return new ProcessIdentity(stat.pid(), stat.startTicks());
    }

    /**
     * Returns the process that a file of {@code supervise.sh} names; empty if there is no such file, or if it is from an
     * earlier boot of the machine.
     */
    static Optional<ProcessIdentity> read(Path file) throws IOException {
        try {
            List<String> lines = Files.readAllLines(file, StandardCharsets.ISO_8859_1); // as in ProcessStat
            return lines.size() == 2
                            && lines.get(1).equals(Files.readString(BOOT_ID).trim())
                    ? ProcessStat.parse(lines.get(0)).map(ProcessIdentity::of)
                    : Optional.empty();
        } catch (NoSuchFileException none) {
            return Optional.empty();
        }
    }

    boolean isAlive() {
        return ProcessStat.of(pid)
                .filter(stat -> stat.startTicks() == startTicks && !stat.hasEnded())
                .isPresent();
    }

    /** Completes when the process has ended; for a process that another JVM started, up to 5 s later. */
    CompletableFuture<?> onExit() {
        // a handle that exists before a successful check belongs to this process and not to one that reuses its PID
        return ProcessHandle.of(pid)
                .filter(handle -> isAlive())
                .<CompletableFuture<?>>map(ProcessHandle::onExit)
                .orElseGet(() -> CompletableFuture.completedFuture(null));
    }

    /**
     * Sends a signal to the process group that this process leads, if the process is alive.
     *
     * @param signal such as {@code TERM}
     */
    void signalGroup(String signal) throws IOException {
        if (isAlive()) {
            new ProcessBuilder("sh", "-c", "kill -s \"$1\" -- \"-$2\"", "sh", signal, Long.toString(pid))
                    .redirectInput(new File("/dev/null"))
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start()
                    .onExit()
                    .join();
        }
    }
}
