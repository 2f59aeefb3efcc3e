package dev.podcache.apiserver.http;

import static com.google.common.util.concurrent.Uninterruptibles.awaitUninterruptibly;
import static dev.podcache.testing.Patience.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.ManualTimers;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Sockets;
import dev.podcache.testing.TcpProxy;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests one after the other, as heartbeats are, over networks that freeze, and to servers that are slow. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
class SerialRequestsTest {

    private static final Duration LEASE = Duration.ofSeconds(40);
    private static final Duration SHORT_LEASE = Duration.ofSeconds(12);

    private final ManualTimers manual = new ManualTimers();
    private final Timekeeper real = Timekeeper.system();
    private final StreamServer server = StreamServer.withoutHttp2();
    private final TcpProxy proxy = TcpProxy.to(server.port());
    private ApiConnections connections;
    private SerialRequests heartbeats;

    @AfterEach
    void tearDown() {
        heartbeats.close();
        connections.close();
        proxy.close();
        server.close();
        manual.close();
        real.close();
    }

    @Test
    void send_patch_arrivesAsItIs() {
        connect(LEASE);

        String answer = heartbeats
                .send(
                        ServerRequest.of(
                                "PATCH Node n",
                                "PATCH",
                                "/echo?a=b",
                                new ServerRequest.Body("application/strategic-merge-patch+json", "{\"é\":1}")),
                        SerialRequestsTest::text)
                .join();

        assertThat(answer).isEqualTo("PATCH /echo?a=b application/strategic-merge-patch+json {\"é\":1}");
    }

    @Test
    void send_manyAtOnce_goInOrderOverOneConnection() {
        connect(LEASE);
        List<String> paths = IntStream.range(0, 20).mapToObj(i -> "/" + i).toList();

        paths.stream().map(this::beat).toList().forEach(CompletableFuture::join);

        assertThat(server.arrived).isEqualTo(paths);
        assertThat(proxy.accepted()).isEqualTo(1);
    }

    @Test
    void send_connectionFreezes_nextRequestGoesThroughWithinTenSeconds() {
        connect(LEASE, real);
        beat("/before").join();
        proxy.freeze();
        long began = real.nanoTime();

        CompletableFuture<String> met = beat("/frozen");
        CompletableFuture<String> behind = beat("/behind");

        assertThat(behind.join()).isEqualTo("/behind");
        Duration took = Duration.ofNanos(real.nanoTime() - began);
        assertThat(took).isBetween(Duration.ofMillis(2900), Duration.ofSeconds(10));
        assertThat(failure(met).reason()).isEqualTo(FailureReason.TIMEOUT);
        assertThat(failure(met))
                .hasMessageContaining("GET /frozen: no answer from")
                .hasMessageContaining("within 3s");
        assertThat(proxy.accepted()).isEqualTo(2);
    }

    @Test
    void send_newConnectionsFrozenForAWhile_recoversWithTheFirstThatWorks() {
        connect(SHORT_LEASE);
        beat("/before").join();
        proxy.freeze();
        proxy.freezeNew();

        CompletableFuture<String> one = beat("/one");
        manual.advance(Duration.ofSeconds(1));
        assertThat(failure(one).reason()).isEqualTo(FailureReason.TIMEOUT);
        CompletableFuture<String> two = beat("/two");
        manual.advance(Duration.ofSeconds(2).minusMillis(1));
        assertThat(two).isNotDone();
        manual.advance(Duration.ofMillis(1));
        assertThat(failure(two)).hasMessageContaining("within 2s");
        proxy.thaw();

        assertThat(beat("/three").join()).isEqualTo("/three");
        await().until(() -> Sockets.connectedTo(proxy.port()) == 1);
    }

    @Test
    void send_slowServer_isGivenTheTimeItNeeds() {
        connect(LEASE);
        server.hold();
        CompletableFuture<String> one = beatThatArrives("/one");
        manual.advance(Duration.ofSeconds(3));
        assertThat(failure(one).reason()).isEqualTo(FailureReason.TIMEOUT);

        for (String path : List.of("/two", "/three")) {
            CompletableFuture<String> later = beatThatArrives(path);
            manual.advance(Duration.ofSeconds(4));
            server.release();

            assertThat(later.join()).isEqualTo(path);
            server.hold();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "PT40S, PT3S, PT6S, PT10S, PT10S",
        "PT36S, PT3S, PT6S, PT9S, PT9S",
        "PT12S, PT1S, PT2S, PT3S, PT3S",
        "PT600S, PT3S, PT6S, PT12S, PT24S"
    })
    void send_timeoutsInARow_doubleUpToAQuarterOfTheLease(
            Duration lease, Duration first, Duration second, Duration third, Duration fourth) {
        connect(lease);
        server.hold();

        assertTimesOutAfter(first, "/first");
        assertTimesOutAfter(second, "/second");
        assertTimesOutAfter(third, "/third");
        assertTimesOutAfter(fourth, "/fourth");
    }

    @ParameterizedTest
    @CsvSource({"PT0.1S, PT3S", "PT2.9S, PT3S", "PT3S, PT10S", "PT4S, PT10S"})
    void send_answeredAfterTimeouts_returnsToTheFirstTimeoutOnlyIfThatWasFastEnough(Duration took, Duration expected) {
        connect(LEASE);
        server.hold();
        assertTimesOutAfter(Duration.ofSeconds(3), "/one");
        assertTimesOutAfter(Duration.ofSeconds(6), "/two");
        CompletableFuture<String> answered = beatThatArrives("/three");
        manual.advance(took);
        server.release();
        assertThat(answered.join()).isEqualTo("/three");
        server.hold();

        assertTimesOutAfter(expected, "/next");
    }

    @Test
    void heartbeats_leaseThatLastsNoTime_isRefused() {
        connect(LEASE);

        assertThatThrownBy(() -> connections.heartbeats(Duration.ZERO))
                .hasMessage("the lease duration must be at least 1s, but is 0s");
    }

    private void assertTimesOutAfter(Duration timeout, String path) {
        CompletableFuture<String> sent = beatThatArrives(path);
        manual.advance(timeout.minusMillis(1));
        assertThat(sent).isNotDone();
        manual.advance(Duration.ofMillis(1));
        assertThat(failure(sent).reason()).isEqualTo(FailureReason.TIMEOUT);
    }

    private CompletableFuture<String> beatThatArrives(String path) {
        CompletableFuture<String> sent = beat(path);
        await().until(() -> server.arrived.contains(path));
        return sent;
    }

    /** As where name lookups for watches fail. */
    @Test
    void send_allOtherThreadsThatMayBlockHang_isAnsweredAllTheSame() {
        connect(LEASE);
        CountDownLatch hanging = new CountDownLatch(1);
        IntStream.range(0, 10).forEach(i -> manual.blocking().execute(() -> awaitUninterruptibly(hanging)));

        try {
            assertThat(beat("/one").join()).isEqualTo("/one");
            assertThat(failure(beat("/status/401")).reason()).isEqualTo(FailureReason.UNAUTHORIZED);
        } finally {
            hanging.countDown();
        }
    }

    @Test
    void send_serverClosedTheConnection_dialsAnew() {
        connect(LEASE);
        beat("/before").join();
        proxy.reset();
        await().until(() -> server.connections.isEmpty());
        await().until(() -> Sockets.connectedTo(proxy.port()) == 0);

        assertThat(beat("/after").join()).isEqualTo("/after");
    }

    @Test
    void send_noServer_failsAtOnceAsUnavailable() {
        connect(LEASE);
        proxy.close();

        ApiServerException failure = failure(beat("/one"));

        assertThat(failure.reason()).isEqualTo(FailureReason.UNAVAILABLE);
        assertThat(failure).hasMessageContaining("GET /one: no connection to https://127.0.0.1:" + proxy.port());
    }

    @Test
    void send_errorAnswer_isToldByItsCodeAndKeepsTheConnection() {
        connect(LEASE);

        ApiServerException failure = failure(beat("/status/409"));

        assertThat(failure.reason()).isEqualTo(FailureReason.CONFLICT);
        assertThat(failure).hasMessage("GET /status/409 was answered 409: (no Status in the answer)");
        assertThat(beat("/after").join()).isEqualTo("/after");
        assertThat(proxy.accepted()).isEqualTo(1);
    }

    @Test
    void send_answerThatCannotBeDecoded_failsWithWhatWasThrown() {
        connect(LEASE);
        IllegalStateException unreadable = new IllegalStateException("no");

        CompletableFuture<String> answer = heartbeats.send(ServerRequest.get("GET", "/x"), body -> {
            throw unreadable;
        });

        assertThat(catchThrowable(answer::join)).hasCause(unreadable);
        assertThat(beat("/after").join()).isEqualTo("/after");
    }

    @Test
    void send_answer_isDecodedOnAWorker() {
        connect(LEASE);

        String thread = heartbeats
                .send(
                        ServerRequest.get("GET", "/x"),
                        body -> Thread.currentThread().getName())
                .join();

        assertThat(thread).startsWith("podcache-worker");
    }

    @Test
    void reconnect_idle_closesTheConnectionAndTheNextDials() {
        connect(LEASE);
        beat("/before").join();

        heartbeats.reconnect();
        await().until(() -> server.connections.isEmpty());
        beat("/after").join();

        assertThat(proxy.accepted()).isEqualTo(2);
    }

    @Test
    void reconnect_whileOneIsUnderWay_letsItFinish() {
        connect(LEASE);
        server.hold();
        CompletableFuture<String> underWay = beatThatArrives("/one");

        heartbeats.reconnect();
        server.release();

        assertThat(underWay.join()).isEqualTo("/one");
        beat("/two").join();
        assertThat(proxy.accepted()).isEqualTo(2);
    }

    @Test
    void close_whileOneIsStuckAndOneWaits_failsBothAtOnce() {
        connect(LEASE);
        beat("/before").join();
        proxy.freeze();
        CompletableFuture<String> stuck = beat("/stuck");
        CompletableFuture<String> waits = beat("/waits");

        heartbeats.close();

        // and not with TIMEOUT
        assertThat(failure(stuck).reason()).isEqualTo(FailureReason.REJECTED);
        assertThat(failure(waits)).hasMessageContaining("have been closed");
        assertThat(Sockets.connectedTo(proxy.port())).isZero();
    }

    @Test
    void send_afterClose_fails() {
        connect(LEASE);
        heartbeats.close();

        assertThat(failure(beat("/late"))).hasMessageContaining("GET /late").hasMessageContaining("have been closed");
    }

    private void connect(Duration lease) {
        connect(lease, manual);
    }

    private void connect(Duration lease, Timekeeper time) {
        Config config = new ConfigBuilder(Config.empty())
                .withMasterUrl("https://127.0.0.1:" + proxy.port())
                .withTrustCerts(true)
                .build();
        connections = new ApiConnections(
                "https://127.0.0.1:" + proxy.port(), config, config.getRequestConfig(), time, (request, status) -> {});
        heartbeats = connections.heartbeats(lease);
    }

    private CompletableFuture<String> beat(String path) {
        return heartbeats.send(ServerRequest.get("GET " + path, path), SerialRequestsTest::text);
    }

    private static String text(byte[] body) {
        return new String(body, UTF_8);
    }

    private static ApiServerException failure(CompletableFuture<?> future) {
        Throwable thrown = catchThrowable(future::join);
        assertThat(thrown).isInstanceOf(CompletionException.class);
        return (ApiServerException) thrown.getCause();
    }
}
