package dev.podcache.kubelet.process;

import com.google.common.base.CharMatcher;
import com.google.common.base.Splitter;
import com.google.common.primitives.Longs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;

/**
 * What a process holds of the main memory, in bytes. A page that several processes have, as after a fork, counts in each as
 * a part, so that the sum is what they hold together. Where Linux does not show the parts, it counts in each as a whole.
 * Where telling the parts would take long, what is of files or shared counts once, and what is not, in each. Immutable.
 *
 * @param workingSet all that is in the main memory
 * @param anonymous the part of it that is of no file
 */
record ProcessMemory(long workingSet, long anonymous) {

    private static final long BYTES_PER_KILOBYTE = 1024;
    private static final CharMatcher DIGITS = CharMatcher.inRange('0', '9');

    /** Other ends of lines may be in the name of the process. */
    private static final Splitter LINES = Splitter.on('\n');

    /** Linux goes over each page to tell the parts, and holds up the process meanwhile. */
    private static final long MOST_IN_PARTS = 16L << 30;

    /** Returns what processes hold together; nothing of those that do not exist. */
    static ProcessMemory of(Collection<Long> pids) {
        List<ProcessMemory> wholes =
                pids.stream().map(pid -> parse("", read(pid, "status"))).toList();
        long added = wholes.stream().mapToLong(ProcessMemory::workingSet).sum();
        if (wholes.size() < 2 || added > MOST_IN_PARTS) {
            return together(wholes);
        }
        long workingSet = 0;
        long anonymous = 0;
        for (long pid : pids) {
            ProcessMemory each = parse(read(pid, "smaps_rollup"), read(pid, "status"));
            workingSet += each.workingSet;
            anonymous += each.anonymous;
        }
        return new ProcessMemory(workingSet, anonymous);
    }

    /** Returns what processes hold if all have the same files and shared memory, and each has its own other memory. */
    static ProcessMemory together(List<ProcessMemory> wholes) {
        long anonymous = wholes.stream().mapToLong(ProcessMemory::anonymous).sum();
        long shared = wholes.stream()
                .mapToLong(whole -> whole.workingSet - whole.anonymous)
                .max()
                .orElse(0);
        return new ProcessMemory(anonymous + shared, anonymous);
    }

    /**
     * Parses two files of a process.
     *
     * @param parts {@code smaps_rollup}, which Linux has since 4.14 and with {@code Pss_Anon} since 5.9; empty if it cannot
     *     be read, as that of a process of another user
     * @param wholes {@code status}
     */
    static ProcessMemory parse(String parts, String wholes) {
        long workingSet = firstKnown(bytes(parts, "Pss:"), bytes(wholes, "VmRSS:"));
        long anonymous = firstKnown(bytes(parts, "Pss_Anon:"), Math.min(bytes(wholes, "RssAnon:"), workingSet));
        return new ProcessMemory(workingSet, anonymous);
    }

    private static long firstKnown(long part, long whole) {
        return part > 0 ? part : whole;
    }

    /** Returns the value of a row such as {@code Pss:   159 kB}; 0 if there is none. */
    private static long bytes(String rows, String name) {
        for (String row : LINES.split(rows)) {
            if (row.startsWith(name)) {
                Long kilobytes = Longs.tryParse(DIGITS.retainFrom(row));
                return kilobytes == null ? 0 : kilobytes * BYTES_PER_KILOBYTE;
            }
        }
        return 0;
    }

    private static String read(long pid, String file) {
        try {
            // the name of the process need not be UTF-8
            return Files.readString(Path.of("/proc", Long.toString(pid), file), StandardCharsets.ISO_8859_1);
        } catch (IOException endedOrNotShown) {
            return "";
        }
    }
}
