package dev.podcache.kubelet.agent;

import dev.podcache.Podcache;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer.Heartbeats;
import dev.podcache.kubelet.podconfig.TrustBundleSource;
import dev.podcache.node.NodeLister;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Implements {@link AgentServer} with connections to a server. Heartbeats have their own. Used by one thread. */
final class Fabric8AgentServer implements AgentServer {

    private final Fabric8ApiServer server;
    private final boolean owned;
    private final NodeAgentOptions options;
    private final Heartbeats heartbeats;
    private final NodePorts ports;
    private @Nullable Podcache podcache;

    /**
     * Creates a server without caches.
     *
     * @param owned whether {@link #close} closes {@code server}
     * @param options of the agent
     */
    Fabric8AgentServer(Fabric8ApiServer server, boolean owned, NodeAgentOptions options) {
        this.server = server;
        this.owned = owned;
        this.options = options;
        this.heartbeats = server.heartbeats(
                Duration.ofSeconds(options.configuration().heartbeats().leaseSeconds()));
        this.ports = NodePorts.of(server, heartbeats, options.node());
    }

    /** Creates a server without caches that closes {@code server}: if it throws, too. */
    static Fabric8AgentServer owning(Fabric8ApiServer server, NodeAgentOptions options) {
        try {
            return new Fabric8AgentServer(server, true, options);
        } catch (Throwable e) {
            server.close();
            throw e;
        }
    }

    @Override
    public NodePorts ports() {
        return ports;
    }

    @Override
    public Caches caches(NodeLister node) {
        podcache = options.configuration()
                .caching()
                .applyTo(Podcache.builder(server))
                .nodeLister(node)
                .metrics(options.metrics())
                .build();
        return new Caches(podcache.secrets(), podcache.configMaps());
    }

    @Override
    public TrustBundleSource trustBundles() {
        return new ServedTrustBundles(server, kind -> podcache().objects(kind));
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
