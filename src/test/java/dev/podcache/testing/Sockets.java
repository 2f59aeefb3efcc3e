package dev.podcache.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Lists the TCP connections of this JVM on Linux. */
public final class Sockets {

    private static final String ESTABLISHED = "01";
    private static final int REMOTE = 2;
    private static final int STATE = 3;
    private static final int INODE = 9;

    private Sockets() {}

    /** Returns the number of established connections of this JVM to {@code port} on any host. */
    public static long connectedTo(int port) {
        Set<String> ours = inodes();
        String suffix = String.format(":%04X", port);
        return Stream.of("/proc/self/net/tcp", "/proc/self/net/tcp6")
                .flatMap(table -> lines(table).stream())
                .map(line -> line.trim().split("\\s+"))
                .filter(fields -> fields[STATE].equals(ESTABLISHED) && fields[REMOTE].endsWith(suffix))
                .filter(fields -> ours.contains("socket:[" + fields[INODE] + "]"))
                .count();
    }

    private static Set<String> inodes() {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors.map(Sockets::target).collect(Collectors.toSet());
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

    private static List<String> lines(String table) {
        try {
            List<String> all = Files.readAllLines(Path.of(table));
            return all.subList(1, all.size());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
