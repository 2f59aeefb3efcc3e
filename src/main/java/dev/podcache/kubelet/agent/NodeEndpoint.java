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
            listen();
        } catch (IOException | RuntimeException | Error e) {
            // includes Error: a missing class must not end the thread without a word
            log.error("kubectl logs and exec do not work for this node, because it has no HTTPS endpoint", e);
        }
    }

    private void listen() throws IOException {
        KubeletServer started;
        try {
            started = started(options.get());
        } catch (IOException e) {
            started = started(options.get().port(0));
            log.info("{}; the node's HTTPS endpoint is at port {} instead", e.getMessage(), started.port());
        }
        boolean kept;
        synchronized (this) {
            kept = !closed;
            if (kept) {
                server = started;
                port = started.port();
            }
        }
        if (kept) {
            listening.run();
        } else {
            started.close();
        }
    }

    private static KubeletServer started(KubeletServerBuilder with) throws IOException {
        KubeletServer server = with.build();
        try {
            server.start();
            return server;
        } catch (IOException | RuntimeException | Error e) {
            server.close();
            throw e;
        }
    }

    /** Closes all connections. Waits at most 10 s. Idempotent. */
    @Override
    public void close() {
        KubeletServer open;
        synchronized (this) {
            closed = true;
            port = 0;
            open = server;
            server = null;
        }
        if (open != null) {
            open.close();
        }
    }
}
