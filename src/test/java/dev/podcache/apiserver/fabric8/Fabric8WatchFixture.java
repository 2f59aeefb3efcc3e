package dev.podcache.apiserver.fabric8;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.ObjectKind;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Watches over HTTP of a server whose answers a test writes. */
@NullUnmarked
abstract class Fabric8WatchFixture {

    static final Duration HOUR = Duration.ofHours(1);

    final ScriptedServer network = new ScriptedServer();
    final BlockingQueue<WatchEvent<ConfigMap>> events = new LinkedBlockingQueue<>();
    KubernetesClient client;
    Fabric8ApiServer server;

    @BeforeEach
    void setUp() {
        connect(config(network.url()));
    }

    @AfterEach
    void tearDown() {
        server.close();
        client.close();
        network.close();
    }

    WatchHandle watch() {
        return configMaps("").watch("1", HOUR, events::add);
    }

    ListerWatcher<ConfigMap> configMaps(String fieldSelector) {
        return server.listerWatcher(ObjectKind.CONFIG_MAP, "shop", fieldSelector);
    }

    WatchEvent<ConfigMap> next() throws InterruptedException {
        WatchEvent<ConfigMap> event = events.poll(60, TimeUnit.SECONDS);
        assertThat(event).as("an event").isNotNull();
        return event;
    }

    static String text(WatchEvent<ConfigMap> event) {
        assertThat(event).isInstanceOf(WatchEvent.Upserted.class);
        return ((WatchEvent.Upserted<ConfigMap>) event)
                .fetched()
                .object()
                .getData()
                .get("text");
    }

    static ApiServerException ended(WatchEvent<ConfigMap> event) {
        assertThat(event).isInstanceOf(WatchEvent.Ended.class);
        ApiServerException failure = ((WatchEvent.Ended<ConfigMap>) event).failure();
        assertThat(failure).isNotNull();
        return failure;
    }

    void connect(ConfigBuilder config) {
        if (server != null) {
            server.close();
            client.close();
        }
        client = new KubernetesClientBuilder().withConfig(config.build()).build();
        server = Fabric8ApiServer.of(client);
    }

    static ConfigBuilder config(String url) {
        return new ConfigBuilder(Config.empty()).withMasterUrl(url);
    }

    static String event(String type, String text) {
        return "{\"type\":\"" + type + "\",\"object\":{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\","
                + "\"namespace\":\"shop\",\"resourceVersion\":\"5\"},\"data\":{\"text\":\"" + text + "\"}}}\n";
    }
}
