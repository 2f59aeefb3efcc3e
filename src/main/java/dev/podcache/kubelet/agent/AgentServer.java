package dev.podcache.kubelet.agent;

import dev.podcache.Podcache;
import dev.podcache.kubelet.podconfig.TrustBundleSource;
import dev.podcache.node.NodeLister;

/** The API server as one agent uses it, and the caches on it. Closing it closes what it has created. */
interface AgentServer extends AutoCloseable {

    NodePorts ports();

    /** Creates the caches of Secrets and ConfigMaps, whose TTL comes from the Node. Called once. */
    Caches caches(NodeLister node);

    /** Returns where ClusterTrustBundles are read. {@link #caches} must have been called when they are. */
    TrustBundleSource trustBundles();

    /** Returns the cache behind {@link #caches}, which must have been called. */
    Podcache podcache();

    @Override
    void close();
}
