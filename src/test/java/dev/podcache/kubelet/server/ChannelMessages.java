package dev.podcache.kubelet.server;

import dev.podcache.testing.Patience;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Receives binary messages as {@code channel:text}, text messages as they are, and {@code closed}. */
final class ChannelMessages implements WebSocket.Listener {

    private final BlockingQueue<String> received = new LinkedBlockingQueue<>();

    @Override
    public CompletionStage<?> onBinary(WebSocket socket, ByteBuffer data, boolean last) {
        int channel = data.get();
        received.add(channel + ":" + StandardCharsets.UTF_8.decode(data));
        socket.request(1);
        return CompletableFuture.completedFuture(socket);
    }

    @Override
    public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
        received.add(data.toString());
        socket.request(1);
        return CompletableFuture.completedFuture(socket);
    }

    @Override
    public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
        received.add("closed");
        return CompletableFuture.completedFuture(socket);
    }

    String take() throws InterruptedException {
        return String.valueOf(received.poll(Patience.SECONDS, TimeUnit.SECONDS));
    }

    /** Sends a text on a channel. */
    static void send(WebSocket socket, int channel, String text) {
        byte[] content = text.getBytes(StandardCharsets.UTF_8);
        socket.sendBinary(ByteBuffer.wrap(ChannelFrames.message(channel, content, content.length)), true)
                .join();
    }
}
