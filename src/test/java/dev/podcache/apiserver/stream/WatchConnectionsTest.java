package dev.podcache.apiserver.stream;

import static dev.podcache.testing.Patience.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ObjectDecoder;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Sockets;
import dev.podcache.testing.TcpProxy;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.vertx.core.http.HttpConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Watches and reads on shared connections, against a server whose limit, protocol and network
 * are as bad as a test likes.
 */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class WatchConnectionsTest {

    private static final Duration IDLE = Duration.ofSeconds(5);
    private static final Duration READ = Duration.ofSeconds(10);
    private static final ObjectDecoder<String> TEXT =
            (json, offset, length) -> new Fetched<>(new String(json, offset, length, UTF_8), "1", length);

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final List<AutoCloseable> open = new ArrayList<>();
    private WatchConnections connections;

    /** A watch and what it told. */
    private static final class Followed {
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

    @Test
    void manyWatches_limitOfFive_shareAsFewConnectionsAsPossible() {
        StreamServer server = server(5);
        connect(server.port());

        List<Followed> watches = watchAndAwait(server, 23);

        assertThat(server.connections).hasSize(5);
        assertThat(watches).allMatch(watch -> watch.end().isEmpty());
    }

    @Test
    void closeOfAllWatches_idleTimeOver_givesTheConnectionsBack() {
        StreamServer server = server(5);
        connect(server.port());
        List<Followed> watches = watchAndAwait(server, 23);

        watches.forEach(watch -> watch.handle.close());
        await().until(() -> server.openWatches() == 0);
        assertThat(server.connections).hasSize(5);
        awaitIdle(server);

        assertThat(watches).allMatch(watch -> watch.end().isEmpty());
    }

    @Test
    void watchClosed_itsStream_isFreeForAnother() {
        StreamServer server = server(3);
        connect(server.port());
        List<Followed> watches = watchAndAwait(server, 3);

        watches.get(0).handle.close();
        await().until(() -> server.openWatches() == 2);
        Followed another = watch("/watch/another");
        await().until(another::isOpen);

        assertThat(server.connections).hasSize(1);
    }

    @Test
    void newWatch_roomOnTwoConnections_joinsTheFullerOne() {
        StreamServer server = server(5);
        connect(server.port());
        List<Followed> watches = watchAndAwait(server, 10);
        HttpConnection first = server.cameOver.get("/watch/0");
        List<Followed> onFirst = IntStream.range(0, 10)
                .filter(i -> server.cameOver.get("/watch/" + i) == first)
                .mapToObj(watches::get)
                .toList();
        onFirst.subList(0, 3).forEach(watch -> watch.handle.close());
        Followed onSecond = watches.stream()
                .filter(watch -> !onFirst.contains(watch))
                .findFirst()
                .orElseThrow();
        onSecond.handle.close();
        await().until(() -> server.openWatches() == 6);

        await().until(watch("/watch/another")::isOpen);

        assertThat(server.cameOver.get("/watch/another")).isNotSameAs(first);
    }

    @Test
    void burst_limitNotKnownYet_waitsForItOnOneConnection() {
        StreamServer server = server(100);
        TcpProxy proxy = proxy(server);
        proxy.freezeNew();
        connect(proxy.port());

        List<Followed> watches = watch(550);
        await().until(() -> proxy.accepted() == 1);
        proxy.thaw();
        await().until(() -> watches.stream().allMatch(Followed::isOpen));

        assertThat(proxy.accepted()).isEqualTo(6);
    }

    @Test
    void spareConnection_hardlyAnySeatLeft_isMadeBeforeAnybodyNeedsIt() {
        StreamServer server = server(10);
        connect(server.port());
        watchAndAwait(server, 9);

        await().until(() -> server.connections.size() == 2);

        assertThat(server.cameOver.get("/version")).isSameAs(server.connections.get(1));
        Followed tenth = watch("/tenth");
        Followed eleventh = watch("/eleventh");
        await().until(() -> tenth.isOpen() && eleventh.isOpen());
        assertThat(server.connections).hasSize(2);
    }

    @Test
    void spareConnection_nothingIsWatchedAnyMore_isGivenBackToo() {
        StreamServer server = server(10);
        connect(server.port());
        List<Followed> watches = watchAndAwait(server, 9);
        await().until(() -> server.connections.size() == 2);

        watches.forEach(watch -> watch.handle.close());

        awaitIdle(server);
    }

    @Test
    void spareConnection_cannotBeMade_harmsNobody() {
        StreamServer server = server(10);
        TcpProxy proxy = proxy(server);
        connect(proxy.port());
        watchAndAwait(server, 8);
        proxy.freezeNew();
        Followed ninth = watch("/ninth");
        await().until(() -> ninth.isOpen() && proxy.accepted() == 2);

        Followed tenth = watch("/tenth");

        await().until(tenth::isOpen);
        assertThat(server.connections).hasSize(1);
    }

    @Test
    void readAndWatch_ofOneLane_goOverOneConnection() {
        StreamServer server = server(5);
        connect(server.port());
        List<Lane> lanes =
                IntStream.range(0, 23).mapToObj(i -> connections.lane()).toList();

        List<Followed> watches = new ArrayList<>();
        for (int i = 0; i < 23; i++) {
            assertThat(read(lanes.get(i), "/object/" + i)).contains("/object/" + i);
        }
        for (int i = 0; i < 23; i++) {
            watches.add(watch(lanes.get(i), "/watch/" + i));
        }
        await().until(() -> watches.stream().allMatch(Followed::isOpen));

        assertThat(server.connections).hasSize(5);
        for (int i = 0; i < 23; i++) {
            assertThat(server.cameOver.get("/watch/" + i)).isSameAs(server.cameOver.get("/object/" + i));
        }
    }

    @Test
    void read_noWatchFollows_keepsNoConnection() {
        StreamServer server = server(5);
        connect(server.port());
        read(connections.lane(), "/object");

        awaitIdle(server);
    }

    @Test
    void read_refused_failsAndFreesItsStream() {
        StreamServer server = server(1);
        connect(server.port());

        for (int i = 0; i < 3; i++) {
            Throwable thrown = catchThrowable(() -> connections
                    .lane()
                    .read("LIST objects", "/error", READ, body -> {
                        throw new IllegalStateException("not readable");
                    })
                    .join());
            assertThat(thrown).hasRootCauseMessage("not readable");
        }
        Followed watch = watch("/watch");

        await().until(watch::isOpen);
    }

    @Test
    void pings_answered_keepTheConnection() {
        StreamServer server = server(5);
        connect(server.port());
        Followed watch = watchAndAwait(server, 1).get(0);

        ticksOf(server, 6);

        assertThat(watch.end()).isEmpty();
        assertThat(server.connections).hasSize(1);
    }

    @Test
    @ExpectedWarnings("did not answer a ping for 10 s; it is closed, and its 3 watches are opened again on another")
    void ping_unanswered_endsTheWatchesAndReopenedOnesGoElsewhere() {
        StreamServer server = server(5);
        TcpProxy proxy = proxy(server);
        connect(proxy.port());
        List<Followed> watches = watchAndAwait(server, 3);

        proxy.freeze();
        await().until(() -> {
            time.advance(Pulse.PERIOD);
            return watches.get(0).end().isPresent();
        });

        assertThat(watches.get(0).failure())
                .isEqualTo("WATCH /watch/0: the connection to https://127.0.0.1:" + proxy.port()
                        + " did not answer a ping for 10 s");
        assertThat(watches)
                .allMatch(watch -> watch.end().orElseThrow().failure().reason() == FailureReason.UNAVAILABLE);
        Followed again = watch("/watch/again");
        await().until(again::isOpen);
        assertThat(proxy.accepted()).isEqualTo(2);
        await().until(() -> Sockets.connectedTo(proxy.port()) == 1);
    }

    @Test
    void connection_reset_endsItsWatchesWithACause() {
        StreamServer server = server(2);
        TcpProxy proxy = proxy(server);
        connect(proxy.port());
        List<Followed> watches = watchAndAwait(server, 3);

        proxy.reset();

        for (Followed watch : watches) {
            assertThat(watch.failure()).contains("the connection to https://127.0.0.1:" + proxy.port());
        }
        Followed again = watch("/watch/again");
        await().until(again::isOpen);
    }

    @Test
    void goAway_openWatches_goOnAndNewOnesGoElsewhere() {
        StreamServer server = server(5);
        connect(server.port());
        Followed before = watchAndAwait(server, 1).get(0);
        HttpConnection first = server.connections.get(0);

        first.goAway(0, Integer.MAX_VALUE);
        await().untilAsserted(() -> {
            Followed after = watch("/watch/after");
            await().until(after::isOpen);
            after.handle.close();
            assertThat(server.cameOver.get("/watch/after")).isNotSameAs(first);
        });

        server.send("/watch/0", event("still here"));
        await().until(() -> before.objects().equals(List.of(object("still here"))));
        before.handle.close();
        await().until(() -> !server.connections.contains(first));
    }

    @Test
    void watchEndedByTheServer_inGoodOrder_tellsSoAndFreesItsStream() {
        StreamServer server = server(1);
        connect(server.port());
        Followed watch = watchAndAwait(server, 1).get(0);

        server.end("/watch/0");

        await().until(() -> watch.end().isPresent());
        assertThat(watch.end().orElseThrow().failure()).isNull();
        Followed next = watch("/watch/next");
        await().until(next::isOpen);
        assertThat(server.connections).hasSize(1);
    }

    @Test
    void closeOfAWatch_openStream_isReset() {
        StreamServer server = server(5);
        connect(server.port());
        List<Followed> watches = watchAndAwait(server, 2);

        watches.get(0).handle.close();

        await().until(() -> !server.isWatched("/watch/0"));
        assertThat(server.isWatched("/watch/1")).isTrue();
    }

    @Test
    void closeOfWatches_beforeTheyOpened_freesTheirStreams() {
        StreamServer server = server(4);
        TcpProxy proxy = proxy(server);
        proxy.freezeNew();
        connect(proxy.port());
        List<Followed> unwanted = watch(10);
        unwanted.forEach(watch -> watch.handle.close());
        proxy.thaw();

        List<Followed> watches = watchAndAwait(server, 4);

        assertThat(server.connections).hasSize(1);
        assertThat(watches).allMatch(watch -> watch.end().isEmpty());
        assertThat(unwanted).allMatch(watch -> watch.events.isEmpty());
    }

    @Test
    void eventOfMegabytes_onOneStream_arrivesWholeAndHoldsUpNoOther() {
        StreamServer server = server(5);
        connect(server.port());
        List<Followed> watches = watchAndAwait(server, 2);
        String large = "日本語 🎉é".repeat(100_000);

        server.send("/watch/0", event(large).substring(0, 700_003));
        server.send("/watch/1", event("small"));
        await().until(() -> watches.get(1).objects().equals(List.of(object("small"))));
        assertThat(watches.get(0).objects()).isEmpty();
        server.send("/watch/0", event(large).substring(700_003));

        await().until(() -> watches.get(0).objects().equals(List.of(object(large))));
    }

    @Test
    void serverWithoutHttp2_eachWatch_hasAConnectionOfItsOwn() {
        StreamServer server = StreamServer.withoutHttp2();
        open.add(server);
        connect(server.port());

        assertThat(read(connections.lane(), "/object")).isEmpty();
        List<Followed> watches = watchAndAwait(server, 3);

        assertThat(server.connections).hasSize(3);
        watches.get(0).handle.close();
        await().until(() -> server.connections.size() == 2);
    }

    @Test
    void serverWithoutHttp2_aMinuteLater_isAskedAgain() {
        StreamServer before = StreamServer.withoutHttp2();
        open.add(before);
        TcpProxy proxy = proxy(before);
        connect(proxy.port());
        watchAndAwait(before, 1);
        StreamServer after = server(5);
        proxy.leadTo(after.port());

        time.advance(Duration.ofMinutes(1));
        List<Followed> watches = watchAndAwait(after, 5);

        assertThat(after.connections).hasSize(1);
        assertThat(watches).allMatch(watch -> watch.end().isEmpty());
    }

    @Test
    void openAndClose_atRandom_losesNoStream() {
        StreamServer server = server(7);
        connect(server.port());
        Random random = new Random(42);
        List<Followed> kept = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            Lane lane = connections.lane();
            if (random.nextBoolean()) {
                lane.read("LIST objects", "/object/" + i, READ, body -> body.length);
            }
            Followed watch = watch(lane, "/watch/" + i);
            if (random.nextInt(10) == 0) {
                kept.add(watch);
            } else {
                watch.handle.close();
            }
        }
        await().until(() -> kept.stream().allMatch(Followed::isOpen) && server.openWatches() == kept.size());

        kept.forEach(watch -> watch.handle.close());
        await().until(() -> server.openWatches() == 0);
        awaitIdle(server);
        watchAndAwait(server, 7);
        assertThat(server.connections).hasSize(1);
    }

    @Test
    void proxyConfigured_https_tunnelsSharedConnections() {
        StreamServer server = server(5);
        ConnectProxy proxy = new ConnectProxy(server.port());
        open.add(proxy);
        connections = new WatchConnections(
                "https://127.0.0.1:1",
                config().withHttpsProxy(proxy.url()).build(),
                config().build().getRequestConfig(),
                time);

        watchAndAwait(server, 8);

        assertThat(proxy.tunnels).hasValue(2);
    }

    @Test
    void nobodyListening_everyWaitingRequest_failsWithTheCause() {
        StreamServer server = server(5);
        int port = server.port();
        server.close();
        connect(port);

        List<Followed> watches = watch(3);

        for (Followed watch : watches) {
            assertThat(watch.failure()).contains("no connection to https://127.0.0.1:" + port);
        }
    }

    @Test
    void serverThatNeverAnswers_patienceOver_failsWithTimeout() {
        StreamServer server = server(5);
        TcpProxy proxy = proxy(server);
        proxy.freezeNew();
        connect(proxy.port());
        Followed watch = watch("/watch");
        await().until(() -> proxy.accepted() == 1);

        time.advance(Duration.ofSeconds(20));

        await().until(() -> watch.end().isPresent());
        assertThat(watch.end().orElseThrow().failure().reason()).isEqualTo(FailureReason.TIMEOUT);
    }

    @Test
    void close_openWatchesAndReads_endWithACause() {
        StreamServer server = server(5);
        connect(server.port());
        List<Followed> watches = watchAndAwait(server, 7);

        connections.close();

        assertThat(watches).allMatch(watch -> watch.failure().endsWith("has been closed"));
        Throwable thrown = catchThrowable(() -> read(connections.lane(), "/late"));
        assertThat(thrown).hasCauseInstanceOf(ApiServerException.class);
    }

    private StreamServer server(int limit) {
        StreamServer server = StreamServer.withLimit(limit);
        open.add(server);
        return server;
    }

    private TcpProxy proxy(StreamServer server) {
        TcpProxy proxy = TcpProxy.to(server.port());
        open.add(0, proxy);
        return proxy;
    }

    private void connect(int port) {
        Config config = config().build();
        connections = new WatchConnections("https://127.0.0.1:" + port, config, config.getRequestConfig(), time);
    }

    private static ConfigBuilder config() {
        return new ConfigBuilder(Config.empty()).withTrustCerts(true);
    }

    private List<Followed> watch(int count) {
        return IntStream.range(0, count).mapToObj(i -> watch("/watch/" + i)).toList();
    }

    private List<Followed> watchAndAwait(StreamServer server, int count) {
        List<Followed> watches = watch(count);
        await().until(() -> watches.stream().allMatch(Followed::isOpen));
        assertThat(server.openWatches()).isEqualTo(count);
        return watches;
    }

    private Followed watch(String path) {
        return watch(connections.lane(), path);
    }

    private static Followed watch(Lane lane, String path) {
        Followed watch = new Followed();
        watch.handle = lane.open(new WatchRequest<>("WATCH " + path, path, TEXT), watch.events::add);
        return watch;
    }

    private static Optional<String> read(Lane lane, String path) {
        return lane.read("LIST " + path, path, READ, body -> new String(body, UTF_8))
                .join();
    }

    /** Lets {@code count} periods pass, each answered ping and all. */
    private void ticksOf(StreamServer server, int count) {
        for (int i = 0; i < count; i++) {
            time.advance(Pulse.PERIOD);
            // comes after the answer to the ping
            read(connections.lane(), "/tick/" + i);
        }
        await().until(() -> server.pings.get() >= count);
    }

    /** Lets time pass until every connection was given back. */
    private void awaitIdle(StreamServer server) {
        await().until(() -> {
            time.advance(IDLE);
            return server.connections.isEmpty();
        });
    }

    private static String event(String text) {
        return "{\"type\":\"ADDED\",\"object\":" + object(text) + "}\n";
    }

    private static String object(String text) {
        return "{\"text\":\"" + text + "\"}";
    }
}
