package dev.podcache.apiserver.fabric8;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * An HTTP/1.1 server that answers each request on loopback with the bytes that a test wrote down, right or wrong. Knows
 * of HTTP only where a request's head ends.
 */
final class ScriptedServer implements AutoCloseable {

    /** The heads of the requests, in order of arrival. */
    final List<String> requests = new CopyOnWriteArrayList<>();

    final AtomicInteger openConnections = new AtomicInteger();

    final Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1).setUseDaemonThread(true));
    private final NetServer server = vertx.createNetServer();
    private volatile Consumer<NetSocket> script = socket -> {};

    ScriptedServer() {
        server.connectHandler(this::connected);
        server.listen(0, "127.0.0.1").toCompletionStage().toCompletableFuture().join();
    }

    String url() {
        return "http://127.0.0.1:" + server.actualPort();
    }

    /** Has this done for each request. */
    void onRequest(Consumer<NetSocket> what) {
        script = what;
    }

    /** Has each request answered like this. */
    void answer(String statusAndHeaders, String body) {
        onRequest(socket -> {
            Buffer text = Buffer.buffer(body);
            socket.write("HTTP/1.1 " + statusAndHeaders + "\r\nContent-Length: " + text.length() + "\r\n\r\n");
            socket.write(text);
        });
    }

    /**
     * Has each request answered with 200 and these bytes in chunks of {@code size}, then with the end of the answer.
     */
    void stream(String body, int size) {
        onRequest(socket -> {
            socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
            byte[] bytes = body.getBytes(UTF_8);
            for (int at = 0; at < bytes.length; at += size) {
                int end = Math.min(bytes.length, at + size);
                chunk(socket, Buffer.buffer().appendBytes(bytes, at, end - at));
            }
            socket.write("0\r\n\r\n");
        });
    }

    static void chunk(NetSocket socket, Buffer bytes) {
        socket.write(Integer.toHexString(bytes.length()) + "\r\n");
        socket.write(bytes);
        socket.write("\r\n");
    }

    private void connected(NetSocket socket) {
        openConnections.incrementAndGet();
        socket.closeHandler(closed -> openConnections.decrementAndGet());
        StringBuilder head = new StringBuilder();
        socket.handler(bytes -> {
            head.append(bytes.toString(UTF_8));
            if (head.indexOf("PRI * HTTP/2.0") == 0) {
                // the client tries HTTP/2 with prior knowledge
                socket.close();
            } else if (head.indexOf("\r\n\r\n") >= 0) {
                requests.add(head.toString());
                head.setLength(0);
                script.accept(socket);
            }
        });
    }

    @Override
    public void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }
}
