package dev.podcache.testing;

import static dev.podcache.testing.Patience.await;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.testing.TcpProxy.Connection;
import dev.podcache.testing.TcpProxy.Direction;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class TcpProxyTest {

    private static final int PATIENCE_MILLIS = 60_000;
    private static final int QUIET_MILLIS = 150;
    private static final int MUCH = 32 * 1024 * 1024;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private ServerSocket server;
    private TcpProxy proxy;

    /** Both ends of one connection through the proxy. */
    private record Ends(Socket client, Socket server) {}

    @BeforeEach
    void open() throws IOException {
        server = listen();
        proxy = TcpProxy.to(server.getLocalPort());
        opened.add(proxy);
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

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

        Socket client = dial();

        assertReset(client);
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
    void connections_someEnded_areThoseOpenOldestFirst() throws IOException {
        connect();
        Ends second = connect();
        connect();
        List<Connection> all = proxy.connections();
        assertThat(all).hasSize(3).allMatch(Connection::isOpen);

        second.client().close();
        second.server().close();

        await().until(() -> proxy.connections().size() == 2);
        assertThat(proxy.connections()).containsExactly(all.get(0), all.get(2));
        assertThat(all.get(1).isOpen()).isFalse();
        assertThat(proxy.accepted()).isEqualTo(3);
    }

    @Test
    void freeze_openConnection_nothingPassesUntilThawed() throws IOException {
        Ends ends = connect();
        proxy.freeze();
        say(ends.client(), "question");
        say(ends.server(), "answer");
        assertQuiet(ends.server());
        assertQuiet(ends.client());

        proxy.thaw();

        assertThat(hear(ends.server(), 8)).isEqualTo("question");
        assertThat(hear(ends.client(), 6)).isEqualTo("answer");
    }

    @Test
    void freeze_newConnection_works() throws IOException {
        connect();
        proxy.freeze();
        Ends ends = connect();

        say(ends.client(), "question");

        assertThat(hear(ends.server(), 8)).isEqualTo("question");
    }

    @Test
    void freeze_toServer_onlyServerHearsNothing() throws IOException {
        Ends ends = connect();
        proxy.freeze(Direction.TO_SERVER);

        say(ends.client(), "question");
        say(ends.server(), "answer");

        assertThat(hear(ends.client(), 6)).isEqualTo("answer");
        assertQuiet(ends.server());
    }

    @Test
    void freeze_toClient_onlyClientHearsNothing() throws IOException {
        Ends ends = connect();
        proxy.freeze(Direction.TO_CLIENT);

        say(ends.client(), "question");
        say(ends.server(), "answer");

        assertThat(hear(ends.server(), 8)).isEqualTo("question");
        assertQuiet(ends.client());
    }

    @Test
    void freeze_senderOfMuch_isHeldUp() throws Exception {
        Ends ends = connect();
        proxy.freeze();

        Thread sender = new Thread(() -> sayMuch(ends.client()));
        sender.start();

        sender.join(QUIET_MILLIS * 4L);
        assertThat(sender.isAlive()).isTrue(); // for neither the proxy nor the server takes anything
        proxy.thaw();
        assertThat(hear(ends.server(), MUCH)).hasSize(MUCH);
    }

    @Test
    void freeze_clientEnds_serverHearsOfItAtThaw() throws IOException {
        Ends ends = connect();
        proxy.freeze();
        ends.client().close();
        assertQuiet(ends.server());

        proxy.thaw();

        assertThat(ends.server().getInputStream().read()).isEqualTo(-1);
    }

    @Test
    void freezeNew_connectionAfterwards_beginsFrozenUntilThawed() throws IOException {
        Ends before = connect();
        proxy.freezeNew();
        Ends after = connect();
        say(before.client(), "old");
        say(after.client(), "new");
        assertThat(hear(before.server(), 3)).isEqualTo("old");
        assertQuiet(after.server());

        proxy.thaw();

        assertThat(hear(after.server(), 3)).isEqualTo("new");
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
    void reset_frozenConnection_bothSidesAreReset() throws IOException {
        Ends ends = connect();
        proxy.freeze();
        say(ends.client(), "lost");

        proxy.reset();

        assertReset(ends.client());
        assertReset(ends.server());
    }

    @Test
    void delay_manyChunksOneAfterTheOther_eachIsLateNotTheSumOfAll() throws IOException {
        proxy.delay(Duration.ofMillis(200));
        Ends ends = connect();
        long begun = System.nanoTime();

        for (int i = 0; i < 100; i++) {
            say(ends.client(), "0123456789");
            assertNothingYet(ends.server(), begun, Duration.ofMillis(200));
        }

        assertThat(hear(ends.server(), 1000)).isEqualTo("0123456789".repeat(100));
        assertThat(since(begun)).isBetween(Duration.ofMillis(200), Duration.ofSeconds(8)); // 20 s, were they added up
    }

    @Test
    void delay_endOfConnection_arrivesAfterTheBytesBeforeIt() throws IOException {
        Ends ends = connect();
        proxy.delay(Duration.ofMillis(100));

        say(ends.client(), "last words");
        ends.client().close();

        assertThat(hear(ends.server(), 10)).isEqualTo("last words");
        assertThat(ends.server().getInputStream().read()).isEqualTo(-1);
    }

    @Test
    void delay_endedWhileBytesWait_theyArriveAtOnce() throws IOException {
        Ends ends = connect();
        proxy.delay(Duration.ofHours(1));
        say(ends.client(), "question");
        assertQuiet(ends.server());

        proxy.delay(Duration.ZERO);

        assertThat(hear(ends.server(), 8)).isEqualTo("question");
    }

    @Test
    void throttle_fourthOfASecondsBytes_takeThatLong() throws IOException {
        proxy.throttle(40_000);
        Ends ends = connect();
        long begun = System.nanoTime();

        say(ends.server(), "x".repeat(10_000));

        assertThat(hear(ends.client(), 10_000)).hasSize(10_000);
        assertThat(since(begun)).isGreaterThan(Duration.ofMillis(150)); // the first piece goes at once
    }

    @Test
    void throttle_endedWhileBytesWait_theyArriveAtOnce() throws IOException {
        Ends ends = connect();
        proxy.throttle(1);
        say(ends.client(), "question");
        assertThat(hear(ends.server(), 1)).isEqualTo("q");
        proxy.throttle(0);

        assertThat(hear(ends.server(), 7)).isEqualTo("uestion");
    }

    @Test
    void cutAfter_moreBytesThanThat_clientGetsSoManyAndAReset() throws IOException {
        Ends ends = connect();
        proxy.cutAfter(4);

        say(ends.server(), "answer");

        assertThat(hear(ends.client(), 4)).isEqualTo("answ");
        assertReset(ends.client());
        assertReset(ends.server());
    }

    @Test
    void cutAfter_newConnection_isCutToo() throws IOException {
        proxy.cutAfter(4);
        Ends ends = connect();

        say(ends.client(), "a long question");
        assertThat(hear(ends.server(), 15)).isEqualTo("a long question");
        say(ends.server(), "answer");

        assertThat(hear(ends.client(), 4)).isEqualTo("answ");
        assertReset(ends.client());
    }

    @Test
    void cutAfter_none_nextByteIsAReset() throws IOException {
        Ends ends = connect();
        proxy.cutAfter(0);

        say(ends.server(), "answer");

        assertReset(ends.client());
    }

    @Test
    void refuse_newConnections_areResetUntilItIsOver() throws IOException {
        Ends before = connect();
        proxy.refuse(true);
        assertReset(dial());
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
        Connection first = proxy.connections().get(0);
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
        Connection connection = proxy.connections().get(0);
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
    void close_takesNoMoreConnections() {
        proxy.close();

        try {
            dial();
        } catch (IOException refused) {
            // as a rule; but nobody owns the port any more, and another process may have it by now
        }
        assertThat(proxy.accepted()).isZero();
    }

    private static void sayMuch(Socket socket) {
        try {
            say(socket, "x".repeat(MUCH));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Ends connect() throws IOException {
        int open = proxy.connections().size();
        Socket client = dial();
        Socket accepted = keep(server.accept());
        await().until(() -> proxy.connections().size() > open);
        return new Ends(client, accepted);
    }

    private Socket dial() throws IOException {
        return keep(new Socket(InetAddress.getLoopbackAddress(), proxy.port()));
    }

    private ServerSocket listen() throws IOException {
        ServerSocket listening = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        listening.setSoTimeout(PATIENCE_MILLIS);
        opened.add(listening);
        return listening;
    }

    private Socket keep(Socket socket) throws IOException {
        socket.setSoTimeout(PATIENCE_MILLIS);
        opened.add(socket);
        return socket;
    }

    private static void say(Socket socket, String words) throws IOException {
        socket.getOutputStream().write(words.getBytes(US_ASCII));
    }

    private static String hear(Socket socket, int length) throws IOException {
        return new String(socket.getInputStream().readNBytes(length), US_ASCII);
    }

    private static void assertQuiet(Socket socket) throws IOException {
        socket.setSoTimeout(QUIET_MILLIS);
        assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);
        socket.setSoTimeout(PATIENCE_MILLIS);
    }

    private static void assertNothingYet(Socket socket, long begun, Duration until) throws IOException {
        int available = socket.getInputStream().available();
        if (since(begun).compareTo(until) < 0) {
            assertThat(available).isZero();
        }
    }

    private static void assertReset(Socket socket) {
        assertThatThrownBy(() -> socket.getInputStream().read())
                .isInstanceOf(IOException.class)
                .isNotInstanceOf(SocketTimeoutException.class);
    }

    private static Duration since(long begun) {
        return Duration.ofNanos(System.nanoTime() - begun);
    }
}
