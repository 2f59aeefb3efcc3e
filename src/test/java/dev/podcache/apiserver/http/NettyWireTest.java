package dev.podcache.apiserver.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.apiserver.credentials.Authorities;
import dev.podcache.apiserver.credentials.ProxyRules.ProxyAddress;
import dev.podcache.apiserver.http.RawServer.Peer;
import dev.podcache.apiserver.http.ServerEndpoint.Target;
import dev.podcache.testing.NettyLog;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.TestCertificates;
import java.io.ByteArrayInputStream;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How a connection is opened, directly and through proxies, and how it ends before it is open. */
@NullUnmarked
class NettyWireTest extends RawWireFixture {

    private static final Duration SHORT = Duration.ofMillis(300);
    private static final String OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";

    private Target secure(Duration timeout) {
        return target("https://127.0.0.1:" + server.port(), server.address(), true, timeout);
    }

    private Target proxied(String url, String scheme, @Nullable String user, Duration timeout) {
        ProxyAddress proxy = new ProxyAddress(scheme, "127.0.0.1", server.port(), user, user == null ? null : "p:w");
        return target(url, settings(proxy, true), server.address(), false, timeout);
    }

    @Test
    void nothingListens_isReportedOnceWithItsCause() throws Exception {
        InetSocketAddress address = server.address();
        server.close();

        open(target("http://127.0.0.1:" + address.getPort(), address, true, TIMEOUT));

        assertThat(next()).contains("ConnectException: Connection refused");
        expectNothing();
    }

    @Test
    void settings_limitOfZero_opensWhenThereIsAStream() throws Exception {
        open(plain(true));
        try (Peer peer = server.acceptHttp2(0)) {
            peer.next(RawServer.SETTINGS);
            peer.write(RawServer.frame(RawServer.PING, 0, 0, new byte[8]));
            peer.next(RawServer.PING);
            expectNothing();

            peer.write(RawServer.frame(RawServer.SETTINGS, 0, 0, RawServer.limit(3)));

            expect("opened h2 3");
        }
    }

    @Test
    void goAwayBeforeAStreamIsAllowed_isClosed() throws Exception {
        open(plain(true));
        try (Peer peer = server.acceptHttp2(0)) {
            peer.write(RawServer.goAway(0));

            expect("closed ClosedChannelException: null");
        }
    }

    @Test
    void settings_pushIsOffAndTheWindowsAreLarge() throws Exception {
        open(plain(true));
        try (Peer peer = server.acceptHttp2(7)) {
            expect("opened h2 7");

            byte[] settings = peer.next(RawServer.SETTINGS).payload();
            assertThat(settings).hasSize(18).containsSubsequence(0, 2, 0, 0, 0, 0);
            assertThat(peer.next(RawServer.WINDOW_UPDATE).number()).isEqualTo((16 << 20) - 65_535);
        }
    }

    @Test
    void serverWithoutHttp2_priorKnowledge_isClosedAndNotQuoted() throws Exception {
        open(plain(true));
        try (Peer peer = server.accept()) {
            peer.write("HTTP/1.1 400 " + NoLeaks.CANARY + "\r\n\r\n");

            expect("closed IOException: HTTP/2 PROTOCOL_ERROR");
        }
    }

    @Test
    void serverWithoutTls_isClosedAndNotQuoted() throws Exception {
        open(secure(TIMEOUT));
        try (Peer peer = server.accept()) {
            peer.write("HTTP/1.1 400 " + NoLeaks.CANARY + "\r\n\r\n");

            expect("closed SSLException: what answered does not speak TLS");
        }
    }

    @Test
    void handshakeThatHangs_isClosedInTime() throws Exception {
        open(secure(SHORT));
        try (Peer peer = server.accept()) {
            expect("closed TimeoutException: the TLS handshake did not end in time");
            peer.awaitEnd();
        }
    }

    @Test
    void handshakeThatIsCut_isClosed() throws Exception {
        open(secure(TIMEOUT));
        server.accept().close();

        assertThat(next()).startsWith("closed ");
        expectNothing();
    }

    @Test
    void close_duringTheHandshake_closesSilently() throws Exception {
        Wire wire = open(secure(TIMEOUT));
        try (Peer peer = server.accept()) {
            peer.read(5);

            onLoop(wire::close);

            peer.awaitEnd();
            expectNothing();
            send(wire, "a");
            expect("a broken ClosedChannelException: null, unprocessed");
        }
    }

    @Test
    void close_duringTheDial_closesSilently() throws Exception {
        onLoop(() -> network.open(plain(false), new EventLog()).close());
        onLoop(() -> {});

        expectNothing();
    }

    @Test
    void closeOfTheNetwork_inEachState_closesEveryConnection() throws Exception {
        open(secure(TIMEOUT));
        Peer shaking = server.accept();
        open(plain(true));
        Peer greeting = server.accept();
        Wire wire = open(plain(false));
        Peer busy = server.accept();
        expect("opened h1 1");
        send(wire, "a");
        busy.head();

        network.close();
        network.close();

        assertThat(events).hasSize(4).contains("a broken ClosedChannelException: null", "closed");
        shaking.awaitEnd();
        greeting.awaitEnd();
        busy.awaitEnd();
        network.execute(() -> events.add("ran"));
        assertThatThrownBy(() -> network.open(plain(true), null)).isInstanceOf(RejectedExecutionException.class);
        assertThat(events).doesNotContain("ran");
    }

    /** What cannot be sent must not keep the connection. */
    @Test
    void close_serverReadsNothing_closesAllTheSame() throws Exception {
        try (NettyLog log = new NettyLog()) {
            Wire wire = open(plain(false));
            try (Peer peer = server.accept()) {
                expect("opened h1 1");
                ServerRequest large = ServerRequest.of(
                        "PUT test", "PUT", "/p", new ServerRequest.Body("text/plain", "x".repeat(20 << 20)));
                send(wire, "a", large, Map.of());

                onLoop(wire::close);

                expect("a broken ClosedChannelException: null");
                peer.awaitEnd();
                assertThat(log.lines()).isEmpty();
            }
        }
    }

    @Test
    void httpProxy_plainRequests_areForwardedWithCredentials() throws Exception {
        Wire wire = open(proxied("http://api.test:8080/base", "http", "user", TIMEOUT));
        try (Peer peer = server.accept()) {
            expect("opened h1 1");
            send(wire, "a");

            String credentials = Base64.getEncoder().encodeToString("user:p:w".getBytes(UTF_8));
            assertThat(peer.head().lines().toList())
                    .startsWith("GET http://api.test:8080/base/get HTTP/1.1", "host: api.test:8080")
                    .contains("Proxy-Authorization: Basic " + credentials);
            peer.write(OK);
            expect("a 200", "a end");
        }
    }

    @Test
    void httpsProxy_plainRequests_areForwardedByTls() throws Exception {
        TestCertificates authority = new TestCertificates();
        server.close();
        server = new RawServer(authority.serverTls().getServerSocketFactory());
        X509TrustManager trusted = Authorities.trusted(
                new ByteArrayInputStream(authority.authorityPem().getBytes(UTF_8)));
        ProxyAddress proxy = new ProxyAddress("https", "127.0.0.1", server.port(), null, null);
        Wire wire =
                open(target("http://api.test:8080", settings(proxy, trusted, true), server.address(), false, TIMEOUT));
        try (Peer peer = server.accept()) {
            ((SSLSocket) peer.socket).startHandshake();
            expect("opened h1 1");
            send(wire, "a");

            assertThat(peer.head()).startsWith("GET http://api.test:8080/get HTTP/1.1");
            peer.write(OK);
            expect("a 200", "a end");
        }
    }

    @Test
    void httpProxy_answers407_isRefusedWithoutAQuote() throws Exception {
        open(proxied("https://api.test", "http", null, TIMEOUT));
        try (Peer peer = server.accept()) {
            assertThat(peer.head().lines().findFirst()).hasValue("CONNECT api.test:443 HTTP/1.1");
            peer.write("HTTP/1.1 407 " + NoLeaks.CANARY + "\r\nContent-Length: 0\r\n\r\n");

            expect("closed ConnectException: the proxy answered with HTTP 407");
            peer.awaitEnd();
        }
    }

    @Test
    void httpProxy_answersNonsense_isRefusedWithoutAQuote() throws Exception {
        open(proxied("https://api.test", "http", null, TIMEOUT));
        try (Peer peer = server.accept()) {
            peer.head();
            peer.write(NoLeaks.CANARY + " " + NoLeaks.CANARY + "\r\n\r\n");

            assertThat(next()).startsWith("closed ConnectException: the proxy ");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"http", "socks4", "socks5", "https"})
    void proxyThatNeverAnswers_isClosedInTime(String scheme) throws Exception {
        open(proxied("https://api.test", scheme, "user", SHORT));
        try (Peer peer = server.accept()) {
            assertThat(next()).startsWith("closed ConnectException: the proxy ");
            peer.awaitEnd();
            expectNothing();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"socks", "socks5", "socks5h"})
    void socks5_resolvesTheNameItself(String scheme) throws Exception {
        Wire wire = open(proxied("http://api.test:8080", scheme, "user", TIMEOUT));
        try (Peer peer = server.accept()) {
            assertThat(peer.read(4)).containsExactly(5, 2, 0, 2);
            peer.write(new byte[] {5, 2});
            assertThat(new String(peer.read(10), ISO_8859_1)).isEqualTo("\1\4user\3p:w");
            peer.write(new byte[] {1, 0});
            assertThat(new String(peer.read(15), ISO_8859_1)).isEqualTo("\5\1\0\3\10api.test\37\220");
            expectNothing();
            peer.write(new byte[] {5, 0, 0, 1, 0, 0, 0, 0, 0, 0});

            expect("opened h1 1");
            send(wire, "a");
            assertThat(peer.head()).startsWith("GET /get HTTP/1.1");
            peer.write(OK);
            expect("a 200", "a end");
        }
    }

    @Test
    void socks4_resolvesTheNameItself() throws Exception {
        Wire wire = open(proxied("http://api.test:8080", "socks4", "user", TIMEOUT));
        try (Peer peer = server.accept()) {
            assertThat(new String(peer.read(22), ISO_8859_1)).isEqualTo("\4\1\37\220\0\0\0\1user\0api.test\0");
            peer.write(new byte[] {0, 90, 0, 0, 0, 0, 0, 0});

            expect("opened h1 1");
            send(wire, "a");
            assertThat(peer.head()).startsWith("GET /get HTTP/1.1");
            peer.write(OK);
            expect("a 200", "a end");
        }
    }

    @Test
    void socks5_refuses_isReported() throws Exception {
        open(proxied("http://api.test:8080", "socks5", null, TIMEOUT));
        try (Peer peer = server.accept()) {
            peer.read(3);
            peer.write(new byte[] {5, 0});
            peer.read(15);
            peer.write(new byte[] {5, 5, 0, 1, 0, 0, 0, 0, 0, 0});

            expect("closed ConnectException: the proxy refused the connection");
        }
    }

    @Test
    void withoutCompression_noneIsAskedFor() throws Exception {
        Wire wire = open(
                target("http://127.0.0.1:" + server.port(), settings(null, false), server.address(), false, TIMEOUT));
        try (Peer peer = server.accept()) {
            expect("opened h1 1");
            send(wire, "a");

            assertThat(peer.head()).doesNotContainIgnoringCase("accept-encoding");
        }
    }
}
