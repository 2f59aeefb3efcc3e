package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.Patience;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Sockets;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hundreds of watches on a handful of connections to kube-apiserver itself, at the limit that
 * it has and at that of today.
 */
@RealServerTest
class ManyWatchesRealServerTest {

    private static final Logger log = LoggerFactory.getLogger(ManyWatchesRealServerTest.class);
    private static final int MANY = 600;
    private static final int MOST_THREADS = 12;

    @Test
    void manyWatches_defaultLimitOfTheServer_shareAsManyConnectionsAsItAsksFor() {
        // its own, because what others have left open would count
        try (RealApiServer own = RealApiServer.start()) {
            follow(own, own.version().defaultStreamLimit(), 2);
        }
    }

    /** That of today on an old server, that of old servers on a new one. */
    @Test
    void manyWatches_otherLimit_shareAsManyConnectionsAsItAsksFor() {
        int usual = RealApiServer.versionFound().orElseThrow().defaultStreamLimit();
        int streams = usual == 100 ? 250 : 100;
        try (RealApiServer own = RealApiServer.start("--http2-max-streams-per-connection=" + streams)) {
            follow(own, streams, 1);
        }
    }

    private static void follow(RealApiServer real, int streams, int rounds) {
        // as many as are full, one for the rest, and a spare one
        int connections = MANY / streams + 2;
        String namespace = with(real, ManyWatchesRealServerTest::namespaceWithSecrets);
        long others = real.metrics().openWatches("secrets");
        for (int round = 1; round <= rounds; round++) {
            try (KubernetesClient client = real.client();
                    Fabric8ApiServer server = Fabric8ApiServer.of(client)) {
                Round figures = new Round(real, server, namespace);
                figures.openAll(round);
                assertThat(figures.connections()).isBetween(1L, (long) connections);
                assertThat(figures.threads()).isLessThanOrEqualTo(MOST_THREADS);
                assertThat(real.metrics().openWatches("secrets")).isEqualTo(others + MANY);

                if (round == 1) {
                    with(real, admin -> touchAll(admin, namespace));
                    await().until(() -> figures.updates.get() == MANY);
                }
                figures.handles.forEach(WatchHandle::close);

                await().until(() -> real.metrics().openWatches("secrets") == others);
                await().until(() -> figures.connections() <= 0);
                assertThat(figures.ended).hasValue(0);
            }
        }
    }

    /** With a client that is closed afterwards, so that its connections do not count. */
    private static String with(RealApiServer real, Function<KubernetesClient, String> task) {
        try (KubernetesClient admin = real.client()) {
            return task.apply(admin);
        }
    }

    /** One Podcache that follows every Secret by name. */
    private static final class Round {

        final Queue<WatchHandle> handles = new ConcurrentLinkedQueue<>();
        final AtomicInteger opened = new AtomicInteger();
        final AtomicInteger updates = new AtomicInteger();
        final AtomicInteger ended = new AtomicInteger();
        private final Fabric8ApiServer server;
        private final String namespace;
        private final int port;
        private final int threadsBefore;

        Round(RealApiServer real, Fabric8ApiServer server, String namespace) {
            this.server = server;
            this.namespace = namespace;
            this.port = URI.create(real.url()).getPort();
            // what clients of before had open closes a moment after they did
            await().until(() -> Sockets.connectedTo(port) == 0);
            this.threadsBefore = Thread.getAllStackTraces().size();
        }

        void openAll(int number) {
            List<ListerWatcher<Secret>> all = IntStream.range(0, MANY)
                    .mapToObj(i -> server.listerWatcher(ObjectKind.SECRET, namespace, "metadata.name=secret-" + i))
                    .toList();
            long heapBefore = heap();
            long began = System.nanoTime();
            // a list that fails says why, instead of a watch that never opens
            CompletableFuture.allOf(all.stream().map(this::listAndWatch).toArray(CompletableFuture<?>[]::new))
                    .join();
            await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(2)).until(() -> opened.get() == MANY);
            long millis = Duration.ofNanos(System.nanoTime() - began).toMillis();
            log.info(
                    "round {}: {} list+watches in {} ms, {} connections, {} threads, {} B heap each",
                    number,
                    MANY,
                    millis,
                    connections(),
                    threads(),
                    (heap() - heapBefore) / MANY);
        }

        private CompletableFuture<Void> listAndWatch(ListerWatcher<Secret> secrets) {
            return secrets.list(Duration.ofSeconds(Patience.SECONDS)).thenAccept(listed -> {
                assertThat(listed.items()).hasSize(1);
                handles.add(secrets.watch(listed.resourceVersion(), Duration.ofHours(1), this::count));
            });
        }

        private void count(WatchEvent<Secret> event) {
            if (event instanceof WatchEvent.Opened) {
                opened.incrementAndGet();
            } else if (event instanceof WatchEvent.Upserted) {
                updates.incrementAndGet();
            } else if (event instanceof WatchEvent.Ended) {
                ended.incrementAndGet();
            }
        }

        long connections() {
            return Sockets.connectedTo(port);
        }

        int threads() {
            return Thread.getAllStackTraces().size() - threadsBefore;
        }

        private static long heap() {
            for (int i = 0; i < 3; i++) {
                System.gc();
            }
            return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
        }
    }

    private static String namespaceWithSecrets(KubernetesClient admin) {
        String namespace = admin.namespaces()
                .resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withGenerateName("many-")
                        .endMetadata()
                        .build())
                .create()
                .getMetadata()
                .getName();
        for (int i = 0; i < MANY; i++) {
            admin.secrets()
                    .inNamespace(namespace)
                    .resource(new SecretBuilder()
                            .withNewMetadata()
                            .withName("secret-" + i)
                            .endMetadata()
                            .withStringData(Map.of("text", "x".repeat(1500)))
                            .build())
                    .create();
        }
        return namespace;
    }

    private static String touchAll(KubernetesClient admin, String namespace) {
        for (int i = 0; i < MANY; i++) {
            admin.secrets()
                    .inNamespace(namespace)
                    .withName("secret-" + i)
                    .patch(
                            PatchContext.of(PatchType.JSON_MERGE),
                            "{\"metadata\":{\"annotations\":{\"touched\":\"true\"}}}");
        }
        return namespace;
    }
}
