package dev.podcache.testing;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.TcpProxy.Direction;
import dev.podcache.testing.TcpProxy.ProxyConnection;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class TcpProxyTest extends TcpProxyFixture {

    @Test
    void forward_bytesOfEitherSide_reachTheOther() throws IOException {
        Ends ends = connect();

        say(ends.client(), "question");
        say(ends.server(), "answer");

        assertThat(hear(ends.server(), 8)).isEqualTo("question");
        assertThat(hear(ends.client(), 6)).isEqualTo("answer");
    }

    @Test
    void forward_oneSideEndsItsHalf_otherHalfStillWorks() throws IOException {
        Ends ends = connect();
        say(ends.client(), "question");
        ends.client().shutdownOutput();
        assertThat(hear(ends.server(), 8)).isEqualTo("question");
        assertThat(ends.server().getInputStream().read()).isEqualTo(-1);

        say(ends.server(), "answer");

        assertThat(hear(ends.client(), 6)).isEqualTo("answer");
    }

    @Test
    void forward_serverResets_clientIsReset() throws IOException {
        Ends ends = connect();

        ends.server().setSoLinger(true, 0);
        ends.server().close();

        assertReset(ends.client());
    }

    @Test
    void forward_nobodyListensAtTarget_clientIsReset() throws IOException {
        server.close();

        assertDialIsReset();

        assertThat(proxy.connections()).isEmpty();
    }

    @Test
    void leadTo_connectionsBeforeAndAfter_eachStaysWithItsServer() throws IOException {
        Ends before = connect();
        ServerSocket other = listen();
        proxy.leadTo(other.getLocalPort());
        Socket client = dial();
        Socket there = keep(other.accept());

        say(client, "new");
        say(before.client(), "old");

        assertThat(hear(there, 3)).isEqualTo("new");
        assertThat(hear(before.server(), 3)).isEqualTo("old");
    }

    @Test
    void emptyFor_connectionThatEnds_countsFromThen() throws IOException {
        Ends ends = connect();
        assertThat(proxy.emptyFor()).isZero();

        ends.client().close();
        ends.server().close();

        await().until(() -> !proxy.emptyFor().isZero());
        connect();
        assertThat(proxy.emptyFor()).isZero();
    }

    @Test
    void connections_someEnded_areThoseOpenOldestFirst() throws IOException {
        connect();
        Ends second = connect();
        connect();
        List<ProxyConnection> all = proxy.connections();
        assertThat(all).hasSize(3).allMatch(ProxyConnection::isOpen);

        second.client().close();
        second.server().close();

        await().until(() -> proxy.connections().size() == 2);
        assertThat(proxy.connections()).containsExactly(all.get(0), all.get(2));
        assertThat(all.get(1).isOpen()).isFalse();
        assertThat(proxy.accepted()).isEqualTo(3);
    }

    @Test
    void reset_openConnections_bothSidesAreReset() throws IOException {
        Ends ends = connect();

        proxy.reset();

        assertReset(ends.client());
        assertReset(ends.server());
        assertThat(proxy.connections()).isEmpty();
    }

    @Test
    void refuse_newConnections_areResetUntilItIsOver() throws IOException {
        Ends before = connect();
        proxy.refuse(true);
        assertDialIsReset();
        say(before.client(), "old");
        assertThat(hear(before.server(), 3)).isEqualTo("old");

        proxy.refuse(false);

        Ends after = connect();
        say(after.client(), "new");
        assertThat(hear(after.server(), 3)).isEqualTo("new");
        assertThat(proxy.accepted()).isEqualTo(3);
    }

    @Test
    void calm_everythingAtOnce_isOver() throws IOException {
        Ends before = connect();
        proxy.freezeNew();
        proxy.delay(Duration.ofHours(1));
        proxy.throttle(1);
        proxy.cutAfter(2);
        proxy.freeze();
        proxy.refuse(true);

        proxy.calm();

        Ends after = connect();
        for (Ends ends : List.of(before, after)) {
            say(ends.client(), "question");
            say(ends.server(), "answer");
            assertThat(hear(ends.server(), 8)).isEqualTo("question");
            assertThat(hear(ends.client(), 6)).isEqualTo("answer");
        }
    }

    @Test
    void connection_itsOwnConditions_leaveTheOthersAlone() throws IOException {
        Ends frozen = connect();
        Ends other = connect();
        ProxyConnection first = proxy.connections().get(0);
        first.freeze(Direction.TO_SERVER);
        first.freeze(Direction.TO_CLIENT);
        say(frozen.client(), "question");
        say(other.client(), "question");
        assertThat(hear(other.server(), 8)).isEqualTo("question");
        assertQuiet(frozen.server());

        first.thaw();

        assertThat(hear(frozen.server(), 8)).isEqualTo("question");
    }

    @Test
    void connection_itsOwnDelayThrottleAndCut_work() throws IOException {
        Ends ends = connect();
        ProxyConnection connection = proxy.connections().get(0);
        connection.delay(Duration.ofMillis(100));
        long begun = System.nanoTime();
        say(ends.client(), "late");
        assertThat(hear(ends.server(), 4)).isEqualTo("late");
        assertThat(since(begun)).isGreaterThanOrEqualTo(Duration.ofMillis(100));

        connection.delay(Duration.ZERO);
        connection.throttle(10);
        begun = System.nanoTime();
        say(ends.client(), "slow");
        assertThat(hear(ends.server(), 4)).isEqualTo("slow");
        assertThat(since(begun)).isGreaterThan(Duration.ofMillis(250));

        connection.throttle(0);
        connection.cutAfter(1);
        say(ends.server(), "cut");
        assertThat(hear(ends.client(), 1)).isEqualTo("c");
        assertReset(ends.client());
    }

    @Test
    void connection_reset_onlyItIsReset() throws IOException {
        Ends gone = connect();
        Ends other = connect();

        proxy.connections().get(0).reset();

        assertReset(gone.client());
        say(other.client(), "question");
        assertThat(hear(other.server(), 8)).isEqualTo("question");
        assertThat(proxy.connections()).hasSize(1);
    }

    @Test
    void close_frozenAndDelayedConnections_areReset() throws IOException {
        proxy.delay(Duration.ofHours(1));
        Ends delayed = connect();
        say(delayed.client(), "never");
        proxy.freezeNew();
        Ends frozen = connect();

        proxy.close();

        assertReset(delayed.client());
        assertReset(frozen.client());
    }

    @Test
    void close_portIsFreeForOthers() throws IOException {
        int port = FreePorts.find(1).get(0);
        TcpProxy.at(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1)
                .close();

        // the address is in use, so a second socket cannot listen
        try (ServerSocket next = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            assertThat(next.isBound()).isTrue();
        }
    }
}
