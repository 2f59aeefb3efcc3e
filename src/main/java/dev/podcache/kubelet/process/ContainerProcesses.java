package dev.podcache.kubelet.process;

import com.google.common.base.Splitter;
import dev.podcache.kubelet.runtime.ByteText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Finds the processes of containers by their environment, in which {@code PODCACHE_ROOT} names the container. All that
 * descends from a command of the container inherits it. So a process is found whose parent has ended, which left its group
 * and session, or which another agent started. A process that cleared or overwrote its environment is not found.
 */
final class ContainerProcesses {

    /** Names the root directory of the container. */
    static final String VARIABLE = "PODCACHE_ROOT";

    /** In the environment of the shell that becomes the container's command, until it does. */
    static final String LAUNCHING = "PODCACHE_LAUNCHING";

    private static final Path PROC = Path.of("/proc");
    private static final Splitter ZERO_BYTES = Splitter.on('\0').omitEmptyStrings();

    /** Three files are read for each, so this takes a part of a second. */
    private static final int MOST_LOOKS = 10_000;

    /** Processes that start others faster than they are killed are left to the next call. */
    private static final int MOST_ROUNDS = 100;

    private ContainerProcesses() {}

    /**
     * Returns the variables of a process, each as {@code name=value}, with bytes as {@link ByteText} writes them. While a process
     * leaves one program for another, some of them or none can be read: then reads them again.
     */
    static Iterable<String> environment(long pid) throws IOException {
        byte[] variables;
        int look = 0;
        do {
            Optional<EnvironmentPlace> before = EnvironmentPlace.of(pid);
            variables = Files.readAllBytes(PROC.resolve(pid + "/environ"));
            if (before.isEmpty() || (before.get().holds(variables.length) && before.equals(EnvironmentPlace.of(pid)))) {
                break;
            }
            Thread.onSpinWait();
            look++;
        } while (look < MOST_LOOKS);
        return ZERO_BYTES.split(ByteText.of(variables));
    }

    /** Where in its memory a process has its variables. Both are 0 between two programs, and for a process that has ended. */
    private record EnvironmentPlace(long start, long end, boolean hasMemory) {

        // counted from field 3 of the file, as in ProcessStat
        private static final int MEMORY = 20;
        private static final int START = 47;

        /** Returns the place; empty if there is no such process, or the system does not tell. */
        static Optional<EnvironmentPlace> of(long pid) {
            List<String> fields = ProcessStat.fields(pid);
            return fields.size() > START + 1
                    ? Optional.of(new EnvironmentPlace(
                            Long.parseLong(fields.get(START)),
                            Long.parseLong(fields.get(START + 1)),
                            !fields.get(MEMORY).equals("0")))
                    : Optional.empty();
        }

        boolean holds(int length) {
            return !hasMemory || (end != 0 && end - start == length);
        }
    }

    /**
     * Kills processes, but no supervisor, which keeps the last output and ends by itself. Does not wait for their end: from
     * now on they start no further process.
     *
     * @param roots the root directories of the containers to which the processes belong; asked after a process was found,
     *     so that a process that starts later is not meant
     */
    static void kill(Predicate<Path> roots) {
        Set<ProcessHandle> killed = new HashSet<>();
        boolean more = true;
        for (int round = 0; more && round < MOST_ROUNDS; round++) {
            List<ProcessHandle> found = ProcessHandle.allProcesses()
                    .filter(process -> !killed.contains(process))
                    .filter(process -> isOf(roots, process))
                    .toList();
            // a handle does not kill a process that reuses the PID
            found.forEach(ProcessHandle::destroyForcibly);
            more = killed.addAll(found);
        }
    }

    private static boolean isOf(Predicate<Path> roots, ProcessHandle process) {
        Optional<Path> root = root(process.pid());
        return root.isPresent()
                && roots.test(root.get())
                && !isSupervisor(process.pid(), root.get())
                && !process.equals(ProcessHandle.current());
    }

    private static Optional<Path> root(long pid) {
        try {
            for (String variable : environment(pid)) {
                if (variable.startsWith(VARIABLE + "=")) {
                    return Optional.of(Path.of(variable.substring(VARIABLE.length() + 1)));
                }
            }
        } catch (IOException | InvalidPathException endedOrOfAnotherUser) {
            return Optional.empty();
        }
        return Optional.empty();
    }

    /** Returns whether a process is in the session of the container's supervisor. */
    private static boolean isSupervisor(long pid, Path root) {
        try {
            Optional<ProcessIdentity> supervisor =
                    ProcessIdentity.read(root.resolveSibling(ContainerInstance.SUPERVISOR));
            return supervisor.isPresent()
                    && ProcessStat.of(pid)
                            .filter(stat -> stat.session() == supervisor.get().pid())
                            .isPresent();
        } catch (IOException unreadable) {
            return false;
        }
    }
}
