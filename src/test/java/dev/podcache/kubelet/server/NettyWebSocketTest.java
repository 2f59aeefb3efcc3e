package dev.podcache.kubelet.server;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The channel of a listener without TLS. */
@ExtendWith(NoLeaks.class)
class NettyWebSocketTest {

    private static final long FLOOD = 64 << 20;

    private final ManualTimekeeper clock = new ManualTimekeeper();
    private final AtomicInteger released = new AtomicInteger();
    private final CompletableFuture<MessageChannel> opened = new CompletableFuture<>();
    private final HttpListener listener = new HttpListener(
            request -> CompletableFuture.completedFuture(
                    new KubeletResponse.Upgrade(new Idle(), released::incrementAndGet)),
            new HttpListener.Transfers() {
                @Override
                public void send(KubeletResponse.Streamed source, ResponseStream client) {
                    client.abort();
                }

                @Override
                public void run(KubeletResponse.Upgrade upgrade, MessageChannel client) {
                    opened.complete(client);
                }
            },
            clock);

    private record Idle() implements WebSocketCall {
        @Override
        public void run(WebSocketSession session) {}

        @Override
        public String subprotocol() {
            return "";
        }
    }

    @AfterEach
    void close() {
        listener.close();
        clock.close();
    }

    private static final String HANDSHAKE = String.join(
            "\r\n",
            "GET /x HTTP/1.1",
            "Host: x",
            "Connection: keep-alive, Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "",
            "");

    private RawClient connect() throws Exception {
        listener.listen("127.0.0.1", 0);
        RawClient client = RawClient.plain(listener.port());
        assertThat(client.send(HANDSHAKE).head())
                .startsWith("HTTP/1.1 101 ")
                // the one of the RFC for this key
                .containsIgnoringCase("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n")
                .doesNotContainIgnoringCase("Sec-WebSocket-Extensions");
        return client;
    }

    @Test
    void send_clientLeavesBeforeItIsWritten_completesExceptionally() throws Exception {
        List<CompletableFuture<?>> sent = new ArrayList<>();
        try (RawClient client = connect()) {
            MessageChannel channel = opened.get(Patience.SECONDS, TimeUnit.SECONDS);
            // more than the buffers of the sockets take
            for (int i = 0; i < 40; i++) {
                sent.add(channel.send(new byte[1_000_000]));
            }
            await().until(() -> sent.get(0).isDone());
            assertThat(sent.get(39)).isNotDone();
            client.socket().setSoLinger(true, 0);
        }

        await().until(() -> sent.stream().allMatch(CompletableFuture::isDone));
        assertThat(sent.get(0)).isCompleted();
        assertThat(sent.get(39)).isCompletedExceptionally();
        MessageChannel channel = opened.join();
        CompletableFuture<?> late = channel.send(new byte[1]);
        await().until(late::isDone);
        assertThat(late).isCompletedExceptionally();
    }

    @Test
    void receive_messagesThatCameBefore_areDeliveredOneAtATime() throws Exception {
        try (RawClient client = connect()) {
            MessageChannel channel = opened.get(Patience.SECONDS, TimeUnit.SECONDS);
            // masked with zeros
            client.send("\u0082\u0081\0\0\0\0a" + "\u0082\u0081\0\0\0\0b" + "\u0082\u0081\0\0\0\0c");
            await().until(channel::isHeldUp);
            List<String> received = new CopyOnWriteArrayList<>();
            CompletableFuture<Object> first = new CompletableFuture<>();
            channel.receive(message -> {
                received.add(new String(message, StandardCharsets.UTF_8));
                return received.size() == 1 ? first : CompletableFuture.completedFuture(message);
            });
            await().until(() -> received.size() == 1);
            assertThat(channel.isHeldUp()).isTrue();

            first.complete(first);

            await().until(() -> received.size() == 3);
            assertThat(received).containsExactly("a", "b", "c");
            await().until(() -> !channel.isHeldUp());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
                "Sec-WebSocket-Version: 13\r\n",
                "Connection: keep-alive, Upgrade\r\n"
            })
    void handshake_withoutAHeader_isRefused(String header) throws Exception {
        listener.listen("127.0.0.1", 0);
        try (RawClient client = RawClient.plain(listener.port())) {
            assertThat(client.send(HANDSHAKE.replace(header, "")).answer()).startsWith("HTTP/1.1 400 ");

            // the connection can still be used
            assertThat(client.send(HANDSHAKE).head()).startsWith("HTTP/1.1 101 ");
        }
        assertThat(released).hasValue(1);
    }

    @Test
    void message_inPartsWithAPingBetween_arrivesWhole_andThePingIsAnswered() throws Exception {
        try (RawClient client = connect()) {
            List<String> received = new CopyOnWriteArrayList<>();
            opened.get(Patience.SECONDS, TimeUnit.SECONDS).receive(message -> {
                received.add(new String(message, StandardCharsets.UTF_8));
                return CompletableFuture.completedFuture(message);
            });

            client.send("\u0002\u0081\0\0\0\0a" + "\u0089\u0081\0\0\0\0p" + "\u0080\u0081\0\0\0\0b");

            assertThat(client.next(3)).isEqualTo("\u008a\u0001p");
            await().until(() -> received.equals(List.of("ab")));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                // two messages that nobody takes, and the begin of a third, which goes on for ever
                "\u0082\u0081\0\0\0\0a" + "\u0082\u0081\0\0\0\0b" + "\u0002\u0081\0\0\0\0c",
                "\u0082\u0081\0\0\0\0a" + "\u0082\u0081\0\0\0\0b" + "\u0002\u00fe\u00ff\u00ff\0\0\0\0c"
            })
    void nobodyTakesMessages_nothingIsReadOn_alsoWithinAMessage(String messages) throws Exception {
        try (RawClient client = connect()) {
            MessageChannel channel = opened.get(Patience.SECONDS, TimeUnit.SECONDS);
            client.send(messages);
            await().until(channel::isHeldUp);
            AtomicLong written = new AtomicLong();
            Thread flood = new Thread(() -> {
                try {
                    byte[] more = "\0\u0081\0\0\0\0c".repeat(10_000).getBytes(StandardCharsets.ISO_8859_1);
                    while (written.get() < FLOOD) {
                        client.socket().getOutputStream().write(more);
                        written.addAndGet(more.length);
                    }
                } catch (IOException e) {
                    // the test is over
                }
            });
            flood.start();
            AtomicLong before = new AtomicLong();
            await().during(Duration.ofMillis(300)).until(() -> {
                long now = written.get();
                return before.getAndSet(now) == now && now > 0;
            });

            // what the buffers of the sockets take
            assertThat(written.get()).isLessThan(FLOOD);
            client.socket().setSoLinger(true, 0);
            client.socket().close();
            flood.join();
        }
    }

    @Test
    void ping_isSent() throws Exception {
        try (RawClient client = connect()) {
            opened.get(Patience.SECONDS, TimeUnit.SECONDS).ping();

            assertThat(client.next(2)).isEqualTo("\u0089\0");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void close_byEitherSide_comesAfterWhatWasSent_andEndsTheConnection(boolean byClient) throws Exception {
        try (RawClient client = connect()) {
            MessageChannel channel = opened.get(Patience.SECONDS, TimeUnit.SECONDS);
            channel.send(new byte[] {'x'});
            if (byClient) {
                assertThat(client.next(3)).isEqualTo("\u0082\u0001x");
                client.send("\u0088\u0082\0\0\0\0\u0003\u00e8");
            } else {
                channel.close();
                assertThat(client.next(3)).isEqualTo("\u0082\u0001x");
            }

            assertThat(client.rest()).isEqualTo("\u0088\u0002\u0003\u00e8");
            client.socket().close();
            await().until(() -> channel.closed().isDone());
            CompletableFuture<?> late = channel.send(new byte[1]);
            await().until(late::isDone);
            assertThat(late).isCompletedExceptionally();
        }
    }

    @Test
    void close_clientSendsOn_isCutAfterASecond() throws Exception {
        try (RawClient client = connect()) {
            MessageChannel channel = opened.get(Patience.SECONDS, TimeUnit.SECONDS);
            channel.close();
            assertThat(client.rest()).isEqualTo("\u0088\u0002\u0003\u00e8");
            assertThat(channel.closed()).isNotDone();

            await().until(() -> {
                clock.advance(ConnectionGate.LINGER);
                return channel.closed().isDone();
            });
        }
    }

    @Test
    void close_clientTakesNothing_isCutWithoutProgress() throws Exception {
        try (RawClient client = connect()) {
            MessageChannel channel = opened.get(Patience.SECONDS, TimeUnit.SECONDS);
            // more than the buffers of the sockets take
            List<CompletableFuture<?>> sent = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                sent.add(channel.send(new byte[1_000_000]));
            }
            channel.close();

            await().until(() -> {
                clock.advance(ConnectionGate.ANSWER_TIMEOUT);
                return channel.closed().isDone();
            });
            assertThat(sent.get(39)).isCompletedExceptionally();
            assertThat(client.socket().isClosed()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                // not masked
                "\u0082\u0001a",
                // a frame of 2 MiB
                "\u0082\u00ff\0\0\0\0\0 \0\0\0\0\0\0",
                // a reserved kind of frame
                "\u0083\u0081\0\0\0\0a",
                // a reserved bit
                "\u00c2\u0081\0\0\0\0a"
            })
    void frame_againstTheProtocol_endsTheConnection(String frame) throws Exception {
        try (RawClient client = connect()) {
            MessageChannel channel = opened.get(Patience.SECONDS, TimeUnit.SECONDS);
            List<String> received = new CopyOnWriteArrayList<>();
            channel.receive(message -> {
                received.add("message");
                return CompletableFuture.completedFuture(message);
            });

            client.send(frame);

            client.rest();
            await().until(() -> {
                clock.advance(ConnectionGate.LINGER);
                return channel.closed().isDone();
            });
            assertThat(received).isEmpty();
        }
    }

    @Test
    void listenerIsClosed_endsTheChannel_andWhatIsSentFails() throws Exception {
        try (RawClient client = connect()) {
            MessageChannel channel = opened.get(Patience.SECONDS, TimeUnit.SECONDS);

            listener.close();

            await().until(() -> channel.closed().isDone());
            assertThat(channel.send(new byte[1])).isCompletedExceptionally();
            assertThat(client.rest()).isEmpty();
        }
    }
}
