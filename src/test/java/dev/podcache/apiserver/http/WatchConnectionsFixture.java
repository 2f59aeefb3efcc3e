package dev.podcache.apiserver.http;

import static dev.podcache.testing.Patience.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ObjectDecoder;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.TcpProxy;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;

/** Watches over connections to a server in this process. */
@NullUnmarked
abstract class WatchConnectionsFixture {

    static final Duration READ = Duration.ofSeconds(10);
    private static final ObjectDecoder<String> TEXT =
            (json, offset, length) -> new Fetched<>(new String(json, offset, length, UTF_8), "1", length);

    final ManualTimekeeper time = new ManualTimekeeper();
    final List<AutoCloseable> open = new ArrayList<>();
    ApiConnections connections;

    /** A watch and its events. */
    static final class FollowedWatch {
        final Queue<WatchEvent<String>> events = new ConcurrentLinkedQueue<>();
        WatchHandle handle;

        boolean isOpen() {
            return events.stream().anyMatch(event -> event instanceof WatchEvent.Opened);
        }

        Optional<WatchEvent.Ended<String>> end() {
            return events.stream()
                    .filter(event -> event instanceof WatchEvent.Ended)
                    .map(event -> (WatchEvent.Ended<String>) event)
                    .findFirst();
        }

        String failure() {
            await().until(() -> end().isPresent());
            return end().orElseThrow().failure().getMessage();
        }

        List<String> objects() {
            return events.stream()
                    .filter(event -> event instanceof WatchEvent.Upserted)
                    .map(event ->
                            ((WatchEvent.Upserted<String>) event).fetched().object())
                    .toList();
        }
    }

    @AfterEach
    void tearDown() throws Exception {
        if (connections != null) {
            connections.close();
        }
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    StreamServer server(int limit) {
        StreamServer server = StreamServer.withLimit(limit);
        open.add(server);
        return server;
    }

    TcpProxy proxy(StreamServer server) {
        TcpProxy proxy = TcpProxy.to(server.port());
        open.add(0, proxy);
        return proxy;
    }

    void connect(int port) {
        Config config = config().build();
        connections = new ApiConnections(
                "https://127.0.0.1:" + port, config, config.getRequestConfig(), time, (request, status) -> {});
    }

    /** Connects with that much memory for what is not decoded. */
    void connect(int port, int mostBytes) {
        Config config = config().build();
        connections = new ApiConnections(
                "https://127.0.0.1:" + port,
                config,
                config.getRequestConfig(),
                ClientInterceptors.NONE,
                time,
                (request, status) -> {},
                mostBytes);
    }

    static ConfigBuilder config() {
        return new ConfigBuilder(Config.empty()).withTrustCerts(true);
    }

    List<FollowedWatch> watch(int count) {
        return IntStream.range(0, count).mapToObj(i -> watch("/watch/" + i)).toList();
    }

    List<FollowedWatch> watchAndAwait(StreamServer server, int count) {
        List<FollowedWatch> watches = watch(count);
        await().until(() -> watches.stream().allMatch(FollowedWatch::isOpen));
        assertThat(server.openWatches()).isEqualTo(count);
        return watches;
    }

    FollowedWatch watch(String path) {
        return watch(connections.session(), path);
    }

    static FollowedWatch watch(ApiConnections.Session session, String path) {
        FollowedWatch watch = new FollowedWatch();
        watch.handle = session.watch(
                ServerRequest.get("WATCH " + path, path), ApiConnections.LONGEST_OBJECT, TEXT, watch.events::add);
        return watch;
    }

    static String read(ApiConnections.Session session, String path) {
        return session.list(
                        ServerRequest.get("LIST " + path, path),
                        READ,
                        ApiConnections.LONGEST_LIST,
                        body -> new String(body, UTF_8))
                .join();
    }

    static String event(String text) {
        return "{\"type\":\"ADDED\",\"object\":" + object(text) + "}\n";
    }

    static String object(String text) {
        return "{\"text\":\"" + text + "\"}";
    }
}
