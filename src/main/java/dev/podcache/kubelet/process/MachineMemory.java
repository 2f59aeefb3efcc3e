package dev.podcache.kubelet.process;

import com.google.common.base.CharMatcher;
import com.google.common.primitives.Longs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** Reads the memory of this machine from {@code /proc/meminfo}. */
final class MachineMemory {

    private static final Path FILE = Path.of("/proc/meminfo");
    private static final String TOTAL = "MemTotal:";
    private static final long BYTES_PER_KILOBYTE = 1024;

    private MachineMemory() {}

    /** Returns the bytes of main memory; 0 if they cannot be read. */
    static long bytes() {
        try {
            return Files.readAllLines(FILE).stream()
                    .filter(line -> line.startsWith(TOTAL))
                    .flatMap(line ->
                            Optional.ofNullable(
                                    Longs.tryParse(CharMatcher.inRange('0', '9').retainFrom(line)))
                                    .stream())
                    .mapToLong(kilobytes -> kilobytes * BYTES_PER_KILOBYTE)
                    .sum();
        } catch (IOException e) {
            return 0;
        }
    }
}
