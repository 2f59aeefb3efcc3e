package dev.podcache.chaos;

import dev.podcache.testing.RawApi;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.ServerMetrics;
import dev.podcache.testing.TcpProxy;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** A kube-apiserver and its etcd, of this run's own, behind a proxy. */
final class RealChaosServer implements ChaosServer {

    /** Watches of ConfigMaps read etcd itself, and so notice when it is compacted; those of Secrets read a cache. */
    private static final String WATCH_CACHE = "--watch-cache-sizes=configmaps#0";

    private final AuditLog audit = new AuditLog();
    private final RealApiServer server = RealApiServer.start(
            Stream.concat(Stream.of(WATCH_CACHE), audit.flags().stream()).toArray(String[]::new));

    private final TcpProxy proxy = TcpProxy.to(URI.create(server.url()).getPort());
    private final RawApi api = RawApi.of(server.url(), server.tls());
    private final ReaderAccount account = new ReaderAccount(api, proxy);

    RealChaosServer() throws IOException, InterruptedException {
        api.post("/api/v1/namespaces", "{\"metadata\": {\"name\": \"" + NAMESPACE + "\"}}");
        api.post("/api/v1/nodes", """
                {"metadata": {"name": "%s", "annotations": {"node.alpha.kubernetes.io/ttl": "%d"}}}
                """.formatted(NODE, Rules.TTL.toSeconds()));
        account.create();
    }

    @Override
    public RawApi api() {
        return api;
    }

    @Override
    public KubernetesClient client() {
        return new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(server.config())
                        .withMasterUrl("https://127.0.0.1:" + proxy.port())
                        .withClientCertData(null)
                        .withClientKeyData(null)
                        .withOauthTokenProvider(account::token)
                        .build())
                .build();
    }

    @Override
    public List<ChaosFault> faults(World world, boolean lengthy) {
        audit.passTo(world);
        return Stream.of(
                        new ProxyFaults(proxy, transport().deadWithin).all(lengthy),
                        new ServerFaults(world, server, proxy).all(),
                        account.faults())
                .flatMap(List::stream)
                .toList();
    }

    @Override
    public Rules.Transport transport() {
        return Rules.Transport.HTTP2;
    }

    @Override
    public Duration disconnectedFor() {
        return proxy.emptyFor();
    }

    @Override
    public long openWatches() {
        ServerMetrics metrics = server.metrics();
        return metrics.openWatches("secrets") + metrics.openWatches("configmaps");
    }

    @Override
    public void close() {
        proxy.close();
        server.close();
        audit.close();
    }
}
