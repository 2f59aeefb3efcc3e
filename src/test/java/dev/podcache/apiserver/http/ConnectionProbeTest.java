package dev.podcache.apiserver.http;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.ConnectProxy;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Sockets;
import dev.podcache.testing.TcpProxy;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.net.ConnectException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What one more connection, and the answer to one request on it, show. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class ConnectionProbeTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final List<Integer> observed = new CopyOnWriteArrayList<>();
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private ApiConnections connections;

    @AfterEach
    void tearDown() throws Exception {
        connections.close();
        while (!open.isEmpty()) {
            open.pop().close();
        }
    }

    @Test
    void http2_isToldWithTheStreamLimit_andTheConnectionIsClosed() {
        StreamServer server = server(StreamServer.withLimit(7));
        connect("https://127.0.0.1:" + server.port(), new ConfigBuilder(Config.empty()));

        ConnectionFacts facts = factsOf(probe("/version"));

        assertThat(facts.address().getPort()).isEqualTo(server.port());
        assertThat(facts.proxy()).isEmpty();
        assertThat(facts.http2()).isTrue();
        assertThat(facts.http2Offered()).isTrue();
        assertThat(facts.streamLimit()).isEqualTo(7);
        assertThat(facts.answer().status()).isEqualTo(200);
        assertThat(facts.answer().body()).isEqualTo("/version");
        assertThat(facts.answer().sent()).isEqualTo(time.wallTime());
        assertThat(facts.answer().received()).isEqualTo(time.wallTime());
        await().until(() -> server.connections.isEmpty());
        assertThat(observed).containsExactly(0, 200, -1);
    }

    @Test
    void http11_hasOneStream() {
        StreamServer server = server(StreamServer.withoutHttp2());
        connect("https://127.0.0.1:" + server.port(), new ConfigBuilder(Config.empty()));

        ConnectionFacts facts = factsOf(probe("/version"));

        assertThat(facts.http2()).isFalse();
        assertThat(facts.http2Offered()).isTrue();
        assertThat(facts.streamLimit()).isEqualTo(1);
        await().until(() -> server.connections.isEmpty());
    }

    @Test
    void http2Disabled_isNotOffered() {
        StreamServer server = server(StreamServer.withLimit(7));
        connect("https://127.0.0.1:" + server.port(), new ConfigBuilder(Config.empty()).withHttp2Disable(true));

        ConnectionFacts facts = factsOf(probe("/version"));

        assertThat(facts.http2()).isFalse();
        assertThat(facts.http2Offered()).isFalse();
    }

    @Test
    void proxy_isNamed_andItsAddressIsTheOneConnectedTo() {
        StreamServer server = server(StreamServer.withLimit(7));
        ConnectProxy proxy = ConnectProxy.to(server.port());
        open.push(proxy);
        connect("https://127.0.0.1:1", new ConfigBuilder(Config.empty()).withHttpsProxy(proxy.url()));

        ConnectionFacts facts = factsOf(probe("/version"));

        assertThat(proxy.url()).contains(String.valueOf(facts.address().getPort()));
        assertThat(facts.proxy())
                .get()
                .asString()
                .contains(String.valueOf(facts.address().getPort()));
        assertThat(facts.http2()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {401, 403, 404, 500, 503})
    void answerOfAnyStatus_isAnAnswer_andIsAskedForOnce(int status) {
        StreamServer server = server(StreamServer.withLimit(7));
        connect("https://127.0.0.1:" + server.port(), new ConfigBuilder(Config.empty()));

        assertThat(factsOf(probe("/status/" + status)).answer().status()).isEqualTo(status);

        assertThat(server.arrived).hasSize(1);
    }

    @Test
    void longBody_isCutAt64KiB() {
        StreamServer server = server(StreamServer.withLimit(7));
        connect("https://127.0.0.1:" + server.port(), new ConfigBuilder(Config.empty()));

        CompletableFuture<ConnectionFacts> probe = probe("/half");
        await().until(() -> server.halves() == 1);
        server.endHalves();

        assertThat(factsOf(probe).answer().body()).hasSize(64 << 10);
    }

    @Test
    void nobodyListens_failsWithTheCause_andNoOtherTrafficWaitsForIt() {
        StreamServer server = server(StreamServer.withLimit(7));
        TcpProxy proxy = TcpProxy.to(server.port());
        open.push(proxy);
        proxy.refuse(true);
        connect("https://127.0.0.1:" + proxy.port(), new ConfigBuilder(Config.empty()));

        ApiServerException failure = failureOf(probe("/version"));

        assertThat(failure.reason()).isEqualTo(FailureReason.UNAVAILABLE);
        proxy.refuse(false);
        // the pause after a failure is for the pools of watches and requests
        assertThat(connections
                        .send(Duration.ZERO, ServerRequest.get("GET /x", "/x"), TIMEOUT, 1000, body -> body.length)
                        .join())
                .isEqualTo(2);
    }

    @Test
    void closedPort_failsWithItsCause() {
        StreamServer server = StreamServer.withLimit(7);
        server.close();
        connect("https://127.0.0.1:" + server.port(), new ConfigBuilder(Config.empty()));

        assertThat(failureOf(probe("/version"))).hasCauseInstanceOf(ConnectException.class);
    }

    @Test
    void serverIsSilent_failsInTimeAsATimeout() {
        StreamServer server = server(StreamServer.withLimit(7));
        TcpProxy proxy = TcpProxy.to(server.port());
        open.push(proxy);
        proxy.freezeNew();
        connect("https://127.0.0.1:" + proxy.port(), new ConfigBuilder(Config.empty()));
        CompletableFuture<ConnectionFacts> probe = probe("/version");
        await().until(() -> proxy.accepted() == 1);

        time.advance(TIMEOUT.minusMillis(1));
        assertThat(probe).isNotDone();
        time.advance(Duration.ofMillis(1));

        assertThat(failureOf(probe).reason()).isEqualTo(FailureReason.TIMEOUT);
        assertThat(failureOf(probe)).hasCauseInstanceOf(TimeoutException.class);
        await().until(() -> Sockets.connectedTo(proxy.port()) == 0);
    }

    @Test
    void close_whileAProbeRuns_failsIt() {
        StreamServer server = server(StreamServer.withLimit(7));
        TcpProxy proxy = TcpProxy.to(server.port());
        open.push(proxy);
        proxy.freezeNew();
        connect("https://127.0.0.1:" + proxy.port(), new ConfigBuilder(Config.empty()));
        CompletableFuture<ConnectionFacts> probe = probe("/version");

        connections.close();

        assertThat(failureOf(probe).reason()).isEqualTo(FailureReason.REJECTED);
        assertThat(failureOf(probe("/late")).reason()).isEqualTo(FailureReason.REJECTED);
    }

    private StreamServer server(StreamServer server) {
        open.push(server);
        return server;
    }

    private void connect(String url, ConfigBuilder config) {
        Config built = config.withTrustCerts(true)
                // by the manual time only
                .withConnectionTimeout(3_600_000)
                .build();
        connections = new ApiConnections(
                url, built, built.getRequestConfig(), time, (request, status) -> observed.add(status));
    }

    private CompletableFuture<ConnectionFacts> probe(String path) {
        return connections.probe(ServerRequest.get("GET " + path, path), TIMEOUT);
    }

    private static ConnectionFacts factsOf(CompletableFuture<ConnectionFacts> probe) {
        return probe.orTimeout(Patience.SECONDS, TimeUnit.SECONDS).join();
    }

    private static ApiServerException failureOf(CompletableFuture<ConnectionFacts> probe) {
        try {
            throw new AssertionError("showed " + factsOf(probe));
        } catch (CompletionException e) {
            return (ApiServerException) e.getCause();
        }
    }
}
