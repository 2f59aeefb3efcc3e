package dev.podcache.kubelet.process;

import com.google.common.base.Splitter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A part of {@code /proc/<pid>/stat}. Times are in hundredths of a second, which is {@code USER_HZ} on all common
 * architectures. Immutable.
 *
 * @param state the state of the process, such as {@code R}
 * @param session the PID of the leader of its session
 * @param cpuTicks the CPU time of the process and of its children that have ended
 * @param startTicks the start of the process after the boot
 */
record ProcessStat(long pid, String state, long session, long cpuTicks, long startTicks) {

    // counted from field 3, which follows the name
    private static final int STATE = 0;
    private static final int SESSION = 3;
    private static final int FIRST_CPU_TIME = 11;
    private static final int CPU_TIMES = 4;
    private static final int START_TIME = 19;

    /** Returns the entry of a process; empty if there is no such process. */
    static Optional<ProcessStat> of(long pid) {
        try {
            return parse(read(pid));
        } catch (IOException ended) {
            return Optional.empty();
        }
    }

    /** Returns the fields of a process from the third on; empty if there is no such process. */
    static List<String> fields(long pid) {
        try {
            return fields(read(pid));
        } catch (IOException ended) {
            return List.of();
        }
    }

    /** Reads bytes as characters: the kernel cuts the name of a process after 15 bytes, also within a character. */
    private static String read(long pid) throws IOException {
        return Files.readString(Path.of("/proc", Long.toString(pid), "stat"), StandardCharsets.ISO_8859_1);
    }

    private static List<String> fields(String line) {
        // the name is in parentheses and may contain blanks and parentheses
        int end = line.lastIndexOf(") ");
        return end < 0 || line.indexOf(" (") < 0
                ? List.of()
                : Splitter.on(' ').splitToList(line.substring(end + 2).trim());
    }

    /** Parses an entry; empty if it is incomplete. */
    static Optional<ProcessStat> parse(String line) {
        List<String> fields = fields(line);
        if (fields.size() <= START_TIME) {
            return Optional.empty();
        }
        long cpu = fields.subList(FIRST_CPU_TIME, FIRST_CPU_TIME + CPU_TIMES).stream()
                .mapToLong(Long::parseLong)
                .sum();
        return Optional.of(new ProcessStat(
                Long.parseLong(line.substring(0, line.indexOf(" ("))),
                fields.get(STATE),
                Long.parseLong(fields.get(SESSION)),
                cpu,
                Long.parseLong(fields.get(START_TIME))));
    }

    /** Returns whether the process has ended. Its parent may not have noticed yet. */
    boolean hasEnded() {
        return state.equals("Z") || state.equals("X");
    }
}
