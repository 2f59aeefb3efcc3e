package dev.podcache.kubelet.server;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The channel of a listener without TLS. */
@ExtendWith(NoLeaks.class)
class VertxWebSocketTest {

    private final ManualTimekeeper clock = new ManualTimekeeper();
    private final CompletableFuture<MessageChannel> opened = new CompletableFuture<>();
    private final HttpListener listener = new HttpListener(
            request -> CompletableFuture.completedFuture(new KubeletResponse.Upgrade(new Idle(), () -> {})),
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

    private RawClient connect() throws Exception {
        listener.listen("127.0.0.1", 0);
        RawClient client = RawClient.plain(listener.port());
        String handshake = String.join(
                "\r\n",
                "GET /x HTTP/1.1",
                "Host: x",
                "Connection: Upgrade",
                "Upgrade: websocket",
                "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                "",
                "");
        assertThat(client.send(handshake).head()).startsWith("HTTP/1.1 101 ");
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
}
