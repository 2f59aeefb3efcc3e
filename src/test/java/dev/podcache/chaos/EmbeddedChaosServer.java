package dev.podcache.chaos;

import dev.podcache.embedded.ApiRequest;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.embedded.RequestObserver;
import dev.podcache.embedded.Resource;
import dev.podcache.testing.RawApi;
import dev.podcache.testing.TcpProxy;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A server in memory, behind a proxy: it gives the answers that a real one cannot be made to give when we want them.
 */
final class EmbeddedChaosServer implements ChaosServer {

    /** So few that the payloads in it are not what the heap of this process is full of at the end. */
    private static final int REMEMBERED_CHANGES = 200;

    private static final Duration BOOKMARK_PERIOD = Duration.ofSeconds(10);

    private final Timekeeper timekeeper = Timekeeper.system();
    private final InMemoryCluster cluster = InMemoryCluster.create(timekeeper, REMEMBERED_CHANGES, BOOKMARK_PERIOD);
    private final EmbeddedApiServer server = EmbeddedApiServer.start(cluster, 0, 100, "v1.36.0");
    private final TcpProxy proxy = TcpProxy.to(server.port());
    private final RawApi api = RawApi.of(server.url());

    EmbeddedChaosServer() {
        cluster.create(new NamespaceBuilder()
                .withNewMetadata()
                .withName(NAMESPACE)
                .endMetadata()
                .build());
        cluster.create(new NodeBuilder()
                .withNewMetadata()
                .withName(NODE)
                .addToAnnotations("node.alpha.kubernetes.io/ttl", Long.toString(Rules.TTL.toSeconds()))
                .endMetadata()
                .build());
    }

    @Override
    public RawApi api() {
        return api;
    }

    @Override
    public KubernetesClient client() {
        return new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder(Config.empty())
                        .withMasterUrl("http://127.0.0.1:" + proxy.port())
                        .withRequestRetryBackoffLimit(0)
                        .build())
                .build();
    }

    @Override
    public List<ChaosFault> faults(World world, boolean lengthy) {
        server.faults().observe(new WatchObserver(world));
        return Stream.of(
                        new AnswerFaults(server, lengthy).all(),
                        new ProxyFaults(proxy, transport().deadWithin).all(lengthy))
                .flatMap(List::stream)
                .toList();
    }

    @Override
    public Rules.Transport transport() {
        // without TLS, a server that closes a connection before it is usable is believed to speak HTTP/1.1 only
        return Rules.Transport.HTTP1;
    }

    @Override
    public Duration disconnectedFor() {
        return proxy.emptyFor();
    }

    @Override
    public long openWatches() {
        long secrets = cluster.openWatches(Resource.of(Secret.class));
        return secrets + cluster.openWatches(Resource.of(ConfigMap.class));
    }

    @Override
    public void close() {
        proxy.close();
        server.close();
        cluster.close();
        timekeeper.close();
    }

    /** Tells the log of the run's objects. */
    private record WatchObserver(World world) implements RequestObserver {

        @Override
        public void opened(ApiRequest watch) {
            of(watch).ifPresent(world.watches::accepted);
        }

        @Override
        public void closed(ApiRequest watch) {
            of(watch).ifPresent(subject -> world.watches.ended(subject, world.time.now()));
        }

        private Optional<CachedObject> of(ApiRequest request) {
            String name = request.key().name();
            return Optional.ofNullable(world.subject(request.resource().plural(), name));
        }
    }
}
