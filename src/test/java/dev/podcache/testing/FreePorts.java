package dev.podcache.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Loopback ports that belong to this JVM as long as it lives, also while no server listens on them. They lie below the
 * range from which the system gives ports to outgoing connections. JVMs side by side never get the same: each takes a
 * block of ports by listening on its first one, and gives out no port twice. Thread-safe.
 */
final class FreePorts {

    private static final int FROM = 20_000;
    private static final int TO = 32_000;
    private static final int BLOCK = 300;

    private static final FreePorts PORTS = new FreePorts();

    /** Accepts no connection; the end of the JVM closes it. */
    private final ServerSocket claim;

    private int last; // guarded by this

    FreePorts() {
        claim = claim();
        last = claim.getLocalPort();
    }

    /** That many different ones. */
    static List<Integer> find(int count) throws IOException {
        return PORTS.next(count);
    }

    synchronized List<Integer> next(int count) throws IOException {
        List<Integer> ports = new ArrayList<>();
        while (ports.size() < count) {
            last++;
            if (last == claim.getLocalPort() + BLOCK) {
                throw new IllegalStateException("this JVM has used up its " + BLOCK + " ports");
            }
            // a program that knows nothing of blocks may have it
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

    /** Returns null if somebody listens there. */
    private static @Nullable ServerSocket listen(int port) {
        try {
            return new ServerSocket(port, 1, InetAddress.getLoopbackAddress());
        } catch (IOException taken) {
            return null;
        }
    }
}
