package dev.podcache.kubelet.process;

import com.google.common.base.CharMatcher;
import com.google.common.base.Splitter;
import com.google.common.primitives.Longs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * What a process holds of the main memory, in bytes. A page that several processes have, as after a fork, counts in each as
 * a part, so that the sum is what they hold together. Where Linux does not show the parts, it counts in each as a whole.
 * Immutable.
 *
 * @param workingSet all that is in the main memory
 * @param anonymous the part of it that is of no file
 */
record ProcessMemory(long workingSet, long anonymous) {

    private static final long BYTES_PER_KILOBYTE = 1024;
    private static final CharMatcher DIGITS = CharMatcher.inRange('0', '9');

    /** Other ends of lines may be in the name of the process. */
    private static final Splitter LINES = Splitter.on('\n');

    /** Returns the memory of a process; nothing if there is no such process. */
    static ProcessMemory of(long pid) {
        return parse(read(pid, "smaps_rollup"), read(pid, "status"));
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
