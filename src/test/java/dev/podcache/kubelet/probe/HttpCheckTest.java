package dev.podcache.kubelet.probe;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.TestCertificates;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.HTTPHeader;
import io.fabric8.kubernetes.api.model.IntOrString;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ProbeBuilder;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.PemKeyCertOptions;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code pkg/probe/http} of Kubernetes and its tests, against a server. */
@ExtendWith(NoLeaks.class)
class HttpCheckTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final ProbeNetwork network = new ProbeNetwork(time, "1.36");
    private final ProbeActions actions = new ProbeActions(
            network, (pod, container, command, timeout) -> CompletableFuture.failedFuture(new IOException("no exec")));
    private HttpServer server;

    @BeforeEach
    void start() throws IOException {
        server = listen();
    }

    private static HttpServer listen() throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.start();
        return server;
    }

    @AfterEach
    void stop() {
        network.close();
        server.stop(0);
    }

    private void answer(String path, int status, String body) {
        server.createContext(path, exchange -> send(exchange, status, body, null));
    }

    private static void send(HttpExchange exchange, int status, String body, @Nullable String location)
            throws IOException {
        try (exchange) {
            if (location != null) {
                exchange.getResponseHeaders().add("Location", location);
            }
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
            exchange.getResponseBody().write(bytes);
        }
    }

    private CompletableFuture<ProbeOutcome> begin(String path, String scheme, int port, HTTPHeader... headers) {
        Probe probe = new ProbeBuilder()
                .withNewHttpGet()
                .withPath(path)
                .withScheme(scheme)
                .withPort(new IntOrString(port))
                .withHttpHeaders(headers)
                .endHttpGet()
                .withTimeoutSeconds(1)
                .build();
        Container container = new ContainerBuilder().withName("main").build();
        return actions.run(probe, new ProbeTarget(ProbesFixture.pod(container), container, "127.0.0.1"));
    }

    private ProbeOutcome probe(String path, HTTPHeader... headers)
            throws InterruptedException, ExecutionException, TimeoutException {
        return begin(path, "HTTP", server.getAddress().getPort(), headers).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    private String url(String path) {
        return "http://127.0.0.1:" + server.getAddress().getPort() + path;
    }

    @ParameterizedTest
    @CsvSource({
        "200, SUCCESS, ok body",
        "204, SUCCESS, ''",
        "300, WARNING, 'Probe terminated redirects, Response body: ok body'",
        "308, WARNING, 'Probe terminated redirects, Response body: ok body'",
        "400, FAILURE, HTTP probe failed with statuscode: 400",
        "500, FAILURE, HTTP probe failed with statuscode: 500"
    })
    void status(int status, ProbeOutcome.Verdict expected, String message) throws Exception {
        answer("/", status, status == 204 ? "" : "ok body");

        assertThat(probe("/")).isEqualTo(new ProbeOutcome(expected, message));
    }

    /** Answers with the sorted request headers, as {@code name: value} lines. */
    private void echoHeaders() {
        server.createContext("/", exchange -> {
            StringBuilder lines = new StringBuilder();
            new TreeMap<>(exchange.getRequestHeaders())
                    .forEach((name, values) -> values.forEach(value ->
                            lines.append(name).append(": ").append(value).append('\n')));
            send(exchange, 200, lines.toString(), null);
        });
    }

    @Test
    void headers_withoutAny() throws Exception {
        echoHeaders();

        assertThat(probe("/").message())
                .isEqualTo("Accept: */*\nConnection: close\nHost: 127.0.0.1:"
                        + server.getAddress().getPort() + "\nUser-agent: kube-probe/1.36\n");
    }

    @ParameterizedTest
    @CsvSource({
        "Accept-Encoding, gzip, Accept-encoding: gzip",
        "X-Muffins-Or-Cupcakes, muffins, X-muffins-or-cupcakes: muffins",
        "User-Agent, foo/1.0, User-agent: foo/1.0",
        "Accept, text/html, Accept: text/html",
        "Host, muffins.cupcakes.org, Host: muffins.cupcakes.org"
    })
    void headers_given(String name, String value, String expected) throws Exception {
        echoHeaders();

        assertThat(probe("/", new HTTPHeader(name, value)).message().lines()).containsOnlyOnce(expected);
    }

    @Test
    void headers_severalOfOneName() throws Exception {
        echoHeaders();

        assertThat(probe("/", new HTTPHeader("X-A", "1"), new HTTPHeader("x-a", "2"))
                        .message())
                .contains("X-a: 1\nX-a: 2\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Accept", "User-Agent"})
    void headers_emptyAcceptOrUserAgent_areLeftOut(String name) throws Exception {
        echoHeaders();

        assertThat(probe("/", new HTTPHeader(name, "")).message()).doesNotContainIgnoringCase(name + ":");
    }

    @ParameterizedTest
    @CsvSource({"'', /", "healthz, /healthz", "?foo, /?foo", "/path?bar=1#top, /path?bar=1", "/a b, /a%20b"})
    void path(String path, String expected) throws Exception {
        server.createContext(
                "/", exchange -> send(exchange, 200, exchange.getRequestURI().toString(), null));

        assertThat(probe(path).message()).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(ints = {301, 302, 303, 307, 308})
    void redirect_toTheSameHost_isFollowed(int status) throws Exception {
        server.createContext("/", exchange -> send(exchange, status, "", "/new"));
        answer("/new", 200, "arrived");
        server.createContext("/bad", exchange -> send(exchange, status, "", "/broken"));
        answer("/broken", 500, "");

        assertThat(probe("/")).isEqualTo(ProbeOutcome.success("arrived"));
        assertThat(probe("/bad")).isEqualTo(ProbeOutcome.failure("HTTP probe failed with statuscode: 500"));
    }

    @Test
    void redirect_toAnotherPort_isFollowed() throws Exception {
        HttpServer other = listen();
        try {
            other.createContext("/success", exchange -> send(exchange, 200, "other", null));
            String location = "http://127.0.0.1:" + other.getAddress().getPort() + "/success";
            server.createContext("/", exchange -> send(exchange, 302, "", location));

            assertThat(probe("/")).isEqualTo(ProbeOutcome.success("other"));
        } finally {
            other.stop(0);
        }
    }

    /** Also if Go can parse what {@code java.net.URI} cannot; the last but one has bytes of UTF-8. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "http://0.0.0.0/fail",
                "http://sso_internal:8080/login",
                "https://sso.example/auth?scope=openid|email",
                "https://sso.example/?next={x}&rest=100%",
                "https://sso.example/a b^c",
                "http://user@sso.example:99999",
                "myapp://open",
                "mailto:somebody",
                "//sso.example",
                "https://sso.example/\u00c3\u00a9\u00c2\u0085",
                ""
            })
    void redirect_toAnotherHost_isAWarning(String location) throws Exception {
        server.createContext("/", exchange -> send(exchange, 302, "moved", location));

        assertThat(probe("/")).isEqualTo(ProbeOutcome.warning("Probe terminated redirects, Response body: moved"));
    }

    @ParameterizedTest
    @CsvSource({
        "?lang=en, /from/here?lang=en",
        "there, /from/there",
        "./c|d, /from/c%7Cd",
        "../x y?q={1}, /x%20y?q=%7B1%7D",
        "/a/./b/../../../c/.., /",
        "/a//b/.., /a//",
        "/caf\u00c3\u00a9\u00c2\u0085#top, /caf%C3%A9%C2%85"
    })
    void redirect_relative_isResolvedAsByGo(String location, String expected) throws Exception {
        server.createContext(
                "/", exchange -> send(exchange, 200, exchange.getRequestURI().toString(), null));
        server.createContext("/from/here", exchange -> {
            boolean first = exchange.getRequestURI().getQuery() == null;
            send(exchange, first ? 302 : 200, exchange.getRequestURI().toString(), first ? location : null);
        });

        assertThat(probe("/from/here")).isEqualTo(ProbeOutcome.success(expected));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"http://127.0.0.1:x/", "http://127.0.0.1:99999/", "http://a|b/", "/%zz", ":a", "1a:b", "/a\tb"})
    void redirect_thatIsInvalid_fails(String location) throws Exception {
        server.createContext("/", exchange -> send(exchange, 302, "", location));

        assertThat(probe("/").verdict()).isEqualTo(ProbeOutcome.Verdict.FAILURE);
    }

    @Test
    void redirect_loop_fails() throws Exception {
        server.createContext("/", exchange -> send(exchange, 302, "", "/loop"));

        assertThat(probe("/loop"))
                .isEqualTo(ProbeOutcome.failure("Get \"" + url("/loop") + "\": stopped after 10 redirects"));
    }

    @Test
    void redirect_toAnotherScheme_fails() throws Exception {
        server.createContext("/", exchange -> send(exchange, 302, "", "ftp://127.0.0.1/"));

        assertThat(probe("/").verdict()).isEqualTo(ProbeOutcome.Verdict.FAILURE);
    }

    @Test
    void redirect_relative_keepsTheHostHeader() throws Exception {
        server.createContext("/", exchange -> send(exchange, 302, "", "/success"));
        server.createContext(
                "/success",
                exchange -> send(exchange, 200, exchange.getRequestHeaders().getFirst("Host"), null));

        assertThat(probe("/", new HTTPHeader("Host", "www.success.com")).message())
                .isEqualTo("www.success.com");
    }

    @Test
    void body_isCutAfter10KiB() throws Exception {
        answer("/", 200, "a".repeat(10 * 1024 + 1));
        answer("/short", 200, "a".repeat(10 * 1024 - 1));

        assertThat(probe("/").message()).hasSize(10 * 1024);
        assertThat(probe("/short").message()).hasSize(10 * 1024 - 1);
    }

    @Test
    void timeout_isAFailure() throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        HttpHandler silent = exchange -> arrived.countDown();
        server.createContext("/", silent);
        CompletableFuture<ProbeOutcome> outcome =
                begin("/", "HTTP", server.getAddress().getPort());
        assertThat(arrived.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();

        time.advance(Duration.ofSeconds(1));

        assertThat(outcome)
                .isCompletedWithValue(ProbeOutcome.failure("Get \"" + url("/")
                        + "\": context deadline exceeded (Client.Timeout exceeded while awaiting headers)"));
    }

    @Test
    void refused_isAFailure() throws Exception {
        try (Socket reserved = new Socket()) {
            reserved.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            int port = reserved.getLocalPort();

            assertThat(begin("/healthz", "", port).get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isEqualTo(ProbeOutcome.failure("Get \"http://127.0.0.1:" + port + "/healthz\": dial tcp 127.0.0.1:"
                            + port + ": connect: connection refused"));
        }
    }

    @Test
    void https_certificateIsNotVerified() throws Exception {
        Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));
        TestCertificates authority = new TestCertificates();
        PemKeyCertOptions keys = new PemKeyCertOptions()
                .setCertValue(Buffer.buffer(authority.serverPemFor("example.org")))
                .setKeyValue(Buffer.buffer(authority.privateKeyPem()));
        try {
            int port = vertx.createHttpServer(
                            new HttpServerOptions().setSsl(true).setKeyCertOptions(keys))
                    .requestHandler(request -> request.response().end("secure"))
                    .listen(0, "127.0.0.1")
                    .toCompletionStage()
                    .toCompletableFuture()
                    .get(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                    .actualPort();

            assertThat(begin("/", "HTTPS", port).get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isEqualTo(ProbeOutcome.success("secure"));
            assertThat(begin("/", "HTTP", port)
                            .get(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                            .verdict())
                    .isEqualTo(ProbeOutcome.Verdict.FAILURE);
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    @Test
    void hostField_isUsedInsteadOfThePodIp() throws Exception {
        answer("/", 200, "by name");
        Probe probe = new ProbeBuilder()
                .withNewHttpGet()
                .withHost("localhost")
                .withPath("/")
                .withPort(new IntOrString(server.getAddress().getPort()))
                .endHttpGet()
                .build();
        Container container = new ContainerBuilder().withName("main").build();

        ProbeOutcome outcome = actions.run(
                        probe, new ProbeTarget(ProbesFixture.pod(container), container, "203.0.113.1"))
                .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);

        assertThat(outcome).isEqualTo(ProbeOutcome.success("by name"));
    }

    /** What the client of Go takes, too. */
    @ParameterizedTest
    @MethodSource("unusualAnswers")
    void unusualAnswer_isTaken(String name, String answer) throws Exception {
        try (ServerSocket raw = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> served = CompletableFuture.runAsync(() -> answerOnce(raw, answer), NewThread.EACH);

            ProbeOutcome outcome = begin("/", "HTTP", raw.getLocalPort()).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);

            assertThat(outcome).as(name).isEqualTo(ProbeOutcome.success("ok"));
            served.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    static Stream<Arguments> unusualAnswers() {
        String ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n";
        String end = "\r\nok";
        return Stream.of(
                Arguments.of("a header of 8,193 bytes", ok + "A: " + "a".repeat(8190) + "\r\n" + end),
                Arguments.of("a header of 900,000 bytes", ok + "A: " + "a".repeat(900_000) + "\r\n" + end),
                Arguments.of("100 headers", ok + ("Set-Cookie: " + "a".repeat(1000) + "\r\n").repeat(100) + end),
                Arguments.of("1,000 headers", ok + ("Set-Cookie: " + "a".repeat(1000) + "\r\n").repeat(1000) + end),
                Arguments.of("4,000 short headers", ok + "a:\r\n".repeat(4000) + end),
                Arguments.of("a long reason", "HTTP/1.1 200 " + "a".repeat(10_000) + "\r\nContent-Length: 2\r\n" + end),
                Arguments.of("no reason", "HTTP/1.1 200\r\nContent-Length: 2\r\n" + end),
                Arguments.of("100 before it", "HTTP/1.1 100 Continue\r\n\r\n" + ok + end),
                Arguments.of("103 before it", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + ok + end),
                Arguments.of(
                        "trailers of 10,000 bytes",
                        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nA: " + "a".repeat(10_000)
                                + "\r\n\r\n"),
                Arguments.of("HTTP/1.0 without a length", "HTTP/1.0 200 OK\r\n\r\nok"));
    }

    static Stream<String> tooLarge() {
        String tiny = "a:\r\n".repeat(200_000);
        return Stream.of(
                "HTTP/1.1 200 OK\r\n" + ("A: " + "a".repeat(1000) + "\r\n").repeat(1200) + "\r\n",
                // each takes a hundred times its bytes of the heap
                "HTTP/1.1 200 OK\r\n" + tiny + "Content-Length: 2\r\n\r\nok",
                "HTTP/1.1 103 Early Hints\r\n" + tiny + "\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    }

    @ParameterizedTest
    @MethodSource("tooLarge")
    void headers_beyondTheLimits_areAFailure(String answer) throws Exception {
        try (ServerSocket raw = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> served = CompletableFuture.runAsync(() -> answerOnce(raw, answer), NewThread.EACH);

            assertThat(begin("/", "HTTP", raw.getLocalPort())
                            .get(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                            .verdict())
                    .isEqualTo(ProbeOutcome.Verdict.FAILURE);
            served.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    @ParameterizedTest
    @CsvSource({"X-Token, 'secret\tone\u0001', value for \"x-token\"", "'X Token', secret, name \"x token\""})
    void header_thatIsIllegal_isAFailureThatDoesNotQuoteTheValue(String name, String value, String said)
            throws Exception {
        answer("/", 200, "never asked");

        ProbeOutcome outcome = probe("/", new HTTPHeader(name, value));

        assertThat(outcome)
                .isEqualTo(ProbeOutcome.failure("Get \"" + url("/") + "\": net/http: invalid header field " + said));
    }

    @Test
    void headers_thatHttpSetsItself_areNotSentTwice() throws Exception {
        echoHeaders();

        assertThat(probe("/", new HTTPHeader("Content-Length", "5"), new HTTPHeader("Connection", "keep-alive"))
                        .message())
                .doesNotContainIgnoringCase("content-length")
                .contains("Connection: close\n");
    }

    @Test
    void headerValue_beyondAscii_isSentAsUtf8() throws Exception {
        server.createContext("/", exchange -> {
            byte[] received = exchange.getRequestHeaders().getFirst("X-Name").getBytes(StandardCharsets.ISO_8859_1);
            send(exchange, 200, new String(received, StandardCharsets.UTF_8), null);
        });

        assertThat(probe("/", new HTTPHeader("X-Name", "Käse ☃"))).isEqualTo(ProbeOutcome.success("Käse ☃"));
    }

    @Test
    void host_thatIsUnknown_isAFailure() throws Exception {
        Probe probe = new ProbeBuilder()
                .withNewHttpGet()
                .withHost("name.invalid")
                .withPath("/")
                .withPort(new IntOrString(80))
                .endHttpGet()
                .build();
        Container container = new ContainerBuilder().withName("main").build();

        ProbeOutcome outcome = actions.run(probe, new ProbeTarget(ProbesFixture.pod(container), container, "127.0.0.1"))
                .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);

        assertThat(outcome)
                .isEqualTo(ProbeOutcome.failure("Get \"http://name.invalid:80/\": lookup name.invalid: no such host"));
    }

    static Stream<Arguments> brokenAnswers() {
        return Stream.of(
                Arguments.of("", "EOF"),
                Arguments.of("secret garbage\r\n\r\n", "net/http: malformed HTTP response"),
                Arguments.of("HTTP/1.1 200 OK\r\nContent-Length: secret\r\n\r\n", "net/http: malformed HTTP response"),
                Arguments.of(
                        "HTTP/1.1 200 OK\r\nA: " + "a".repeat(1 << 20) + "\r\n\r\n",
                        "net/http: server response headers exceeded 1048576 bytes"),
                Arguments.of(
                        "HTTP/1.1 200 OK\r\n" + "a:\r\n".repeat(33_000) + "\r\n",
                        "the response has more than 32768 lines"));
    }

    /** As by Go, but nothing is quoted that was received. */
    @ParameterizedTest
    @MethodSource("brokenAnswers")
    void brokenAnswer_isAFailureThatSaysWhy(String answer, String why) throws Exception {
        try (ServerSocket raw = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> served = CompletableFuture.runAsync(() -> answerOnce(raw, answer), NewThread.EACH);

            ProbeOutcome outcome = begin("/", "HTTP", raw.getLocalPort()).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);

            assertThat(outcome.verdict()).isEqualTo(ProbeOutcome.Verdict.FAILURE);
            assertThat(outcome.message()).endsWith("/\": " + why);
            served.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    static Stream<Arguments> brokenBodies() {
        String chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        return Stream.of(
                Arguments.of("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nhalf", "unexpected EOF"),
                Arguments.of("HTTP/1.1 500 No\r\nContent-Length: 20\r\n\r\nhalf", "unexpected EOF"),
                Arguments.of(chunked + "secret\r\nok\r\n", "net/http: malformed HTTP response"),
                // each line takes a hundred times its bytes of the heap
                Arguments.of(
                        chunked + "2\r\nok\r\n0\r\n" + "a:\r\n".repeat(200_000) + "\r\n",
                        "the response has more than 32768 lines"));
    }

    @ParameterizedTest
    @MethodSource("brokenBodies")
    void bodyThatBreaksOff_isTriedThreeTimes_andDoesNotCount(String answer, String why) throws Exception {
        try (ServerSocket raw = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> served = CompletableFuture.runAsync(
                    () -> {
                        for (int tries = 0; tries < 3; tries++) {
                            answerOnce(raw, answer);
                        }
                    },
                    NewThread.EACH);

            ProbeOutcome outcome = begin("/", "HTTP", raw.getLocalPort()).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);

            assertThat(outcome).isEqualTo(ProbeOutcome.error(why));
            served.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    @Test
    void redirect_whoseBodyBreaksOff_isFollowed() throws Exception {
        answer("/new", 200, "arrived");
        try (ServerSocket raw = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> served = CompletableFuture.runAsync(
                    () -> answerOnce(
                            raw,
                            "HTTP/1.1 302 Found\r\nLocation: " + url("/new") + "\r\nContent-Length: 20\r\n\r\nhalf"),
                    NewThread.EACH);

            assertThat(begin("/", "HTTP", raw.getLocalPort()).get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isEqualTo(ProbeOutcome.success("arrived"));
            served.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    @Test
    void upgradeThatNobodyAskedFor_isAFailure() throws Exception {
        try (ServerSocket raw = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> served = CompletableFuture.runAsync(
                    () -> answerOnce(raw, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"), NewThread.EACH);

            assertThat(begin("/", "HTTP", raw.getLocalPort()).get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isEqualTo(ProbeOutcome.failure("HTTP probe failed with statuscode: 101"));
            served.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    @Test
    void https_toAServerWithoutTls_isAFailureThatQuotesNothing() throws Exception {
        try (ServerSocket raw = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> served =
                    CompletableFuture.runAsync(() -> answerOnce(raw, "HTTP/1.1 400 secret\r\n\r\n"), NewThread.EACH);

            assertThat(begin("/", "HTTPS", raw.getLocalPort()).get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
                    .isEqualTo(ProbeOutcome.failure("Get \"https://127.0.0.1:" + raw.getLocalPort()
                            + "/\": tls: first record does not look like a TLS handshake"));
            served.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    @Test
    void network_thatIsClosed_endsTheCheck() throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        HttpHandler silent = exchange -> arrived.countDown();
        server.createContext("/", silent);
        CompletableFuture<ProbeOutcome> outcome =
                begin("/", "HTTP", server.getAddress().getPort());
        assertThat(arrived.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();

        network.close();

        assertThat(outcome.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).verdict())
                .isEqualTo(ProbeOutcome.Verdict.FAILURE);
    }

    private static void answerOnce(ServerSocket server, String answer) {
        try (Socket socket = server.accept()) {
            socket.getInputStream().read(new byte[1 << 16]);
            socket.getOutputStream().write(answer.getBytes(StandardCharsets.ISO_8859_1));
            socket.getOutputStream().flush();
            socket.shutdownOutput();
            socket.getInputStream().transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            // a client that refuses the answer closes the connection
        }
    }
}
