package dev.podcache.testing;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.net.PemKeyCertOptions;
import java.util.Locale;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * A proxy on 127.0.0.1 that ends TLS with a certificate of its own and forwards single requests to one local HTTPS port.
 * Client certificates do not pass it, tokens do. For requests with small answers; not for watches. Thread-safe.
 */
public final class TlsProxy implements AutoCloseable {

    private static final Set<String> NOT_FORWARDED =
            Set.of("host", "connection", "content-length", "transfer-encoding", "date");

    private final Vertx vertx = Vertx.vertx(new VertxOptions()
            .setEventLoopPoolSize(1)
            .setWorkerPoolSize(1)
            .setInternalBlockingPoolSize(1)
            .setUseDaemonThread(true));
    private final HttpClient client;
    private final HttpServer server;
    private final UnaryOperator<String> date;

    private TlsProxy(int target, HttpServerOptions options, UnaryOperator<String> date) {
        this.date = date;
        client = EitherVertx.client(
                vertx,
                new HttpClientOptions()
                        .setSsl(true)
                        .setTrustAll(true)
                        .setVerifyHost(false)
                        .setDefaultHost("127.0.0.1")
                        .setDefaultPort(target));
        server = vertx.createHttpServer(options).requestHandler(this::forward);
        server.listen(0, "127.0.0.1").toCompletionStage().toCompletableFuture().join();
    }

    /**
     * Starts a proxy.
     *
     * @param target the HTTPS port to forward to
     * @param certificate of the proxy, as PEM
     * @param key of the proxy, as PEM
     * @param http2 whether HTTP/2 is spoken with clients
     * @param date changes the header {@code Date} of answers
     */
    public static TlsProxy start(
            int target, String certificate, String key, boolean http2, UnaryOperator<String> date) {
        HttpServerOptions options = new HttpServerOptions()
                .setSsl(true)
                .setUseAlpn(http2)
                .setKeyCertOptions(new PemKeyCertOptions()
                        .setCertValue(Buffer.buffer(certificate))
                        .setKeyValue(Buffer.buffer(key)));
        return new TlsProxy(target, options, date);
    }

    /** Returns the URL of the proxy. */
    public String url() {
        return "https://127.0.0.1:" + server.actualPort();
    }

    private void forward(HttpServerRequest near) {
        near.body()
                .compose(body -> client.request(near.method(), near.uri()).compose(far -> {
                    near.headers().forEach((name, value) -> copy(far, name, value));
                    return far.send(body);
                }))
                .compose(answer -> answer.body().compose(body -> answered(near.response(), answer, body)))
                .onFailure(failed -> near.response().setStatusCode(502).end());
    }

    private static void copy(HttpClientRequest far, String name, String value) {
        if (!NOT_FORWARDED.contains(name.toLowerCase(Locale.ROOT)) && !name.startsWith(":")) {
            far.putHeader(name, value);
        }
    }

    private Future<Void> answered(HttpServerResponse near, HttpClientResponse far, Buffer body) {
        near.setStatusCode(far.statusCode());
        near.putHeader("Content-Type", String.valueOf(far.getHeader("Content-Type")));
        near.putHeader("Date", date.apply(far.getHeader("Date")));
        return near.end(body);
    }

    @Override
    public void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }
}
