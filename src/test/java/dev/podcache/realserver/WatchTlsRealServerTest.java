package dev.podcache.realserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Whom watches trust. A proxy leads every host name to the same real server, whose certificate is for 127.0.0.1; so
 * these tests are about proxies too.
 */
@RealServerTest
@NullUnmarked
@ExtendWith(NoLeaks.class)
class WatchTlsRealServerTest {

    private static final RealApiServer REAL = RealApiServer.shared();

    private final Vertx vertx =
            Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1).setUseDaemonThread(true));
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private final BlockingQueue<WatchEvent<ConfigMap>> events = new LinkedBlockingQueue<>();
    private KubernetesClient client;
    private Fabric8ApiServer server;

    @AfterEach
    void tearDown() {
        server.close();
        client.close();
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    @Test
    void watch_ownHostThroughAProxy_opens() throws InterruptedException {
        watch(config(REAL.url()));

        assertThat(next()).isInstanceOf(WatchEvent.Opened.class);
        assertThat(asked)
                .singleElement()
                .asString()
                .startsWith("CONNECT 127.0.0.1:" + URI.create(REAL.url()).getPort() + " ");
    }

    @Test
    void watch_certificateOfAnotherHost_isRefused() throws InterruptedException {
        watch(config("https://wrong.invalid:6443"));

        ApiServerException failure = ((WatchEvent.Ended<ConfigMap>) next()).failure();
        assertThat(failure.reason()).isEqualTo(FailureReason.UNAVAILABLE);
        assertThat(failure.getMessage())
                .startsWith("WATCH configmaps: no TLS connection to https://wrong.invalid:6443");
    }

    @Test
    void watch_certificateOfAnotherHostAndVerificationOff_opens() throws InterruptedException {
        watch(config("https://wrong.invalid:6443").withDisableHostnameVerification(true));

        assertThat(next()).isInstanceOf(WatchEvent.Opened.class);
    }

    @Test
    void watch_certificateOfAnUnknownAuthority_isRefused() throws InterruptedException {
        watch(config(REAL.url()).withCaCertData(null));

        ApiServerException failure = ((WatchEvent.Ended<ConfigMap>) next()).failure();
        assertThat(failure.getMessage()).startsWith("WATCH configmaps: no TLS connection to " + REAL.url());
    }

    @Test
    void watch_trustCerts_opensWithoutAnAuthority() throws InterruptedException {
        watch(config("https://wrong.invalid:6443").withCaCertData(null).withTrustCerts(true));

        assertThat(next()).isInstanceOf(WatchEvent.Opened.class);
    }

    private WatchEvent<ConfigMap> next() throws InterruptedException {
        WatchEvent<ConfigMap> event = events.poll(60, TimeUnit.SECONDS);
        assertThat(event).as("an event").isNotNull();
        return event;
    }

    private void watch(ConfigBuilder config) {
        client = new KubernetesClientBuilder().withConfig(config.build()).build();
        server = Fabric8ApiServer.of(client);
        server.listerWatcher(ObjectKind.CONFIG_MAP, "", "").watch("0", Duration.ofMinutes(1), events::add);
    }

    private ConfigBuilder config(String url) {
        return new ConfigBuilder(REAL.config())
                .withMasterUrl(url)
                .withHttpsProxy("http://127.0.0.1:" + proxy().actualPort());
    }

    /** An HTTP proxy that takes every host for the real server. */
    private NetServer proxy() {
        NetServer proxy = vertx.createNetServer().connectHandler(client -> {
            client.handler(head -> {
                asked.add(head.toString());
                client.pause();
                vertx.createNetClient()
                        .connect(URI.create(REAL.url()).getPort(), "127.0.0.1")
                        .onSuccess(server -> join(client, server));
            });
        });
        proxy.listen(0, "127.0.0.1").toCompletionStage().toCompletableFuture().join();
        return proxy;
    }

    private static void join(NetSocket client, NetSocket server) {
        client.write("HTTP/1.1 200 Connection established\r\n\r\n");
        client.pipeTo(server);
        server.pipeTo(client);
    }
}
