package dev.podcache.cli.demo;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.ImmutableSortedMap;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.Faults;
import dev.podcache.embedded.RequestPattern;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;

/** An API server of the demo: a port of its own to the common cluster, which counts and fails by itself. */
final class DemoServer implements AutoCloseable {

    private final EmbeddedApiServer server;

    DemoServer(DemoCluster cluster) {
        this.server = EmbeddedApiServer.start(cluster.cluster());
    }

    String url() {
        return server.url();
    }

    /** A client of it, to be closed by the caller. */
    KubernetesClient client() {
        Config config = new ConfigBuilder(Config.empty()).withMasterUrl(url()).build();
        return new KubernetesClientBuilder().withConfig(config).build();
    }

    /** How many requests came over HTTP. */
    long requests() {
        return server.requests().total();
    }

    /** The same by verb and resource. */
    ImmutableMap<String, Long> requestsByKind() {
        ImmutableMap.Builder<String, Long> counts = ImmutableMap.builder();
        server.requests().snapshot().forEach((kind, count) -> counts.put(kind, (long) count));
        return counts.buildOrThrow();
    }

    /** The same by verb. */
    ImmutableSortedMap<String, Long> requestsByVerb() {
        return server.requests().snapshot().entrySet().stream()
                .collect(ImmutableSortedMap.toImmutableSortedMap(
                        String::compareTo,
                        count -> count.getKey().substring(0, count.getKey().indexOf(' ')),
                        count -> (long) count.getValue(),
                        Long::sum));
    }

    /** How many connections are open. */
    int connections() {
        return server.connections();
    }

    /** How many watches are open. */
    int watches() {
        return server.openWatches();
    }

    /** Cuts every connection, and every new one, until switched off. */
    Faults.Switched cutOff() {
        Faults.Switched refusal = server.faults().refuse(RequestPattern.any());
        server.faults().resetWatches(RequestPattern.any());
        return refusal;
    }

    @Override
    public void close() {
        server.close();
    }
}
