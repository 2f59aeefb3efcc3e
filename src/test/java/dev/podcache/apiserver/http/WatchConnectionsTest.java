package dev.podcache.apiserver.http;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Slow;
import dev.podcache.testing.TcpProxy;
import io.vertx.core.http.HttpConnection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Watches and reads on shared connections, against a server whose limit, protocol and network
 * are as bad as a test likes.
 */
@Slow
@NullUnmarked
@ExtendWith(NoLeaks.class)
class WatchConnectionsTest extends WatchConnectionsFixture {

    private static final Duration IDLE = Duration.ofSeconds(5);

    @Test
    void manyWatches_limitOfFive_shareAsFewConnectionsAsPossible() {
        StreamServer server = server(5);
        connect(server.port());

        List<FollowedWatch> watches = watchAndAwait(server, 23);

        assertThat(server.connections).hasSize(5);
        assertThat(watches).allMatch(watch -> watch.end().isEmpty());
    }

    @Test
    void closeOfAllWatches_idleTimeOver_givesTheConnectionsBack() {
        StreamServer server = server(5);
        connect(server.port());
        List<FollowedWatch> watches = watchAndAwait(server, 23);

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
        List<FollowedWatch> watches = watchAndAwait(server, 3);

        watches.get(0).handle.close();
        await().until(() -> server.openWatches() == 2);
        FollowedWatch another = watch("/watch/another");
        await().until(another::isOpen);

        assertThat(server.connections).hasSize(1);
    }

    @Test
    void newWatch_roomOnTwoConnections_joinsTheFullerOne() {
        StreamServer server = server(5);
        connect(server.port());
        List<FollowedWatch> watches = watchAndAwait(server, 10);
        HttpConnection first = server.cameOver.get("/watch/0");
        List<FollowedWatch> onFirst = IntStream.range(0, 10)
                .filter(i -> server.cameOver.get("/watch/" + i) == first)
                .mapToObj(watches::get)
                .toList();
        onFirst.subList(0, 3).forEach(watch -> watch.handle.close());
        FollowedWatch onSecond = watches.stream()
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

        List<FollowedWatch> watches = watch(550);
        await().until(() -> proxy.accepted() == 1);
        proxy.thaw();
        await().until(() -> watches.stream().allMatch(FollowedWatch::isOpen));

        assertThat(proxy.accepted()).isEqualTo(6);
    }

    @Test
    void spareConnection_hardlyAnySeatLeft_isMadeBeforeAnybodyNeedsIt() {
        StreamServer server = server(10);
        connect(server.port());
        watchAndAwait(server, 9);

        await().until(() -> server.connections.size() == 2);

        FollowedWatch tenth = watch("/tenth");
        FollowedWatch eleventh = watch("/eleventh");
        await().until(() -> tenth.isOpen() && eleventh.isOpen());
        assertThat(server.connections).hasSize(2);
    }

    @Test
    void spareConnection_nothingIsWatchedAnyMore_isGivenBackToo() {
        StreamServer server = server(10);
        connect(server.port());
        List<FollowedWatch> watches = watchAndAwait(server, 9);
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
        FollowedWatch ninth = watch("/ninth");
        await().until(() -> ninth.isOpen() && proxy.accepted() == 2);

        FollowedWatch tenth = watch("/tenth");

        await().until(tenth::isOpen);
        assertThat(server.connections).hasSize(1);
    }

    @Test
    void listAndWatch_ofOneSession_goOverOneConnection() {
        StreamServer server = server(5);
        connect(server.port());
        List<ApiConnections.Session> sessions =
                IntStream.range(0, 23).mapToObj(i -> connections.session()).toList();

        for (int i = 0; i < 23; i++) {
            assertThat(read(sessions.get(i), "/object/" + i)).contains("/object/" + i);
            await().until(watch(sessions.get(i), "/watch/" + i)::isOpen);
        }

        assertThat(server.connections).hasSize(5);
        for (int i = 0; i < 23; i++) {
            assertThat(server.cameOver.get("/watch/" + i)).isSameAs(server.cameOver.get("/object/" + i));
        }
    }

    @Test
    void read_noWatchFollows_keepsNoConnection() {
        StreamServer server = server(5);
        connect(server.port());
        read(connections.session(), "/object");

        awaitIdle(server);
    }

    @Test
    void read_refused_failsAndFreesItsStream() {
        StreamServer server = server(1);
        connect(server.port());

        for (int i = 0; i < 3; i++) {
            Throwable thrown = catchThrowable(() -> connections
                    .session()
                    .list(ServerRequest.get("LIST objects", "/error"), READ, 1000, body -> {
                        throw new IllegalStateException("not readable");
                    })
                    .join());
            assertThat(thrown).hasRootCauseMessage("not readable");
        }
        FollowedWatch watch = watch("/watch");

        await().until(watch::isOpen);
    }

    @Test
    void closeOfAWatch_openStream_isReset() {
        StreamServer server = server(5);
        connect(server.port());
        List<FollowedWatch> watches = watchAndAwait(server, 2);

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
        List<FollowedWatch> unwanted = watch(10);
        unwanted.forEach(watch -> watch.handle.close());
        proxy.thaw();

        List<FollowedWatch> watches = watchAndAwait(server, 4);

        assertThat(server.connections).hasSize(1);
        assertThat(watches).allMatch(watch -> watch.end().isEmpty());
        assertThat(unwanted).allMatch(watch -> watch.events.isEmpty());
    }

    @Test
    void eventOfMegabytes_onOneStream_arrivesWholeAndHoldsUpNoOther() {
        StreamServer server = server(5);
        connect(server.port());
        List<FollowedWatch> watches = watchAndAwait(server, 2);
        String large = "日本語 🎉é".repeat(100_000);

        server.send("/watch/0", event(large).substring(0, 700_003));
        server.send("/watch/1", event("small"));
        await().until(() -> watches.get(1).objects().equals(List.of(object("small"))));
        assertThat(watches.get(0).objects()).isEmpty();
        server.send("/watch/0", event(large).substring(700_003));

        await().until(() -> watches.get(0).objects().equals(List.of(object(large))));
    }

    @Test
    void openAndClose_atRandom_losesNoStream() {
        StreamServer server = server(7);
        connect(server.port());
        Random random = new Random(42);
        List<FollowedWatch> kept = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            ApiConnections.Session session = connections.session();
            if (random.nextBoolean()) {
                session.list(ServerRequest.get("LIST objects", "/object/" + i), READ, 1000, body -> body.length);
            }
            FollowedWatch watch = watch(session, "/watch/" + i);
            if (random.nextInt(10) == 0) {
                kept.add(watch);
            } else {
                watch.handle.close();
            }
        }
        await().until(() -> kept.stream().allMatch(FollowedWatch::isOpen) && server.openWatches() == kept.size());

        kept.forEach(watch -> watch.handle.close());
        await().until(() -> server.openWatches() == 0);
        awaitIdle(server);
        watchAndAwait(server, 7);
        assertThat(server.connections).hasSize(1);
    }

    /** Lets time pass until every connection was given back. */
    private void awaitIdle(StreamServer server) {
        await().until(() -> {
            time.advance(IDLE);
            return server.connections.isEmpty();
        });
    }
}
