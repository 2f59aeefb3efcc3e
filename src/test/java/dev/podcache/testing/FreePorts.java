package dev.podcache.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Loopback ports that are reserved for this JVM as long as it runs, also while no server listens on them. They lie
 * below the range of ports for outgoing connections. Concurrent JVMs get different ports: each reserves a block by
 * listening on its first port. No port is returned twice. Thread-safe.
 */
public final class FreePorts {

    private static final int FROM = 20_000;
    private static final int TO = 32_000;
    private static final int BLOCK = 300;

    private static final FreePorts PORTS = new FreePorts();

    /** Reserves the block. Never accepts a connection; open until the JVM ends. */
    private final ServerSocket claim;

    private int last; // guarded by this

    FreePorts() {
        claim = claim();
        last = claim.getLocalPort();
    }

    /**
     * Returns {@code count} different ports.
     *
     * @throws IllegalStateException if the block of this JVM, or every block, is used up
     */
    public static List<Integer> find(int count) throws IOException {
        return PORTS.next(count);
    }

    synchronized List<Integer> next(int count) throws IOException {
        List<Integer> ports = new ArrayList<>();
        while (ports.size() < count) {
            last++;
            if (last == claim.getLocalPort() + BLOCK) {
                throw new IllegalStateException("this JVM has used all of its " + BLOCK + " ports");
            }
            // a program that does not use blocks may listen on the port
            if (isFree(last)) {
                ports.add(last);
            }
        }
        return ports;
    }

    private static ServerSocket claim() {
        for (int first = FROM; first < TO; first += BLOCK) {
            ServerSocket claimed = listen(first);
            if (claimed != null) {
                return claimed;
            }
        }
        throw new IllegalStateException("every block of ports from " + FROM + " to " + TO + " is taken");
    }

    private static boolean isFree(int port) throws IOException {
        try (ServerSocket probe = listen(port)) {
            return probe != null;
        }
    }

    /** Returns a socket that listens on the port, or null if the port is in use. */
    private static @Nullable ServerSocket listen(int port) {
        try {
            return new ServerSocket(port, 1, InetAddress.getLoopbackAddress());
        } catch (IOException taken) {
            return null;
        }
    }
}
