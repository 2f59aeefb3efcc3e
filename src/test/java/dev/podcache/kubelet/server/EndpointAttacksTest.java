package dev.podcache.kubelet.server;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Slow;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Clients of the HTTPS endpoint that want to harm it. */
@Slow
@ExtendWith(NoLeaks.class)
class EndpointAttacksTest {

    private static final String SMALLEST = "GET / HTTP/1.1\r\n\r\n";
    private static final String HEALTHY = "GET /healthz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\n\r\n";

    @TempDir
    Path folder;

    private final List<RawClient> clients = new ArrayList<>();
    private ServerFixture fixture;

    @BeforeEach
    void start() throws IOException {
        fixture = new ServerFixture(folder);
    }

    @AfterEach
    void close() throws IOException {
        for (RawClient client : clients) {
            client.close();
        }
        fixture.close();
    }

    private RawClient client() throws IOException {
        return client(ServerFixture.withoutCertificate());
    }

    private RawClient client(SSLContext tls) throws IOException {
        RawClient client = RawClient.tls(tls, fixture.server.port());
        clients.add(client);
        return client;
    }

    private void assertServes() throws Exception {
        assertThat(fixture.get("/healthz").body()).isEqualTo("ok");
    }

    @Test
    void pipelinedRequests_answersAreRead_allAreAnsweredInTheirOrder() throws Exception {
        RawClient client = client();
        CompletableFuture<Void> sent = CompletableFuture.runAsync(
                () -> {
                    try {
                        for (int i = 0; i < 2000; i++) {
                            client.send(i % 2 == 0 ? SMALLEST : HEALTHY);
                        }
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                },
                NewThread.EACH);

        for (int i = 0; i < 2000; i++) {
            assertThat(client.answer()).startsWith("HTTP/1.1 " + (i % 2 == 0 ? 401 : 200));
        }
        sent.get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @ValueSource(strings = {SMALLEST, HEALTHY, "POST /pods HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"})
    void pipelinedRequests_answersAreNotRead_clientIsNotReadFromAndThenClosed(String request) throws Exception {
        CompletableFuture<Object> end = new CompletableFuture<>();
        AtomicLong sent = client().sendAgain(request.repeat(500), end);

        AtomicLong last = new AtomicLong(-1);
        await().pollInterval(Duration.ofMillis(300))
                .until(() -> sent.get() > 0 && last.getAndSet(sent.get()) == sent.get());

        assertThat(sent.get()).isLessThan(32 << 20);
        assertThat(HeldBytes.RECEIVED.total()).isLessThan(1 << 20);
        assertServes();
        await().until(() -> {
            fixture.clock.advance(ConnectionGate.QUEUE_TIMEOUT);
            return end.isDone();
        });
    }

    @Test
    void pipelinedRequests_firstOneIsHeld_oneIsInFlight() throws Exception {
        CompletableFuture<Object> gate = new CompletableFuture<>();
        fixture.reviews.held = gate;
        RawClient client = client();
        client.send(IntStream.range(0, 100)
                .mapToObj(i -> "GET /healthz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer t" + i + "\r\n\r\n")
                .reduce("", String::concat));
        await().until(() -> !fixture.reviews.tokens.isEmpty());
        RawClient other = client();
        other.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").answer();

        assertThat(fixture.reviews.tokens).containsExactly("t0");
        gate.complete(gate);
        assertThat(client.answer()).startsWith("HTTP/1.1 401 ");
    }

    @Test
    void unfinishedRequestLines_tooMuchInAll_largestGiveWayAndOthersAreServed() throws Exception {
        String part = "GET /" + "a".repeat(250_000);
        for (int i = 0; i < 110; i++) {
            try {
                client().send(part);
            } catch (IOException gaveWay) {
                // it was the largest
            }
        }

        await().until(() -> clients.stream().anyMatch(EndpointAttacksTest::isEnded));
        assertThat(HeldBytes.RECEIVED.total()).isLessThanOrEqualTo(8 << 20);
        assertServes();
    }

    private static boolean isEnded(RawClient client) {
        try {
            return client.isEnded(1);
        } catch (IOException e) {
            return true;
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "G",
                "GET / HTTP/1.1\r\nHost: x",
                "GET / HTTP/1.1\r\nHost: x\r\n",
                "\r\n\r\nG",
                "GET / HTTP/1.1\r\nHost: x\r\n\r\nGET"
            })
    void head_notCompleteWithin10s_connectionIsClosed(String begin) throws Exception {
        RawClient client = client();
        int before = fixture.clock.scheduledTasks();
        client.send(begin);
        if (begin.endsWith("\n\r\nGET")) {
            assertThat(client.answer()).startsWith("HTTP/1.1 401 ");
        }
        await().until(() -> fixture.clock.scheduledTasks() > before);

        // again, because the timer that was set may have been that of another step
        await().until(() -> {
            fixture.clock.advance(ConnectionGate.HEAD_TIMEOUT);
            return client.isEnded(200);
        });
    }

    @Test
    void head_tooLong_isRefusedAndItsReasonCanBeRead() throws Exception {
        assertThat(client().send("GET /" + "a".repeat(300_000) + " HTTP/1.1\r\n")
                        .rest())
                .startsWith("HTTP/1.1 414 ");
        assertThat(client().send("GET / HTTP/1.1\r\nX: " + "a".repeat(70_000) + "\r\n")
                        .rest())
                .startsWith("HTTP/1.1 431 ");
        assertThat(client().send("GET / HTTP/1.1\r\n" + "a:\r\n".repeat(300)).rest())
                .startsWith("HTTP/1.1 431 ");
        assertThat(client().send("GET /?" + "a".repeat(250_000) + " HTTP/1.1\r\nHost: x\r\n\r\n")
                        .rest())
                .startsWith("HTTP/1.1 401 ")
                .containsIgnoringCase("connection: close");
    }

    @ParameterizedTest
    @MethodSource("dev.podcache.kubelet.server.HostileRequests#heads")
    void head_thatTwoProgramsCouldReadInTwoWays_isRefusedAndNothingAfterItIsRead(String head) throws Exception {
        String answers = client(ServerFixture.tlsAs("reader"))
                .send(head + HEALTHY + HEALTHY)
                .rest();

        assertThat(answers).containsPattern("^HTTP/1.1 (400|413|505) ");
        assertThat(answers.split("HTTP/1.1 \\d{3} ", -1)).hasSize(2);
        assertThat(fixture.reviews.accesses).isEmpty();
    }

    @Test
    void body_chunked_isReadToItsEndAndTheConnectionClosed() throws Exception {
        String answers = client(ServerFixture.tlsAs("reader"))
                .send("POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + "3\r\nabc\r\n0\r\n\r\n" + HEALTHY)
                .rest();

        assertThat(answers).startsWith("HTTP/1.1 405 ").containsIgnoringCase("connection: close");
        assertThat(answers.split("HTTP/1.1 ", -1)).hasSize(2);
    }

    @Test
    void requestAfterChunkedBody_firstIsNotAnsweredYet_isNotBegun() throws Exception {
        CompletableFuture<Object> gate = new CompletableFuture<>();
        fixture.reviews.held = gate;
        RawClient client = client(ServerFixture.withoutCertificate())
                .send(
                        "POST /healthz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\nTransfer-Encoding: chunked\r\n\r\n"
                                + "3\r\nabc\r\n0\r\n\r\n"
                                // this one would be answered at once, with 401
                                + "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" + HEALTHY);
        await().until(() -> !fixture.reviews.tokens.isEmpty());
        gate.complete(this);

        String answers = client.rest();
        assertThat(answers).startsWith("HTTP/1.1 405 ");
        assertThat(answers.split("HTTP/1.1 ", -1)).hasSize(2);
        assertThat(fixture.reviews.tokens).containsExactly("good");
    }

    @Test
    void body_ofKnownLength_isNotReadAsTheNextRequest() throws Exception {
        RawClient client = client(ServerFixture.tlsAs("reader"));
        client.send("POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: " + HEALTHY.length() + "\r\n\r\n" + HEALTHY
                + HEALTHY);

        assertThat(client.answer()).startsWith("HTTP/1.1 405 ");
        assertThat(client.answer()).startsWith("HTTP/1.1 200 ");
        assertThat(client.isEnded(200)).isFalse();
    }

    @Test
    void connections_idleBeyondTheLimit_oldestGiveWayAndOthersAreServed() throws Exception {
        SSLContext tls = ServerFixture.withoutCertificate();
        for (int i = 0; i < 1100; i++) {
            client(tls);
        }

        assertServes();
        assertThat(clients.get(0).isEnded(60_000)).isTrue();
        assertThat(clients.get(1099).isEnded(100)).isFalse();
    }

    @Test
    void connections_thatNeverBeginTheirHandshake_giveWayToo() throws Exception {
        for (int i = 0; i < 1100; i++) {
            clients.add(RawClient.plain(fixture.server.port()));
        }

        assertServes();
        assertThat(clients.get(0).isEnded(60_000)).isTrue();
    }

    @Test
    void renegotiation_ofTls12_isRefused() throws Exception {
        RawClient client = client12();
        SSLSocket socket = (SSLSocket) client.socket();
        assertThat(client.send(HEALTHY).answer()).startsWith("HTTP/1.1 200 ");

        assertThatThrownBy(() -> {
                    socket.getSession().invalidate();
                    socket.startHandshake();
                    for (int i = 0; i < 10; i++) {
                        client.send(HEALTHY);
                        if (client.answer().isEmpty()) {
                            throw new IOException("ended");
                        }
                    }
                })
                .isInstanceOf(IOException.class);
        assertServes();
    }

    @Test
    void keyUpdates_whoseAnswersAreNotRead_connectionIsClosedAndOthersAreServed() throws Exception {
        SSLSocket socket = (SSLSocket) client13().socket();

        assertThatThrownBy(() -> {
                    // after the first handshake, each one updates the keys, and reads nothing
                    for (int i = 0; i < 1_000_000; i++) {
                        socket.startHandshake();
                    }
                })
                .isInstanceOf(IOException.class);
        assertServes();
    }

    @Test
    void keyUpdates_whoseAnswersAreRead_connectionGoesOn() throws Exception {
        RawClient client = client13();
        SSLSocket socket = (SSLSocket) client.socket();

        for (int i = 0; i < 5 * TlsAnswers.MOST; i++) {
            socket.startHandshake();
            assertThat(client.send(HEALTHY).answer()).startsWith("HTTP/1.1 200 ");
        }
    }

    /** Its system keeps little of what it does not read. */
    private RawClient client13() throws IOException {
        SSLSocket socket = (SSLSocket)
                ServerFixture.withoutCertificate().getSocketFactory().createSocket();
        socket.setReceiveBufferSize(4096);
        socket.setEnabledProtocols(new String[] {"TLSv1.3"});
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), fixture.server.port()));
        RawClient client = RawClient.of(socket);
        clients.add(client);
        return client;
    }

    private RawClient client12() throws IOException {
        SSLSocket socket = (SSLSocket)
                ServerFixture.withoutCertificate().getSocketFactory().createSocket("127.0.0.1", fixture.server.port());
        socket.setEnabledProtocols(new String[] {"TLSv1.2"});
        RawClient client = RawClient.of(socket);
        clients.add(client);
        return client;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Authorization: Bearer #\u0001",
                "Authorization: Bearer #\u0000x",
                "Authorization: Bearer #\u007f",
                "Authorization: Bearer #\u000bx",
                "Authorization: Bearer #\rX: y",
                "Authorization: Bearer #\nX: y",
                "Authorization: Bearer #\r\n #",
                "Authorization : Bearer #",
                "Authorization: Bearer #\u00e9",
                "Authorization: Bearer #",
                "Authorization: Basic #",
                "Authorization: #",
                "Authorization: Bearer #\r\nContent-Length: x",
                "Authorization: Bearer #\r\nUpgrade: websocket\r\nConnection: Upgrade",
                "Cookie: #\u0001",
                "#: x",
                "# : x",
                "#",
                "Expect: #",
                "Transfer-Encoding: #",
                "Sec-WebSocket-Protocol: #\r\nUpgrade: websocket\r\nConnection: Upgrade"
            })
    void header_withASecret_isNeverLoggedAtAnyLevel(String header) throws Exception {
        Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        Level before = root.getLevel();
        root.setLevel(Level.TRACE);
        try {
            // NoLeaks looks for it in every line
            String secret = header.replace("#", NoLeaks.CANARY);
            NoLeaks.saw(client().send("GET /pods?a=%zz HTTP/1.1\r\nHost: x\r\n" + secret + "\r\n\r\n")
                    .answer());
            RawClient cut = client();
            cut.send("GET /pods HTTP/1.1\r\nHost: x\r\n" + secret).close();
            assertServes();
        } finally {
            root.setLevel(before);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "https://evil.example",
                "http://127.0.0.1:#",
                "https://127.0.0.1",
                "https://127.0.0.1:1",
                "https://127.0.0.1:#.evil.example",
                "https://127.0.0.1:#/",
                "https://localhost:#",
                "null",
                "file://",
                "https://127.0.0.1:#\r\nOrigin: https://evil.example"
            })
    void webSocket_withACertificateFromAForeignOrigin_isRefused(String origin) throws Exception {
        assertThat(handshake(ServerFixture.tlsAs("reader"), "Origin: " + origin, ""))
                .startsWith("HTTP/1.1 403 ");
        assertThat(fixture.runtime.commands).isEmpty();
    }

    @Test
    void webSocket_ofTheOwnOriginOrNoneOrWithAToken_isOpened() throws Exception {
        assertThat(handshake(ServerFixture.tlsAs("reader"), "Origin: HTTPS://127.0.0.1:#", ""))
                .startsWith("HTTP/1.1 101 ");
        assertThat(handshake(ServerFixture.tlsAs("reader"), "X: y", "")).startsWith("HTTP/1.1 101 ");
        // an API server passes on what its client sent
        assertThat(handshake(
                        ServerFixture.tlsAs("apiserver"),
                        "Origin: https://dashboard.example",
                        "X-Forwarded-For: 10.0.0.1\r\n"))
                .startsWith("HTTP/1.1 101 ");
        assertThat(handshake(
                        ServerFixture.withoutCertificate(),
                        "Origin: https://evil.example",
                        "Authorization: Bearer good\r\n"))
                .startsWith("HTTP/1.1 101 ");
    }

    /** Sends 808,500 pings, or as many as the server takes before it waits for the client to read. */
    @Test
    void webSocket_pingsWhosePongsAreNotRead_clientIsNotReadFromAndOthersAreServed() throws Exception {
        RawClient client = client(ServerFixture.withoutCertificate());
        assertThat(handshake(client, "X: y", "Authorization: Bearer good\r\n")).startsWith("HTTP/1.1 101 ");
        String ping = "\u0089\u0080\1\2\3\4";
        AtomicLong sent = client.sendAgain(ping.repeat(500), new CompletableFuture<>());

        AtomicLong last = new AtomicLong(-1);
        await().pollInterval(Duration.ofMillis(300))
                .until(() -> sent.get() >= 808_500L * ping.length()
                        || (sent.get() > 0 && last.getAndSet(sent.get()) == sent.get()));

        assertThat(HeldBytes.RECEIVED.total()).isLessThan(1 << 20);
        assertServes();
    }

    private String handshake(SSLContext tls, String origin, String authorization) throws IOException {
        return handshake(client(tls), origin, authorization);
    }

    private String handshake(RawClient client, String origin, String authorization) throws IOException {
        String port = Integer.toString(fixture.server.port());
        return client.send("GET /exec/shop/web/main?command=cat&output=1 HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\n"
                        + origin.replace("#", port) + "\r\n" + authorization
                        + "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                        + "Sec-WebSocket-Protocol: v4.channel.k8s.io\r\n\r\n")
                .answer();
    }

    @Test
    void logs_areNotSniffed() throws Exception {
        assertThat(fixture.get("/containerLogs/shop/web/main").headers().firstValue("X-Content-Type-Options"))
                .contains("nosniff");
    }

    @Test
    void randomTokens_ofOneConnection_areReviewedAFewTimesAndThenClosed() throws Exception {
        RawClient client = client();
        String answers = "";
        for (int i = 0; i < 20 && !answers.contains(" 429 "); i++) {
            answers = client.send("GET /healthz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer random-" + i + "\r\n\r\n")
                    .answer();
        }

        assertThat(answers).startsWith("HTTP/1.1 429 ").containsIgnoringCase("retry-after: 1");
        assertThat(client.rest()).isEmpty();
        assertThat(fixture.reviews.tokens).hasSize(ReviewLimit.MOST_OF_CONNECTION);
    }

    @Test
    void randomTokens_ofManyConnections_leaveReviewsForKnownTokens() throws Exception {
        assertServes();
        for (int i = 0; i < 200; i++) {
            try (RawClient client = RawClient.tls(ServerFixture.withoutCertificate(), fixture.server.port())) {
                assertThat(client.send("GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer random-" + i + "\r\n\r\n")
                                .answer())
                        .containsPattern("^HTTP/1.1 (401|429) ");
            }
        }

        assertThat(fixture.reviews.tokens).hasSizeLessThanOrEqualTo(1 + ReviewLimit.MOST_OF_SOURCE + 1);
        assertServes();
        // and once more when what was remembered of it has expired
        fixture.clock.advance(Authentication.ACCEPTED_FOR.minusSeconds(1));
        fixture.clock.advance(Duration.ofSeconds(1));
        assertServes();
    }
}
