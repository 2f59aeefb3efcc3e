package dev.podcache.kubelet.agent;

import dev.podcache.kubelet.agent.KubeletConfiguration.HealthPort;
import dev.podcache.kubelet.server.ComponentInfo;
import dev.podcache.kubelet.server.HealthServer;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import java.io.IOException;
import java.util.OptionalInt;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** The health port of an agent, by plain HTTP. Without it, the agent works. Thread-safe. */
final class HealthEndpoint implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(HealthEndpoint.class);

    private final HealthPort options;
    private final Supplier<ComponentInfo> component;
    private final Timekeeper timekeeper;
    private @Nullable HealthServer server; // guarded by this
    private boolean closed; // guarded by this

    HealthEndpoint(HealthPort options, Supplier<ComponentInfo> component, Timekeeper timekeeper) {
        this.options = options;
        this.component = component;
        this.timekeeper = timekeeper;
    }

    /** Starts to listen on a thread of its own, unless the port is off. A failure is logged. */
    void start(TaskThreads threads) {
        if (options.isOn()) {
            threads.executeNow(this::attempt);
        }
    }

    /** Returns the port; empty while it does not listen. */
    synchronized OptionalInt port() {
        return server == null ? OptionalInt.empty() : OptionalInt.of(server.port());
    }

    private void attempt() {
        HealthServer starting = new HealthServer(component.get(), timekeeper);
        boolean kept = false;
        try {
            starting.start(options.address(), options.port());
            synchronized (this) {
                kept = !closed;
                if (kept) {
                    server = starting;
                }
            }
        } catch (IOException e) {
            // a machine with a kubelet has the usual port in use
            log.atLevel(options.equals(KubeletConfiguration.DEFAULT.health()) ? Level.INFO : Level.WARN)
                    .log("{}; set another healthzPort", failed(e.getMessage()));
        } catch (RuntimeException | Error e) {
            // includes Error: a missing class must not end the thread without a word
            log.error("{}", failed(e.toString()), e);
        } finally {
            if (!kept) {
                starting.close();
            }
        }
    }

    private static String failed(@Nullable String cause) {
        return "the node agent has no health port: " + cause + "; probes of it fail until the agent is restarted";
    }

    /** Closes all connections. Waits at most 10 s. Idempotent. */
    @Override
    public void close() {
        HealthServer open;
        synchronized (this) {
            closed = true;
            open = server;
            server = null;
        }
        if (open != null) {
            open.close();
        }
    }
}
