package dev.podcache.kubelet.agent;

import dev.podcache.kubelet.server.KubeletServer;
import dev.podcache.kubelet.server.KubeletServerBuilder;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The HTTPS endpoint of an agent's node. Without it, the agent works, and its Node advertises no port. Thread-safe. */
final class NodeEndpoint implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(NodeEndpoint.class);

    /** How long the node's registration waits for the endpoint. */
    private static final Duration ATTEMPT_TIMEOUT = Duration.ofSeconds(10);

    private final Supplier<KubeletServerBuilder> options;
    private final Runnable listening;
    private final Timekeeper timekeeper;
    private final CompletableFuture<Void> attempted = new CompletableFuture<>();
    private @Nullable KubeletServer server; // guarded by this
    private boolean closed; // guarded by this
    private volatile int port;

    /**
     * Creates an endpoint that does not listen.
     *
     * @param options creates the options of a server; called at each try
     * @param listening called when the port is known
     */
    NodeEndpoint(Supplier<KubeletServerBuilder> options, Runnable listening, Timekeeper timekeeper) {
        this.options = options;
        this.listening = listening;
        this.timekeeper = timekeeper;
    }

    /** Sets the options that come from the configuration. */
    static KubeletServerBuilder configured(KubeletServerBuilder options, KubeletConfiguration.Endpoint configured) {
        options.address(configured.address()).port(configured.port());
        if (!configured.certificate().isEmpty()) {
            options.certificate(Path.of(configured.certificate()), Path.of(configured.key()));
        }
        if (!configured.clientAuthority().isEmpty()) {
            options.clientAuthority(Path.of(configured.clientAuthority()));
        }
        return options;
    }

    /**
     * Returns a future that completes when the endpoint listens or has failed to, or after 10 s. An API server takes port
     * 10250 for a Node that was reported before.
     */
    CompletableFuture<Void> attempted() {
        return attempted;
    }

    /** Starts nothing, because the node has no endpoint. */
    void skip() {
        attempted.complete(null);
    }

    /** Starts to listen on a thread of its own. Failures are logged. */
    void start(TaskThreads threads) {
        timekeeper.schedule(ATTEMPT_TIMEOUT, this::skip);
        threads.executeNow(this::attempt);
    }

    /** Returns the port; empty while the endpoint does not listen. */
    OptionalInt port() {
        int listensOn = port;
        return listensOn == 0 ? OptionalInt.empty() : OptionalInt.of(listensOn);
    }

    /** Blocks while a certificate is made or read. */
    private void attempt() {
        try {
            listen();
        } catch (IOException | IllegalArgumentException e) {
            // the message names the address or the file
            failed(String.valueOf(e.getMessage()), e);
        } catch (RuntimeException | Error e) {
            // includes Error: a missing class must not end the thread without a word
            failed(e.toString(), e);
        } finally {
            attempted.complete(null);
        }
    }

    private static void failed(String cause, Throwable thrown) {
        log.error(
                "HTTPS endpoint of the node did not start: {}; kubectl logs and exec fail until the agent is restarted",
                cause,
                thrown);
    }

    /** On any free port if the configured one is in use, as it is on a machine with a kubelet. */
    private void listen() throws IOException {
        KubeletServer started;
        try {
            started = started(options.get());
        } catch (IOException e) {
            started = started(options.get().port(0));
            // rules of a firewall, for example, may name the configured port
            log.warn("{}; the HTTPS endpoint of the node is at port {} instead", e.getMessage(), started.port());
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
