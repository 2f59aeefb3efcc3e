package dev.podcache.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.net.NetSocket;
import io.vertx.core.net.PemKeyCertOptions;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An HTTP proxy on 127.0.0.1 that supports CONNECT only, and connects every tunnel to one local port. Thread-safe. */
public final class ConnectProxy implements AutoCloseable {

    private static final Pattern AUTHORIZATION =
            Pattern.compile("\r\nProxy-Authorization: ([^\r]*)\r\n", Pattern.CASE_INSENSITIVE);

    private final Vertx vertx = Vertx.vertx(new VertxOptions()
            .setEventLoopPoolSize(1)
            .setWorkerPoolSize(1)
            .setInternalBlockingPoolSize(1)
            .setUseDaemonThread(true));
    private final NetClient client = vertx.createNetClient();
    private final NetServer server;
    private final String scheme;
    private final int target;
    private final boolean asksForCredentials;
    private final List<String> tunnels = new CopyOnWriteArrayList<>();

    private ConnectProxy(int target, boolean asksForCredentials, NetServerOptions options) {
        server = vertx.createNetServer(options);
        scheme = options.isSsl() ? "https" : "http";
        this.target = target;
        this.asksForCredentials = asksForCredentials;
        server.connectHandler(this::connected);
        server.listen(0, "127.0.0.1").toCompletionStage().toCompletableFuture().join();
    }

    /** Starts a proxy to {@code port}. */
    public static ConnectProxy to(int port) {
        return new ConnectProxy(port, false, new NetServerOptions());
    }

    /** Starts a proxy to {@code port} that answers 407 to a request without credentials. */
    public static ConnectProxy askingForCredentialsTo(int port) {
        return new ConnectProxy(port, true, new NetServerOptions());
    }

    /**
     * Starts a proxy to {@code port} that is reached by TLS.
     *
     * @param certificate of the proxy, as PEM
     * @param key of the proxy, as PEM
     */
    public static ConnectProxy byTls(int port, String certificate, String key) {
        return new ConnectProxy(
                port,
                false,
                new NetServerOptions()
                        .setSsl(true)
                        .setKeyCertOptions(new PemKeyCertOptions()
                                .setCertValue(Buffer.buffer(certificate))
                                .setKeyValue(Buffer.buffer(key))));
    }

    /** Returns the URL of the proxy. */
    public String url() {
        return scheme + "://127.0.0.1:" + server.actualPort();
    }

    /** Returns the value of Proxy-Authorization, or "", for every tunnel so far, in order. */
    public List<String> tunnels() {
        return List.copyOf(tunnels);
    }

    private void connected(NetSocket near) {
        near.handler(head -> {
            String request = head.toString(UTF_8);
            Matcher authorization = AUTHORIZATION.matcher(request);
            boolean authorized = authorization.find();
            if (!request.startsWith("CONNECT ")) {
                near.close();
            } else if (asksForCredentials && !authorized) {
                near.write("HTTP/1.1 407 Proxy Authentication Required\r\n");
                near.write("Proxy-Authenticate: Basic realm=\"test\"\r\n");
                near.write("Content-Length: 0\r\n\r\n");
            } else {
                tunnels.add(authorized ? authorization.group(1) : "");
                near.pause();
                client.connect(target, "127.0.0.1").onSuccess(far -> tunnel(near, far));
            }
        });
    }

    private static void tunnel(NetSocket near, NetSocket far) {
        near.handler(far::write).closeHandler(closed -> far.close());
        far.handler(near::write).closeHandler(closed -> near.close());
        near.write("HTTP/1.1 200 Connection established\r\n\r\n");
        near.resume();
    }

    @Override
    public void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }
}
