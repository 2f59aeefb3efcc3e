package dev.podcache.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Loopback ports on which nobody listens. They lie below the range from which the system gives ports to outgoing
 * connections, so that nobody takes them by chance while a test server is stopped.
 */
final class FreePorts {

    private static final int FROM = 20_000;
    private static final int TO = 32_000;

    private FreePorts() {}

    /** That many different ones. */
    static List<Integer> find(int count) {
        List<Integer> ports = new ArrayList<>();
        while (ports.size() < count) {
            int port = ThreadLocalRandom.current().nextInt(FROM, TO);
            if (!ports.contains(port) && isFree(port)) {
                ports.add(port);
            }
        }
        return ports;
    }

    private static boolean isFree(int port) {
        try (ServerSocket probe = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return probe.isBound();
        } catch (IOException taken) {
            return false;
        }
    }
}
