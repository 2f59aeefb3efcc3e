package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.TcpProxy.Direction;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Bytes that are frozen, delayed, throttled or cut off in transit. */
@ExtendWith(NoLeaks.class)
class TcpProxyTrafficTest extends TcpProxyFixture {

    private static final int MUCH = 32 * 1024 * 1024;

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
        assertThat(sender.isAlive()).isTrue(); // because neither the proxy nor the server reads
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
        assertThat(since(begun))
                .isBetween(Duration.ofMillis(200), Duration.ofSeconds(8)); // the sum of the delays would be 20 s
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
        assertThat(since(begun)).isGreaterThan(Duration.ofMillis(150)); // the first piece is sent at once
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

    private static void sayMuch(Socket socket) {
        try {
            say(socket, "x".repeat(MUCH));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void assertNothingYet(Socket socket, long begun, Duration until) throws IOException {
        int available = socket.getInputStream().available();
        if (since(begun).compareTo(until) < 0) {
            assertThat(available).isZero();
        }
    }
}
