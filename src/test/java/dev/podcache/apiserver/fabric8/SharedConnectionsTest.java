package dev.podcache.apiserver.fabric8;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Lists and watches through the adapter, on connections that they share; without TLS, as in a demonstration. */
@ExtendWith(NoLeaks.class)
class SharedConnectionsTest {

    @Test
    void manyObjects_listedAndWatched_shareConnectionsWithoutTls() {
        try (Timekeeper time = Timekeeper.system();
                InMemoryCluster cluster = InMemoryCluster.create(time);
                EmbeddedApiServer embedded = EmbeddedApiServer.start(cluster, 0, 50);
                KubernetesClient client = new KubernetesClientBuilder()
                        .withConfig(new ConfigBuilder(Config.empty())
                                .withMasterUrl(embedded.url())
                                .build())
                        .build();
                Fabric8ApiServer server = Fabric8ApiServer.of(client)) {
            AtomicInteger opened = new AtomicInteger();
            Queue<WatchHandle> handles = new ConcurrentLinkedQueue<>();
            for (int i = 0; i < 120; i++) {
                ListerWatcher<ConfigMap> one =
                        server.listerWatcher(ObjectKind.CONFIG_MAP, "shop", "metadata.name=config-" + i);
                one.list(Duration.ofSeconds(Patience.SECONDS))
                        .thenAccept(listed ->
                                handles.add(one.watch(listed.resourceVersion(), Duration.ofHours(1), event -> {
                                    if (event instanceof WatchEvent.Opened) {
                                        opened.incrementAndGet();
                                    }
                                })));
            }
            await().until(() -> opened.get() == 120);

            assertThat(embedded.connections()).isEqualTo(3);
            assertThat(embedded.openWatches()).isEqualTo(120);
            handles.forEach(WatchHandle::close);
            await().until(() -> embedded.openWatches() == 0);
        }
    }
}
