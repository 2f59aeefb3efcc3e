package dev.podcache.kubelet.server;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.podcache.apiserver.AccessReviews.ResourceAccess;
import dev.podcache.kubelet.runtime.PodPortForward.PortConnection;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code /portForward} over HTTPS, with a WebSocket client of the JDK. */
@ExtendWith(NoLeaks.class)
class KubeletServerPortForwardTest {

    private static final String FORWARD = "/portForward/shop/web?port=8080";

    @TempDir
    Path folder;

    private ServerFixture fixture;
    private final ChannelMessages messages = new ChannelMessages();
    private final FakePort port = new FakePort();

    @BeforeEach
    void start() throws IOException {
        fixture = new ServerFixture(folder);
        fixture.runtime.port = number -> port;
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    /** Receives the numbers of a port, which are no text. */
    private void takeNumbers(int channel) throws InterruptedException {
        assertThat(messages.take()).startsWith(channel + ":").hasSize(4);
        assertThat(messages.take()).startsWith(channel + 1 + ":").hasSize(4);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "v4.channel.k8s.io"})
    void portForward_connectsThePort_andEndsWithIt(String subprotocol) throws Exception {
        WebSocket socket = fixture.connect(FORWARD, subprotocol, messages);
        assertThat(socket.getSubprotocol()).isEqualTo(subprotocol);

        takeNumbers(0);
        ChannelMessages.send(socket, 0, "hello");
        assertThat(messages.take()).isEqualTo("0:hello");
        ChannelMessages.send(socket, 1, "the error channel is not the client's");
        ChannelMessages.send(socket, 2, "no such channel");
        ChannelMessages.send(socket, 0, "");
        ChannelMessages.send(socket, 0, "bye");
        assertThat(messages.take()).isEqualTo("0:bye");
        port.output().close();

        assertThat(messages.take()).isEqualTo("closed");
        assertThat(port.closed).isDone();
        assertThat(fixture.runtime.forwarded).containsExactly("shop/web(uid-web) 8080");
        assertThat(fixture.reviews.accesses)
                .containsExactly(new ResourceAccess("create", "nodes", "proxy", "worker-1"));
    }

    @Test
    void portForward_inBase64_messagesAreText() throws Exception {
        WebSocket socket = fixture.connect(FORWARD, ChannelFrames.V4_BASE64, messages);
        assertThat(socket.getSubprotocol()).isEqualTo(ChannelFrames.V4_BASE64);

        assertThat(messages.take()).isEqualTo("0kB8=");
        assertThat(messages.take()).isEqualTo("1kB8=");
        socket.sendText("0aGVsbG8=", true).join();
        assertThat(messages.take()).isEqualTo("0aGVsbG8=");
        socket.sendText("0 not Base64", true).join();

        assertThat(messages.take()).isEqualTo("closed");
        port.closed.get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void portForward_severalPorts_eachHasItsChannels_andOnesFailureLeavesTheOthers() throws Exception {
        fixture.runtime.port = number -> {
            if (number == 81) {
                throw new IOException("nothing listens on port 81");
            }
            return port;
        };
        WebSocket socket = fixture.connect("/portForward/shop/web/uid-web?port=81,8080", ExecEndpoint.V4, messages);

        assertThat(messages.take()).isEqualTo("0:Q\0");
        assertThat(messages.take()).isEqualTo("1:Q\0");
        takeNumbers(2);
        assertThat(messages.take())
                .isEqualTo("1:error forwarding port 81 to pod shop/web(uid-web): nothing listens on port 81");
        ChannelMessages.send(socket, 0, "to the one that failed");
        ChannelMessages.send(socket, 2, "hello");
        assertThat(messages.take()).isEqualTo("2:hello");
        port.output().close();
        assertThat(messages.take()).isEqualTo("closed");
    }

    @Test
    void portForward_writeFails_clientSeesTheErrorAndTheEnd() throws Exception {
        FailingPort failing = new FailingPort();
        fixture.runtime.port = number -> failing;
        WebSocket socket = fixture.connect(FORWARD, ExecEndpoint.V4, messages);
        takeNumbers(0);

        ChannelMessages.send(socket, 0, "hello");

        assertThat(messages.take())
                .isEqualTo("1:error forwarding port 8080 to pod shop/web(uid-web): connection reset");
        assertThat(messages.take()).isEqualTo("closed");
    }

    @Test
    void portForward_clientLeaves_connectionIsClosed() throws Exception {
        WebSocket socket = fixture.connect(FORWARD, ExecEndpoint.V4, messages);
        takeNumbers(0);
        ChannelMessages.send(socket, 0, "hello");
        assertThat(messages.take()).isEqualTo("0:hello");

        socket.abort();

        port.closed.get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void portForward_clientLeavesWhileThePortIsConnected_connectionIsInterrupted() throws Exception {
        CompletableFuture<Object> connecting = new CompletableFuture<>();
        CompletableFuture<Object> interrupted = new CompletableFuture<>();
        fixture.runtime.port = number -> {
            connecting.complete(number);
            try {
                new CompletableFuture<Object>().get();
            } catch (Exception e) {
                interrupted.complete(e);
            }
            return port;
        };
        WebSocket socket = fixture.connect(FORWARD, ExecEndpoint.V4, messages);
        connecting.get(Patience.SECONDS, TimeUnit.SECONDS);

        socket.abort();

        assertThat(interrupted.get(Patience.SECONDS, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
        port.closed.get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void portForward_serverCloses_connectionIsClosed() throws Exception {
        WebSocket socket = fixture.connect(FORWARD, ExecEndpoint.V4, messages);
        takeNumbers(0);
        // the numbers come before the port is opened
        ChannelMessages.send(socket, 0, "hello");
        assertThat(messages.take()).isEqualTo("0:hello");

        fixture.server.close();

        port.closed.get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void portForward_clientReadsNothing_portIsNotReadFurther() throws Exception {
        AtomicLong read = new AtomicLong();
        FailingPort endless = new FailingPort() {
            @Override
            int read(int length) {
                read.addAndGet(length);
                return length;
            }
        };
        fixture.runtime.port = number -> endless;
        // never asks for a second message
        WebSocket socket = fixture.connect(FORWARD, ExecEndpoint.V4, new WebSocket.Listener() {
            @Override
            public void onOpen(WebSocket opened) {}
        });

        awaitStandstill(read);

        assertThat(read.get()).isLessThan(64 << 20);
        socket.abort();
        endless.closed.get(Patience.SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void portForward_portReadsNothing_clientIsNotReadFurther_andItsEndIsNoticed() throws Exception {
        FailingPort full = new FailingPort() {
            @Override
            void write() {
                closed.join();
            }
        };
        fixture.runtime.port = number -> full;
        WebSocket socket = fixture.connect(FORWARD, ExecEndpoint.V4, messages);
        AtomicLong sent = new AtomicLong();
        sendAgain(socket, sent);

        awaitStandstill(sent);

        assertThat(sent.get()).isLessThan(128 << 20);
        socket.abort();
        await().until(() -> {
            fixture.clock.advance(WebSocketSession.PING_PERIOD);
            return full.closed.isDone();
        });
    }

    private static void sendAgain(WebSocket socket, AtomicLong sent) {
        byte[] part = new byte[64 << 10];
        socket.sendBinary(ByteBuffer.wrap(part), true).thenAccept(done -> {
            sent.addAndGet(part.length);
            sendAgain(socket, sent);
        });
    }

    private static void awaitStandstill(AtomicLong count) {
        AtomicLong last = new AtomicLong(-1);
        await().pollInterval(Duration.ofMillis(300))
                .until(() -> count.get() > 0 && last.getAndSet(count.get()) == count.get());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    /portForward/shop/web                | v4.channel.k8s.io              | 400 the parameter port is missing
                    /portForward/shop/web?port=0         | v4.channel.k8s.io              | 400 a port must be a number from 1 to 65535, but is "0"
                    /portForward/shop/web?ports=80,65536 | v4.channel.k8s.io              | 400 a port must be a number from 1 to 65535, but is "65536"
                    /portForward/shop/web?port=          | v4.channel.k8s.io              | 400 a port must be a number from 1 to 65535, but is ""
                    /portForward/shop/none?port=80       | v4.channel.k8s.io              | 404 pod "none" does not exist
                    /portForward/shop/web/other?port=80  | v4.channel.k8s.io              | 404 pod "web" does not exist
                    /portForward/shop?port=80            | v4.channel.k8s.io              | 404 ports are at /portForward/<namespace>/<pod>
                    /portForward/shop/web?port=80        | v5.channel.k8s.io              | 400 the WebSocket request must offer the subprotocol v4.channel.k8s.io or v4.base64.channel.k8s.io
                    """)
    void portForward_wrongRequest_isRefused(String path, String subprotocols, String expected) {
        assertThat(fixture.refusal(path, subprotocols)).isEqualTo(expected);
        assertThat(fixture.runtime.forwarded).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"spdy/3.1, '', spdy/3.1", "websocket, SPDY/3.1+portforward.k8s.io, SPDY/3.1+portforward.k8s.io"})
    void portForward_bySpdy_is501WithASentence(String protocol, String subprotocol, String named) {
        KubeletRequest request = Requested.upgrade("/portForward/shop/web?port=80", protocol, subprotocol);

        RefusedException refused = catchThrowableOfType(
                RefusedException.class,
                () -> PortForwardEndpoint.ports(request, fixture.pods, Optional.of(fixture.runtime)));

        assertThat(refused.code()).isEqualTo(501);
        assertThat(refused.reason())
                .isEqualTo("this node forwards ports over WebSocket only, but the API server or client asked for \""
                        + named + "\"; use a client that sends WebSocket requests");
    }

    @Test
    void portForward_withoutWebSocket_isRefusedWithASentence() throws Exception {
        HttpResponse<String> response = fixture.get(FORWARD);

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).isEqualTo("Upgrade request required");
    }

    @Test
    void portForward_notAllowed_isRefusedBeforeTheHandshake() {
        fixture.reviews.allowed = (user, access) -> access.verb().equals("get");

        assertThat(fixture.refusal(FORWARD, ExecEndpoint.V4)).startsWith("403 Forbidden");
        assertThat(fixture.runtime.forwarded).isEmpty();
    }

    @Test
    void portForward_tooManyPorts_areRefused() throws IOException {
        String most = FORWARD + ",80".repeat(PortForwardEndpoint.MOST_PORTS - 1);
        Endpoints endpoints = new Endpoints(
                new Endpoints.Sources(
                        "worker-1",
                        ComponentInfo.of("podcache", "1.0"),
                        () -> fixture.pods,
                        Optional::empty,
                        fixture.runtime,
                        List::of,
                        Optional.empty()),
                fixture.clock);
        for (int i = 0; i < Endpoints.MOST_STREAMS / PortForwardEndpoint.MOST_PORTS; i++) {
            endpoints.answer(Requested.upgrade(most, "websocket"));
        }

        assertThat(catchThrowableOfType(
                                RefusedException.class, () -> endpoints.answer(Requested.upgrade(most, "websocket")))
                        .code())
                .isEqualTo(503);
        assertThat(catchThrowableOfType(
                                RefusedException.class,
                                () -> endpoints.answer(Requested.upgrade(most + ",80", "websocket")))
                        .reason())
                .isEqualTo("a request can forward at most 16 ports");
    }

    /** A port whose reads wait for its end, and whose writes fail. */
    private static class FailingPort implements PortConnection {

        final CompletableFuture<Object> closed = new CompletableFuture<>();

        int read(int length) throws IOException {
            closed.join();
            throw new IOException("closed before " + length + " bytes");
        }

        void write() throws IOException {
            throw new IOException("connection reset");
        }

        @Override
        public InputStream input() {
            return new InputStream() {
                @Override
                public int read() {
                    throw new AssertionError("single bytes are slow");
                }

                @Override
                public int read(byte[] buffer, int offset, int length) throws IOException {
                    return FailingPort.this.read(length);
                }
            };
        }

        @Override
        public OutputStream output() {
            return new OutputStream() {
                @Override
                public void write(int b) {
                    throw new AssertionError("single bytes are slow");
                }

                @Override
                public void write(byte[] part, int offset, int length) throws IOException {
                    FailingPort.this.write();
                }
            };
        }

        @Override
        public void close() {
            closed.complete(this);
        }
    }
}
