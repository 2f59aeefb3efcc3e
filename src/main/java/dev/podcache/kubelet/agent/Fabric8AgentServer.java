package dev.podcache.kubelet.agent;

import dev.podcache.Podcache;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.Heartbeats;
import dev.podcache.node.NodeLister;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Implements {@link AgentServer} with connections to a server. Heartbeats have their own. Used by one thread. */
final class Fabric8AgentServer implements AgentServer {

    private final Fabric8ApiServer server;
    private final boolean owned;
    private final NodeAgentBuilder options;
    private final Heartbeats heartbeats;
    private final NodePorts ports;
    private @Nullable Podcache podcache;

    /**
     * Creates a server without caches.
     *
     * @param owned whether {@link #close} closes {@code server}
     * @param options of the agent, whose node is named
     */
    Fabric8AgentServer(Fabric8ApiServer server, boolean owned, NodeAgentBuilder options) {
        this.server = server;
        this.owned = owned;
        this.options = options;
        this.heartbeats = server.heartbeats(Duration.ofSeconds(options.heartbeats.leaseSeconds()));
        this.ports = NodePorts.of(server, heartbeats, String.valueOf(options.node));
    }

    @Override
    public NodePorts ports() {
        return ports;
    }

    @Override
    public Caches caches(NodeLister node) {
        podcache = options.caching
                .applyTo(Podcache.builder(server))
                .nodeLister(node)
                .metrics(options.metrics)
                .build();
        return new Caches(podcache.secrets(), podcache.configMaps());
    }

    @Override
    public Podcache podcache() {
        if (podcache == null) {
            throw new IllegalStateException("the caches were not created yet");
        }
        return podcache;
    }

    @Override
    public void close() {
        if (podcache != null) {
            podcache.close();
        }
        heartbeats.close();
        if (owned) {
            server.close();
        }
    }
}
