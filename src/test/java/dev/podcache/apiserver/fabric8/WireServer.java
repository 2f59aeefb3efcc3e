package dev.podcache.apiserver.fabric8;

import com.google.common.base.Splitter;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/**
 * An HTTPS server on 127.0.0.1 that answers like an API server in which every object exists. It asks for client
 * certificates, keeps a record of all requests, and refuses with 401 those that a test chooses.
 */
final class WireServer implements AutoCloseable {

    private static final Splitter PATH = Splitter.on('/');

    private static final Map<String, String> KINDS = Map.of(
            "configmaps", "ConfigMap",
            "services", "Service",
            "pods", "Pod",
            "nodes", "Node",
            "leases", "Lease");

    /** The requests, in order of arrival. */
    final List<Arrived> arrived = new CopyOnWriteArrayList<>();

    private final Vertx vertx = Vertx.vertx(new VertxOptions()
            .setEventLoopPoolSize(1)
            .setWorkerPoolSize(1)
            .setInternalBlockingPoolSize(1)
            .setUseDaemonThread(true));
    private final HttpServer server;
    private volatile Predicate<Arrived> unknown = request -> false;
    private volatile WireScript script = (request, exchange) -> false;

    /**
     * A request.
     *
     * @param user the common name of the client certificate, or "" without one
     * @param token the bearer token, or "" without one
     * @param serverName the host name that the client asked for by SNI, or "" without one
     */
    record Arrived(
            String method,
            String uri,
            String user,
            String token,
            String serverName,
            HttpVersion version,
            HttpConnection connection) {}

    /** Answers some requests in place of the server. */
    interface WireScript {
        /** Whether {@code request} is answered here, now or later. */
        boolean answer(Arrived request, HttpServerRequest exchange);
    }

    private WireServer(HttpVersion version, int streams, String certificate) {
        server = vertx.createHttpServer(new HttpServerOptions()
                        .setSsl(true)
                        .setSni(true)
                        .setKeyCertOptions(new PemKeyCertOptions()
                                .setCertValue(Buffer.buffer(certificate))
                                .setKeyValue(Buffer.buffer(WireCertificates.keyPem())))
                        .setClientAuth(ClientAuth.REQUEST)
                        .setTrustOptions(
                                new PemTrustOptions().addCertValue(Buffer.buffer(WireCertificates.authorityPem())))
                        .setUseAlpn(true)
                        .setAlpnVersions(
                                version == HttpVersion.HTTP_2
                                        ? List.of(HttpVersion.HTTP_2, HttpVersion.HTTP_1_1)
                                        : List.of(HttpVersion.HTTP_1_1))
                        .setCompressionSupported(true)
                        .setInitialSettings(new Http2Settings().setMaxConcurrentStreams(streams)))
                .requestHandler(this::arrived);
        server.listen(0, "127.0.0.1").toCompletionStage().toCompletableFuture().join();
    }

    /**
     * A server for 127.0.0.1.
     *
     * @param version the newest version of HTTP that it speaks
     */
    static WireServer speaking(HttpVersion version) {
        return new WireServer(version, 100, WireCertificates.serverPem());
    }

    /** A server that speaks HTTP/2 and allows that many streams on a connection. */
    static WireServer allowing(int streams) {
        return new WireServer(HttpVersion.HTTP_2, streams, WireCertificates.serverPem());
    }

    /** A server that speaks HTTP/2 and whose certificate is for {@code name} only. */
    static WireServer named(String name) {
        return new WireServer(HttpVersion.HTTP_2, 100, WireCertificates.serverPem(name));
    }

    int port() {
        return server.actualPort();
    }

    String url() {
        return "https://127.0.0.1:" + port();
    }

    /** Answers such requests with 401 from now on. */
    void refuse(Predicate<Arrived> which) {
        unknown = which;
    }

    /** Has such requests answered by {@code script} from now on. */
    void handle(WireScript script) {
        this.script = script;
    }

    /** The requests whose URI contains {@code part}. */
    List<Arrived> arrived(String part) {
        return arrived.stream().filter(request -> request.uri().contains(part)).toList();
    }

    private void arrived(HttpServerRequest exchange) {
        Arrived request = new Arrived(
                exchange.method().name(),
                exchange.uri(),
                user(exchange.sslSession()),
                token(exchange.getHeader("Authorization")),
                Objects.requireNonNullElse(exchange.connection().indicatedServerName(), ""),
                exchange.version(),
                exchange.connection());
        arrived.add(request);
        if (unknown.test(request)) {
            fail(exchange, 401, "Unauthorized");
        } else if (!script.answer(request, exchange)) {
            answer(exchange);
        }
    }

    private static void answer(HttpServerRequest exchange) {
        List<String> path = PATH.splitToList(exchange.path());
        String last = path.get(path.size() - 1);
        if ("true".equals(exchange.getParam("watch"))) {
            watch(exchange.response());
        } else if (KINDS.containsKey(last) && exchange.method().name().equals("GET")) {
            exchange.response().end(listOf(last, "", ""));
        } else if (exchange.method().name().equals("PUT")) {
            exchange.body().onSuccess(exchange.response()::end);
        } else {
            exchange.response().end(object(exchange.path()));
        }
    }

    private static void watch(HttpServerResponse response) {
        response.setChunked(true);
        response.write("{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\","
                + "\"metadata\":{\"resourceVersion\":\"7\"}}}\n");
    }

    /**
     * A list at resourceVersion 7.
     *
     * @param plural of its kind
     * @param next where the next page begins, or ""
     * @param items as JSON, with commas between them
     */
    static String listOf(String plural, String next, String items) {
        return "{\"kind\":\"%sList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"7\"%s},\"items\":[%s]}"
                .formatted(KINDS.get(plural), next.isEmpty() ? "" : ",\"continue\":\"" + next + "\"", items);
    }

    /** An object at resourceVersion 7. */
    static String object(String path) {
        List<String> parts = PATH.splitToList(path.replace("/status", ""));
        String kind = String.valueOf(KINDS.get(parts.get(parts.size() - 2)));
        String namespace = path.contains("/namespaces/") ? ",\"namespace\":\"shop\"" : "";
        return "{\"kind\":\"%s\",\"metadata\":{\"name\":\"%s\",\"resourceVersion\":\"7\",\"uid\":\"u\"%s}}"
                .formatted(kind, parts.get(parts.size() - 1), namespace);
    }

    /** Answers with a Status. */
    static void fail(HttpServerRequest exchange, int code, String reason) {
        exchange.response()
                .setStatusCode(code)
                .end("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"reason\":\"%s\",\"code\":%d}"
                        .formatted(reason, code));
    }

    private static String user(SSLSession session) {
        try {
            Certificate[] certificates = session.getPeerCertificates();
            return ((X509Certificate) certificates[0])
                    .getSubjectX500Principal()
                    .getName()
                    .substring("CN=".length());
        } catch (SSLPeerUnverifiedException none) {
            return "";
        }
    }

    private static String token(@Nullable String authorization) {
        return authorization == null ? "" : authorization.substring("Bearer ".length());
    }

    @Override
    public void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }
}
