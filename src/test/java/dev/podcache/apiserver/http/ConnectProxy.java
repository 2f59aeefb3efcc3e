package dev.podcache.apiserver.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import java.util.concurrent.atomic.AtomicInteger;

/** An HTTP proxy on loopback that knows only CONNECT, and leads every tunnel to one port of this machine. */
final class ConnectProxy implements AutoCloseable {

    private final Vertx vertx = Vertx.vertx(new VertxOptions()
            .setEventLoopPoolSize(1)
            .setWorkerPoolSize(1)
            .setInternalBlockingPoolSize(1)
            .setUseDaemonThread(true));
    private final NetClient client = vertx.createNetClient();
    private final NetServer server = vertx.createNetServer();
    private final int target;

    final AtomicInteger tunnels = new AtomicInteger();

    ConnectProxy(int target) {
        this.target = target;
        server.connectHandler(this::connected);
        server.listen(0, "127.0.0.1").toCompletionStage().toCompletableFuture().join();
    }

    String url() {
        return "http://127.0.0.1:" + server.actualPort();
    }

    private void connected(NetSocket near) {
        near.handler(head -> {
            if (!head.toString(UTF_8).startsWith("CONNECT ")) {
                near.close();
                return;
            }
            tunnels.incrementAndGet();
            near.pause();
            client.connect(target, "127.0.0.1").onSuccess(far -> {
                near.handler(far::write).closeHandler(closed -> far.close());
                far.handler(near::write).closeHandler(closed -> near.close());
                near.write(Buffer.buffer("HTTP/1.1 200 Connection established\r\n\r\n"));
                near.resume();
            });
        });
    }

    @Override
    public void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }
}
