package dev.podcache.apiserver.http;

import static dev.podcache.testing.Patience.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.ConnectProxy;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Sockets;
import dev.podcache.testing.TcpProxy;
import dev.podcache.time.OutageBackoff;
import io.vertx.core.http.HttpConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.core.ConditionTimeoutException;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Connections that break, go silent or never open, and the failures of their watches. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class WatchConnectionsTroubleTest extends WatchConnectionsFixture {

    private static final Duration PINGS_EVERY = Duration.ofSeconds(10);

    @Test
    void pings_answered_keepTheConnection() {
        StreamServer server = server(5);
        connect(server.port());
        FollowedWatch watch = watchAndAwait(server, 1).get(0);

        ticksOf(server, 6);

        assertThat(watch.end()).isEmpty();
        assertThat(server.connections).hasSize(1);
    }

    @Test
    @ExpectedWarnings("did not answer a ping for 10 s; closing it, which fails its 3 requests and watches")
    void ping_unanswered_endsTheWatchesAndReopenedOnesGoElsewhere() {
        StreamServer server = server(5);
        TcpProxy proxy = proxy(server);
        connect(proxy.port());
        List<FollowedWatch> watches = watchAndAwait(server, 3);

        proxy.freeze();
        int timers = time.scheduledTasks();
        time.advance(PINGS_EVERY);
        // the ping is sent, and its timer runs
        await().until(() -> time.scheduledTasks() == timers);
        time.advance(PINGS_EVERY);

        await().until(() -> watches.stream().allMatch(watch -> watch.end().isPresent()));
        assertThat(watches.get(0).failure())
                .isEqualTo("WATCH /watch/0: the connection to https://127.0.0.1:" + proxy.port()
                        + " did not answer a ping for 10 s");
        assertThat(watches)
                .allMatch(watch -> watch.end().orElseThrow().failure().reason() == FailureReason.UNAVAILABLE);
        FollowedWatch again = watch("/watch/again");
        await().until(again::isOpen);
        assertThat(proxy.accepted()).isEqualTo(2);
        await().until(() -> Sockets.connectedTo(proxy.port()) == 1);
    }

    @Test
    void connection_reset_endsItsWatchesWithACause() {
        StreamServer server = server(2);
        TcpProxy proxy = proxy(server);
        connect(proxy.port());
        List<FollowedWatch> watches = watchAndAwait(server, 3);

        proxy.reset();

        for (FollowedWatch watch : watches) {
            assertThat(watch.failure()).contains("the connection to https://127.0.0.1:" + proxy.port());
        }
        FollowedWatch again = watch("/watch/again");
        await().until(again::isOpen);
    }

    @Test
    void goAway_openWatches_goOnAndNewOnesGoElsewhere() {
        StreamServer server = server(5);
        connect(server.port());
        FollowedWatch before = watchAndAwait(server, 1).get(0);
        HttpConnection first = server.connections.get(0);

        first.goAway(0, Integer.MAX_VALUE);
        await().untilAsserted(() -> {
            FollowedWatch after = watch("/watch/after");
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
    void stranger_turnedAway_watchesBesideGoOn_andNoRequestAfterItIsLost() {
        StreamServer server = server(50);
        connect(server.port());
        List<FollowedWatch> beside = watchAndAwait(server, 3);

        for (int i = 0; i < 20; i++) {
            Throwable thrown = catchThrowable(() -> read(connections.session(), "/stranger"));
            assertThat(reasonOf(thrown)).isEqualTo(FailureReason.UNAUTHORIZED);
            assertThat(read(connections.session(), "/object/" + i)).contains("/object/" + i);
        }

        server.send("/watch/0", event("still here"));
        await().until(() -> beside.get(0).objects().equals(List.of(object("still here"))));
        assertThat(beside).allMatch(watch -> watch.end().isEmpty());
    }

    @Test
    void stranger_turnedAwayAmongManyRequests_theOthersAreAnsweredElsewhere() {
        StreamServer server = server(50);
        connect(server.port());
        List<FollowedWatch> beside = watchAndAwait(server, 3);

        for (int round = 0; round < 5; round++) {
            List<CompletableFuture<String>> reads = new ArrayList<>();
            CompletableFuture<String> stranger = begin("/stranger");
            for (int i = 0; i < 20; i++) {
                reads.add(begin("/object/" + i));
            }
            FollowedWatch watch = watch("/watch/round/" + round);

            assertThat(catchThrowable(stranger::join)).hasMessageContaining("401");
            for (int i = 0; i < 20; i++) {
                assertThat(reads.get(i).join()).contains("/object/" + i);
            }
            await().until(watch::isOpen);
            assertThat(watch.end()).isEmpty();
        }
        assertThat(beside).allMatch(watch -> watch.end().isEmpty());
    }

    @Test
    void everyConnection_turnedAwayAtOnce_failsInTheEnd() {
        StreamServer server = server(50);
        server.turnAwayEverybody();
        connect(server.port());

        CompletableFuture<Integer> read = connections
                .session()
                .list(
                        ServerRequest.get("LIST /object", "/object"),
                        Duration.ofMinutes(2),
                        ApiConnections.LONGEST_LIST,
                        body -> body.length);
        // the second connection is opened at once, and others after pauses
        await().until(() -> server.turnedAway.get() >= 2);
        await().until(() -> {
            time.advance(Duration.ofSeconds(1));
            return read.isDone();
        });

        assertThat(reasonOf(catchThrowable(read::join))).isEqualTo(FailureReason.UNAVAILABLE);
        assertThat(server.turnedAway).hasValueBetween(2, 6);
    }

    /** As a load balancer does whose servers are away: the first of them that is back is to be found soon. */
    @Test
    void everyConnection_turnedAwayAtOnce_isTriedTwiceASecond() {
        StreamServer server = server(50);
        server.turnAwayEverybody();
        connect(server.port());
        CompletableFuture<String> unused = begin("/first");
        await().until(() -> server.turnedAway.get() >= 2);

        int halfSeconds = 0;
        for (int i = 0; i < 20; i++) {
            int before = server.turnedAway.get();
            CompletableFuture<String> unusedRead = begin("/object");
            // one more if the end of the connection before was noticed after the clock was set
            do {
                time.advance(OutageBackoff.INITIAL_PAUSE);
                halfSeconds++;
            } while (halfSeconds <= 40 && !isAbove(before, server.turnedAway));
        }

        assertThat(halfSeconds).isBetween(20, 40);
    }

    /** Waits for a count to grow, but not for long. */
    private static boolean isAbove(int before, AtomicInteger count) {
        try {
            await().atMost(Duration.ofSeconds(2)).until(() -> count.get() > before);
            return true;
        } catch (ConditionTimeoutException e) {
            return false;
        }
    }

    private CompletableFuture<String> begin(String path) {
        return connections
                .session()
                .list(ServerRequest.get("LIST " + path, path), READ, 1000, body -> new String(body, UTF_8));
    }

    private static FailureReason reasonOf(Throwable thrown) {
        return ((ApiServerException) thrown.getCause()).reason();
    }

    @Test
    void watchEndedByTheServer_inGoodOrder_tellsSoAndFreesItsStream() {
        StreamServer server = server(1);
        connect(server.port());
        FollowedWatch watch = watchAndAwait(server, 1).get(0);

        server.end("/watch/0");

        await().until(() -> watch.end().isPresent());
        assertThat(watch.end().orElseThrow().failure()).isNull();
        FollowedWatch next = watch("/watch/next");
        await().until(next::isOpen);
        assertThat(server.connections).hasSize(1);
    }

    @Test
    void serverWithoutHttp2_eachWatch_hasAConnectionOfItsOwn() {
        StreamServer server = StreamServer.withoutHttp2();
        open.add(server);
        connect(server.port());

        assertThat(read(connections.session(), "/object")).contains("/object");
        List<FollowedWatch> watches = watchAndAwait(server, 3);

        assertThat(server.connections).hasSize(3);
        watches.get(0).handle.close();
        await().until(() -> server.connections.size() == 2);
    }

    @Test
    void serverWithoutHttp2_anotherWithItInItsPlace_isUsedAsItIs() {
        StreamServer before = StreamServer.withoutHttp2();
        open.add(before);
        TcpProxy proxy = proxy(before);
        connect(proxy.port());
        watchAndAwait(before, 1);
        StreamServer after = server(5);
        proxy.leadTo(after.port());

        List<FollowedWatch> watches = watchAndAwait(after, 5);

        await().until(() -> {
            showLife(after, watches);
            time.advance(Duration.ofSeconds(5));
            return after.connections.size() == 1;
        });
        assertThat(watches).allMatch(watch -> watch.end().isEmpty());
    }

    /** Otherwise time would pass faster than a ping is answered, and the connections would count as frozen. */
    private static void showLife(StreamServer server, List<FollowedWatch> watches) {
        for (int i = 0; i < watches.size(); i++) {
            FollowedWatch watch = watches.get(i);
            int before = watch.objects().size();
            server.send("/watch/" + i, event("alive"));
            await().until(() -> watch.objects().size() > before);
        }
    }

    @Test
    void proxyConfigured_https_tunnelsSharedConnections() {
        StreamServer server = server(5);
        ConnectProxy proxy = ConnectProxy.to(server.port());
        open.add(proxy);
        connections = new ApiConnections(
                "https://127.0.0.1:1",
                config().withHttpsProxy(proxy.url()).build(),
                config().build().getRequestConfig(),
                time,
                (request, status) -> {});

        watchAndAwait(server, 8);

        assertThat(proxy.tunnels()).hasSize(2);
    }

    @Test
    void nobodyListening_everyWaitingRequest_failsWithTheCause() {
        StreamServer server = server(5);
        int port = server.port();
        server.close();
        connect(port);

        List<FollowedWatch> watches = watch(3);

        for (FollowedWatch watch : watches) {
            assertThat(watch.failure()).contains("no connection to https://127.0.0.1:" + port);
        }
    }

    @Test
    void serverThatNeverAnswers_patienceOver_failsWithTimeout() {
        StreamServer server = server(5);
        TcpProxy proxy = proxy(server);
        proxy.freezeNew();
        connect(proxy.port());
        FollowedWatch watch = watch("/watch");
        await().until(() -> proxy.accepted() == 1);

        time.advance(Duration.ofSeconds(20));

        await().until(() -> watch.end().isPresent());
        assertThat(watch.end().orElseThrow().failure().reason()).isEqualTo(FailureReason.TIMEOUT);
    }

    @Test
    void close_openWatchesAndReads_endWithACause() {
        StreamServer server = server(5);
        connect(server.port());
        List<FollowedWatch> watches = watchAndAwait(server, 7);

        connections.close();

        assertThat(watches).allMatch(watch -> watch.failure().contains("have been closed"));
        Throwable thrown = catchThrowable(() -> read(connections.session(), "/late"));
        assertThat(thrown).hasCauseInstanceOf(ApiServerException.class);
    }

    /** Lets {@code count} periods pass, each answered ping and all. */
    private void ticksOf(StreamServer server, int count) {
        for (int i = 0; i < count; i++) {
            time.advance(PINGS_EVERY);
            // comes after the answer to the ping
            read(connections.session(), "/tick/" + i);
        }
        await().until(() -> server.pings.get() >= count);
    }
}
