package dev.podcache.kubelet.agent;

import com.google.common.collect.ImmutableList;
import dev.podcache.Podcache;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.kubelet.podconfig.TrustBundleSource;
import dev.podcache.node.NodeLister;
import io.fabric8.kubernetes.api.model.Service;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** An API server that has no Services. For servers that lack the resource, on which an agent would start no pod. */
record WithoutServices(AgentServer server) implements AgentServer {

    @Override
    public NodePorts ports() {
        NodePorts ports = server.ports();
        return new NodePorts(
                ports.nodes(),
                ports.leases(),
                ports.reconnect(),
                ports.podStatus(),
                ports.events(),
                ports.node(),
                ports.pods(),
                new NoServices(),
                ports.tokens(),
                ports.reviews(),
                ports.timekeeper());
    }

    @Override
    public Caches caches(NodeLister node) {
        return server.caches(node);
    }

    @Override
    public TrustBundleSource trustBundles() {
        return server.trustBundles();
    }

    @Override
    public Podcache podcache() {
        return server.podcache();
    }

    @Override
    public void close() {
        server.close();
    }

    private static final class NoServices implements ListerWatcher<Service> {

        @Override
        public CompletableFuture<Listed<Service>> list(Duration timeout) {
            return CompletableFuture.completedFuture(new Listed<>(ImmutableList.of(), "1"));
        }

        @Override
        public WatchHandle watch(String resourceVersion, Duration serverTimeout, Consumer<WatchEvent<Service>> events) {
            events.accept(new WatchEvent.Opened<>());
            return () -> {};
        }
    }
}
