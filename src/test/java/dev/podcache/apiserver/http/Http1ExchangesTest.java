package dev.podcache.apiserver.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.podcache.apiserver.http.RawServer.Peer;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** HTTP/1.1, byte by byte. */
@NullUnmarked
class Http1ExchangesTest extends RawWireFixture {

    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    private static final ServerRequest PATCH =
            ServerRequest.of("PATCH test", "PATCH", "/p", new ServerRequest.Body("application/json", "{}"));

    private Wire wire;
    private Peer peer;

    @BeforeEach
    void connect() throws Exception {
        wire = open(plain(false));
        peer = server.accept();
        expect("opened h1 1");
    }

    @AfterEach
    void disconnect() throws IOException {
        peer.close();
    }

    @Test
    void request_isSentWithItsHeadersAndBody() throws Exception {
        send(wire, "a", PATCH, Map.of("Authorization", List.of("Bearer t"), "Host", List.of("evil")));

        assertThat(peer.head().lines().toList())
                .startsWith("PATCH /p HTTP/1.1", "host: 127.0.0.1:" + server.port())
                .contains(
                        "Authorization: Bearer t",
                        "Content-Type: application/json",
                        "content-length: 2",
                        "Accept-Encoding: gzip")
                .noneMatch(line -> line.contains("evil"));
        assertThat(peer.read(2)).asString().isEqualTo("{}");
        peer.write(OK);
        expect("a 200", "a +2", "a end");
    }

    @Test
    void informational_isIgnored() throws Exception {
        send(wire, "a");

        peer.write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nX: y\r\n\r\n" + OK);

        expect("a 200", "a +2", "a end");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Content-Length: 40", "Connection: close", "Transfer-Encoding: chunked\r\n\r\n28"})
    void answerThatIsNotCompressedAsItSays_isBrokenOnce(String framing) throws Exception {
        send(wire, "a");

        peer.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n" + framing + "\r\n"
                + (framing.contains("chunked") ? "" : "\r\n")
                + "no gzip".repeat(10).substring(0, 40));
        peer.socket.shutdownOutput();

        List<String> seen = new ArrayList<>();
        while (seen.isEmpty() || !seen.get(seen.size() - 1).startsWith("closed")) {
            seen.add(next());
        }
        assertThat(seen).filteredOn(event -> event.startsWith("a broken")).hasSize(1);
    }

    @Test
    void switchOfProtocols_isBroken() throws Exception {
        send(wire, "a");

        peer.write("HTTP/1.1 101 Switching Protocols\r\n\r\n" + NoLeaks.CANARY);

        String why = "IOException: the server switched to a protocol that nobody asked for";
        expect("a broken " + why, "closed " + why);
    }

    /** The stream breaks before the connection is reported as closed, or the request would not be sent again. */
    @Test
    void idleConnectionIsClosed_asAGetIsSent_isUnprocessed() throws Exception {
        answerOne();
        send(wire, "b");
        peer.head();

        peer.close();

        expect("b broken ClosedChannelException: null, unprocessed", "closed");
    }

    @Test
    void idleConnectionIsClosed_asAWriteIsSent_isNotUnprocessed() throws Exception {
        answerOne();
        send(wire, "b", PATCH, Map.of());
        peer.head();
        peer.read(2);

        peer.close();

        expect("b broken ClosedChannelException: null", "closed");
    }

    @Test
    void newConnectionIsClosed_asAGetIsSent_isNotUnprocessed() throws Exception {
        send(wire, "a");
        peer.head();

        peer.close();

        expect("a broken ClosedChannelException: null", "closed");
    }

    private void answerOne() throws Exception {
        send(wire, "a");
        peer.head();
        peer.write(OK);
        expect("a 200", "a +2", "a end");
    }

    @Test
    void lastAnswerOfAConnection_retiresItBeforeItsEnd() throws Exception {
        send(wire, "a");
        peer.head();

        peer.write("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");

        expect("a 200", "retired", "a end", "closed");
        peer.awaitEnd();
        send(wire, "b");
        expect("b broken ClosedChannelException: null, unprocessed");
    }

    @Test
    void bodyUpToTheEndOfTheConnection_isComplete() throws Exception {
        send(wire, "a");
        peer.head();

        peer.write("HTTP/1.1 200 OK\r\n\r\nabc");
        peer.close();

        expect("a 200", "a +3", "a end", "closed");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
            })
    void bodyThatIsCut_isBroken(String answer) throws Exception {
        send(wire, "a");
        peer.head();

        peer.write(answer);
        peer.close();

        expect("a 200", "a +3", "a broken ClosedChannelException: null", "closed");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                NoLeaks.CANARY + "\r\n\r\n",
                "HTTP/1.1 " + NoLeaks.CANARY + " OK\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: " + NoLeaks.CANARY + "\r\n\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + NoLeaks.CANARY + "\r\n"
            })
    void noHttp_isBrokenAndNotQuoted(String answer) throws Exception {
        answerOne();
        send(wire, "b");
        peer.head();

        peer.write(answer);

        String event = next();
        event = event.equals("b 200") ? next() : event;
        assertThat(event)
                .startsWith("b broken IllegalArgumentException: the answer is not legal in HTTP: ")
                .doesNotContain("unprocessed");
        assertThat(next()).startsWith("closed IllegalArgumentException: ");
    }

    @Test
    void answerToNoRequest_closesTheConnection() throws Exception {
        peer.write("HTTP/1.1 200 " + NoLeaks.CANARY + "\r\nContent-Length: 0\r\n\r\n");

        expect("closed IOException: the server sent an answer to no request");
    }

    @Test
    void reset_closesTheConnection() throws Exception {
        Wire.Stream stream = send(wire, "a");
        peer.head();
        peer.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
        expect("a 200", "a +3");

        onLoop(stream::reset);

        peer.awaitEnd();
        expect("closed");
        onLoop(stream::reset);
        expectNothing();
    }

    @Test
    void close_openRequest_breaksItAndSaysNoMore() throws Exception {
        send(wire, "a");
        peer.head();

        onLoop(wire::close);

        peer.awaitEnd();
        expect("a broken ClosedChannelException: null");
        expectNothing();
    }

    @Test
    void headerWithALineBreak_isRefusedWithoutAQuote() throws Exception {
        send(wire, "a", GET, Map.of("Authorization", List.of(NoLeaks.CANARY + "\n")));

        expect("a broken IllegalArgumentException: a part of the request is not legal in HTTP");
        answerOne();
    }

    @Test
    void longHead_isRead() throws Exception {
        send(wire, "a");

        peer.write("HTTP/1.1 200 OK\r\nRetry-After: " + "x".repeat(60_000) + "\r\nContent-Length: 0\r\n\r\n");

        expect("a 200 60000", "a end");
    }

    /** H17: a watch over HTTP/1.1 has no pings; the kernel looks after 30 s whether its peer is still there. */
    @Test
    void idleConnection_isKeptAliveByTcp() throws Exception {
        Path table = Path.of("/proc/net/tcp");
        assumeTrue(Files.exists(table), "needs Linux");
        String remote = String.format(Locale.ROOT, ":%04X", server.port());

        // the kernel shows a line twice when its table changes between two reads: by local address each is one
        Map<String, String> timers = Stream.of(table, Path.of("/proc/net/tcp6"))
                .filter(Files::exists)
                .flatMap(Http1ExchangesTest::lines)
                .map(line -> line.trim().split("\\s+"))
                .filter(columns -> columns[2].endsWith(remote) && columns[3].equals("01"))
                .collect(Collectors.toMap(columns -> columns[1], columns -> columns[5], (first, second) -> second));

        assertThat(timers.values()).singleElement().satisfies(timer -> {
            assertThat(timer).as("a keep-alive timer").startsWith("02:");
            // in hundredths of a second
            assertThat(Long.parseLong(timer.substring("02:".length()), 16)).isLessThanOrEqualTo(3000);
        });
    }

    private static Stream<String> lines(Path file) {
        try {
            return Files.readAllLines(file).stream();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** The server may send on only as far as the kernel and one read take it. */
    @Test
    void answerThatIsNotRead_waits_andGoesOn() throws Exception {
        int part = 1 << 20;
        int parts = 128; // far more than the kernel takes for both sides
        int length = parts * part;
        Wire.Stream stream = send(wire, "held");
        peer.head();
        CompletableFuture<Void> sent = CompletableFuture.runAsync(
                () -> {
                    try {
                        peer.write("HTTP/1.1 200 OK\r\nContent-Length: " + length + "\r\n\r\n");
                        for (int i = 0; i < parts; i++) {
                            peer.write(new byte[part]);
                        }
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                },
                NewThread.EACH);
        expect("held 200");
        long received = 0;
        for (String event = next(); !event.equals("held end"); event = next()) {
            received += Integer.parseInt(event.substring("held +".length()));
            assertThat(received > length / 2 || !sent.isDone()).isTrue();
            // one read brings many parts: going on after each would let the wire run far ahead of this count
            if (events.isEmpty()) {
                onLoop(stream::goOn);
            }
        }
        assertThat(received).isEqualTo(length);
        sent.join();
        send(wire, "next");
        peer.head();
        peer.write("HTTP/1.1 204 No Content\r\n\r\n");
        expect("next 204", "next end");
    }

    @Override
    boolean received(String name, byte[] bytes) {
        return super.received(name, bytes) && !name.equals("held");
    }
}
