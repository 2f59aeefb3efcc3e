package dev.podcache.apiserver.fabric8;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An HTTP proxy on 127.0.0.1 that knows only CONNECT, asks for credentials (407) where none are sent, and leads every
 * tunnel to one port of this machine.
 */
final class WireProxy implements AutoCloseable {

    private static final Pattern AUTHORIZATION =
            Pattern.compile("\r\nProxy-Authorization: ([^\r]*)\r\n", Pattern.CASE_INSENSITIVE);

    /** The values of Proxy-Authorization, in order of arrival. */
    final List<String> authorizations = new CopyOnWriteArrayList<>();

    private final Vertx vertx = Vertx.vertx(new VertxOptions()
            .setEventLoopPoolSize(1)
            .setWorkerPoolSize(1)
            .setInternalBlockingPoolSize(1)
            .setUseDaemonThread(true));
    private final NetClient client = vertx.createNetClient();
    private final NetServer server = vertx.createNetServer();
    private final int target;

    WireProxy(int target) {
        this.target = target;
        server.connectHandler(this::connected);
        server.listen(0, "127.0.0.1").toCompletionStage().toCompletableFuture().join();
    }

    String url() {
        return "http://127.0.0.1:" + server.actualPort();
    }

    private void connected(NetSocket near) {
        near.handler(head -> {
            Matcher authorization = AUTHORIZATION.matcher(head.toString(UTF_8));
            if (!authorization.find()) {
                near.write("HTTP/1.1 407 Proxy Authentication Required\r\n");
                near.write("Proxy-Authenticate: Basic realm=\"test\"\r\n");
                near.write("Content-Length: 0\r\n\r\n");
                return;
            }
            authorizations.add(authorization.group(1));
            near.pause();
            client.connect(target, "127.0.0.1").onSuccess(far -> {
                near.handler(far::write).closeHandler(closed -> far.close());
                far.handler(near::write).closeHandler(closed -> near.close());
                near.write("HTTP/1.1 200 Connection established\r\n\r\n");
                near.resume();
            });
        });
    }

    @Override
    public void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }
}
