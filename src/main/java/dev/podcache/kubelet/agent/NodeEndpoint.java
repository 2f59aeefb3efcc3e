package dev.podcache.kubelet.agent;

import dev.podcache.kubelet.server.KubeletServer;
import dev.podcache.kubelet.server.KubeletServerBuilder;
import java.io.IOException;
import java.util.OptionalInt;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The HTTPS endpoint of an agent's node. Without it, the agent works, and its Node advertises no port. Thread-safe. */
final class NodeEndpoint implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(NodeEndpoint.class);

    private final Supplier<KubeletServerBuilder> options;
    private final Runnable listening;
    private @Nullable KubeletServer server; // guarded by this
    private boolean closed; // guarded by this
    private volatile int port;

    /**
     * Creates an endpoint that does not listen.
     *
     * @param options creates the options of a server; called at each try
     * @param listening called when the port is known
     */
    NodeEndpoint(Supplier<KubeletServerBuilder> options, Runnable listening) {
        this.options = options;
        this.listening = listening;
    }

    /** Returns the port; empty while the endpoint does not listen. */
    OptionalInt port() {
        int listensOn = port;
        return listensOn == 0 ? OptionalInt.empty() : OptionalInt.of(listensOn);
    }

    /**
     * Starts to listen: on the configured port, or on any free port if the configured one is in use, as it is on a machine
     * with a kubelet. Blocks while a certificate is made or read. Failures are logged.
     */
    void start() {
        try {
            if (listen()) {
                listening.run();
            }
        } catch (IOException | RuntimeException e) {
            log.error("kubectl logs and exec do not work for this node, because it has no HTTPS endpoint", e);
        }
    }

    private synchronized boolean listen() throws IOException {
        if (closed) {
            return false;
        }
        try {
            listen(options.get());
        } catch (IOException e) {
            listen(options.get().port(0));
            log.info("{}; the node's HTTPS endpoint is at port {} instead", e.getMessage(), port);
        }
        return true;
    }

    private synchronized void listen(KubeletServerBuilder with) throws IOException {
        KubeletServer started = with.build();
        try {
            started.start();
        } catch (IOException | RuntimeException e) {
            started.close();
            throw e;
        }
        server = started;
        port = started.port();
    }

    /** Closes all connections. Waits at most 10 s. Idempotent. */
    @Override
    public synchronized void close() {
        closed = true;
        port = 0;
        if (server != null) {
            server.close();
            server = null;
        }
    }
}
