package dev.podcache.kubelet.probe;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.ProbeBuilder;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code grpc_test.go} of Kubernetes, against a server that speaks HTTP/2 without TLS. */
@ExtendWith(NoLeaks.class)
class GrpcCheckTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final ProbeNetwork network = new ProbeNetwork(time, "1.36");
    private final ProbeActions actions = new ProbeActions(
            network, (pod, container, command, timeout) -> CompletableFuture.failedFuture(new IOException("no exec")));
    private final Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1));

    @AfterEach
    void stop() throws Exception {
        network.close();
        vertx.close().toCompletionStage().toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    private int serve(Handler<HttpServerRequest> handler) throws Exception {
        return vertx.createHttpServer()
                .requestHandler(handler)
                .listen(0, "127.0.0.1")
                .toCompletionStage()
                .toCompletableFuture()
                .get(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                .actualPort();
    }

    private CompletableFuture<ProbeOutcome> begin(int port, @Nullable String service) {
        Container container = new ContainerBuilder().withName("main").build();
        return actions.run(
                new ProbeBuilder()
                        .withNewGrpc()
                        .withPort(port)
                        .withService(service)
                        .endGrpc()
                        .withTimeoutSeconds(3)
                        .build(),
                new ProbeTarget(ProbesFixture.pod(container), container, "127.0.0.1"));
    }

    private ProbeOutcome probe(int port, @Nullable String service) throws Exception {
        return begin(port, service).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    private static void answer(HttpServerRequest request, int... message) {
        Buffer framed = Buffer.buffer(new byte[] {0, 0, 0, 0, (byte) message.length});
        for (int octet : message) {
            framed.appendByte((byte) octet);
        }
        request.response()
                .putHeader("content-type", "application/grpc")
                .putTrailer("grpc-status", "0")
                .end(framed);
    }

    @ParameterizedTest
    @CsvSource({
        "0, FAILURE, 'service unhealthy (responded with \"UNKNOWN\")'",
        "1, SUCCESS, service healthy",
        "2, FAILURE, 'service unhealthy (responded with \"NOT_SERVING\")'",
        "3, FAILURE, 'service unhealthy (responded with \"SERVICE_UNKNOWN\")'"
    })
    void servingStatus(int status, ProbeOutcome.Verdict expected, String message) throws Exception {
        int port = serve(request -> answer(request, 0x08, status));

        assertThat(probe(port, null)).isEqualTo(new ProbeOutcome(expected, message));
    }

    @Test
    void servingStatus_leftOut_isUnknown() throws Exception {
        int port = serve(GrpcCheckTest::answer);

        assertThat(probe(port, null)).isEqualTo(ProbeOutcome.failure("service unhealthy (responded with \"UNKNOWN\")"));
    }

    @Test
    void request_isACallOfTheHealthService() throws Exception {
        CompletableFuture<String> seen = new CompletableFuture<>();
        int port = serve(request -> request.bodyHandler(body -> {
            seen.complete(request.version() + " " + request.method() + " " + request.path() + " "
                    + request.getHeader("content-type") + " " + request.getHeader("te") + " "
                    + request.getHeader("user-agent") + " " + request.getHeader("grpc-timeout") + " "
                    + body.getString(7, body.length()) + " " + body.getByte(4) + body.getByte(5) + body.getByte(6));
            answer(request, 0x08, 1);
        }));

        assertThat(probe(port, "liveness").verdict()).isEqualTo(ProbeOutcome.Verdict.SUCCESS);
        assertThat(seen)
                .isCompletedWithValue(
                        HttpVersion.HTTP_2 + " POST /grpc.health.v1.Health/Check application/grpc trailers "
                                + "kube-probe/1.36 3S liveness 10108");
    }

    @Test
    void request_longServiceName_hasAVarint() {
        String name = "s".repeat(300);

        byte[] framed = GrpcCheck.request(name);

        assertThat(framed).startsWith(0, 0, 0, 1, 0x2f, 0x0a, 0xac, 0x02);
        assertThat(new String(framed, 8, framed.length - 8, StandardCharsets.UTF_8))
                .isEqualTo(name);
    }

    @ParameterizedTest
    @CsvSource({
        "12, unknown method, "
                + "'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): unknown method'",
        "5, unknown service, " + "error: health rpc probe failed: rpc error: code = NotFound desc = unknown service",
        "99, odd, error: health rpc probe failed: rpc error: code = Code(99) desc = odd"
    })
    void grpcStatus(String code, String message, String expected) throws Exception {
        int port = serve(request -> request.response()
                .putHeader("grpc-status", code)
                .putHeader("grpc-message", message)
                .end());

        assertThat(probe(port, null)).isEqualTo(ProbeOutcome.failure(expected));
    }

    @Test
    void httpStatus_isAFailure() throws Exception {
        int port = serve(request -> request.response().setStatusCode(404).end());

        assertThat(probe(port, null).message()).endsWith("unexpected HTTP status code received from server: 404");
    }

    @Test
    void timeout_isAFailure() throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        int port = serve(request -> arrived.countDown());
        CompletableFuture<ProbeOutcome> outcome = begin(port, null);
        assertThat(arrived.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();

        time.advance(Duration.ofSeconds(3));

        assertThat(outcome)
                .isCompletedWithValue(ProbeOutcome.failure("timeout: health rpc did not complete within 3s"));
    }

    @Test
    void refused_isAFailure() throws Exception {
        try (Socket reserved = new Socket()) {
            reserved.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            String address = "127.0.0.1:" + reserved.getLocalPort();

            assertThat(probe(reserved.getLocalPort(), null))
                    .isEqualTo(ProbeOutcome.failure("error: failed to connect service at \"" + address + "\": dial tcp "
                            + address + ": connect: connection refused"));
        }
    }

    @Test
    void headers_ofALargeAnswer_areTaken() throws Exception {
        int port = serve(request -> {
            for (int i = 0; i < 100; i++) {
                request.response().putHeader("x-" + i, "a".repeat(1000));
            }
            answer(request, 0x08, 1);
        });

        assertThat(probe(port, null)).isEqualTo(ProbeOutcome.success("service healthy"));
    }

    static Stream<Arguments> hostileAnswers() {
        String settings = frame(4, 0, 0, "");
        // :status 200, from the static table
        String head = frame(1, 4, 1, "\u0088");
        String answer = head + frame(0, 0, 1, "\0\0\0\0\2\b\1");
        String trailers = frame(1, 5, 1, "\0\13grpc-status\0010");
        String data = frame(0, 0, 1, "secret");
        return Stream.of(
                Arguments.of("healthy", settings + answer + trailers, "service healthy"),
                Arguments.of(
                        "bytes after the answer", settings + answer + trailers + data.repeat(1000), "service healthy"),
                Arguments.of("not HTTP/2", "HTTP/1.1 400 secret\r\n\r\n", "HTTP/2 PROTOCOL_ERROR"),
                Arguments.of("no answer", settings, "EOF"),
                Arguments.of("half an answer", settings + answer, "EOF"),
                Arguments.of("a body before its head", settings + data, "before its head"),
                Arguments.of("GOAWAY", settings + frame(7, 0, 0, "\0\0\0\0\0\0\0\0secret"), "sent GOAWAY"),
                Arguments.of("RST_STREAM", settings + frame(3, 0, 1, "\0\0\0\7"), "reset the stream: REFUSED_STREAM"),
                Arguments.of("pings", settings + frame(6, 0, 0, "01234567").repeat(1_000_000), "more than it reads"));
    }

    private static String frame(int type, int flags, int stream, String payload) {
        return "" + (char) 0 + (char) (payload.length() >> 8) + (char) (payload.length() & 0xff) + (char) type
                + (char) flags + "\0\0\0" + (char) stream + payload;
    }

    @ParameterizedTest
    @MethodSource("hostileAnswers")
    void hostileServer_failsOnlyItsCheck_andIsNotQuoted(String name, String answer, String expected) throws Exception {
        try (ServerSocket raw = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> served = CompletableFuture.runAsync(
                    () -> {
                        try (Socket socket = raw.accept()) {
                            // the preface and the SETTINGS of the client
                            socket.getInputStream().readNBytes(24 + 9);
                            if (answer.startsWith(frame(4, 0, 0, ""))) {
                                socket.getOutputStream()
                                        .write(answer.substring(0, 9).getBytes(ISO_8859_1));
                                // its request: more than its window update and its acknowledgement
                                socket.getInputStream().readNBytes(60);
                                socket.getOutputStream()
                                        .write(answer.substring(9).getBytes(ISO_8859_1));
                            } else {
                                socket.getOutputStream().write(answer.getBytes(ISO_8859_1));
                            }
                            socket.shutdownOutput();
                            socket.getInputStream().transferTo(OutputStream.nullOutputStream());
                        } catch (IOException e) {
                            // a client that refuses the answer closes the connection
                        }
                    },
                    NewThread.EACH);

            String message = probe(raw.getLocalPort(), null).message();

            assertThat(message).as(name).endsWith(expected).doesNotContain("secret");
            served.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }
}
