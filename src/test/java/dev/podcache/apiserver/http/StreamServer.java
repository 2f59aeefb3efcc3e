package dev.podcache.apiserver.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.podcache.testing.EitherVertx;
import dev.podcache.testing.TestCertificates;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.PemKeyCertOptions;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * An HTTPS server on loopback for many streams: paths that begin with {@code /watch} are watches that stay open, all
 * others are answered with their own path, {@code /status/...} with that code, {@code /stranger} with 401 and the wish
 * for no more streams on the connection, {@code /echo} with all that was asked, {@code /endless} with an answer that
 * never ends, {@code /half} with a part of one.
 */
final class StreamServer implements AutoCloseable {

    private final Vertx vertx = Vertx.vertx(new VertxOptions()
            .setEventLoopPoolSize(1)
            .setWorkerPoolSize(1)
            .setInternalBlockingPoolSize(1)
            .setUseDaemonThread(true));
    private final HttpServer server;
    private final Map<String, HttpServerResponse> watches = new ConcurrentHashMap<>();

    /** The connections that are open, in order of arrival. */
    final List<HttpConnection> connections = new CopyOnWriteArrayList<>();

    /** The connection that each path came over last. */
    final Map<String, HttpConnection> cameOver = new ConcurrentHashMap<>();

    /** The paths of what is no watch, in order of arrival. */
    final List<String> arrived = new CopyOnWriteArrayList<>();

    /** Answers that wait for {@link #release}; null while none has to. Guarded by this. */
    private @Nullable Queue<Runnable> held;

    final AtomicInteger pings = new AtomicInteger();

    /** How many requests were not handled. */
    final AtomicInteger turnedAway = new AtomicInteger();

    private volatile boolean turnsAwayEverybody;

    /** The bytes of a part of an answer. */
    static final int HALF = 700_000;

    private static final int FRAME = 16 << 10;

    private final Set<HttpServerResponse> halves = ConcurrentHashMap.newKeySet();

    /** How many answers without end are being sent. */
    final AtomicInteger floods = new AtomicInteger();

    private final boolean speaksHttp2;

    private StreamServer(List<HttpVersion> versions, int limit) {
        speaksHttp2 = versions.contains(HttpVersion.HTTP_2);
        server = vertx.createHttpServer(new HttpServerOptions()
                        .setSsl(true)
                        .setKeyCertOptions(keys())
                        .setUseAlpn(true)
                        .setAlpnVersions(versions)
                        .setInitialSettings(new Http2Settings().setMaxConcurrentStreams(limit)))
                .connectionHandler(this::connected)
                .requestHandler(this::answer);
        server.listen(0, "127.0.0.1").toCompletionStage().toCompletableFuture().join();
    }

    private static PemKeyCertOptions keys() {
        try {
            TestCertificates authority = new TestCertificates();
            return new PemKeyCertOptions()
                    .setCertValue(Buffer.buffer(authority.serverPem()))
                    .setKeyValue(Buffer.buffer(authority.privateKeyPem()));
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException("this Java runtime cannot make a certificate", e);
        }
    }

    /** One that allows {@code limit} streams a connection. */
    static StreamServer withLimit(int limit) {
        return new StreamServer(List.of(HttpVersion.HTTP_2, HttpVersion.HTTP_1_1), limit);
    }

    /** One that agrees to nothing but HTTP/1.1. */
    static StreamServer withoutHttp2() {
        return new StreamServer(List.of(HttpVersion.HTTP_1_1), 1);
    }

    int port() {
        return server.actualPort();
    }

    int openWatches() {
        return watches.size();
    }

    boolean isWatched(String path) {
        return watches.containsKey(path);
    }

    /** Holds all answers to what is no watch, until {@link #release}. */
    synchronized void hold() {
        held = new ArrayDeque<>();
    }

    /** Sends the answers that were held. Those to come are sent at once. */
    void release() {
        Queue<Runnable> answers;
        synchronized (this) {
            answers = Objects.requireNonNull(held, "none was held");
            held = null;
        }
        answers.forEach(Runnable::run);
    }

    /** Holds an answer, if answers are held. */
    private synchronized boolean holds(Runnable answer) {
        return held != null && held.add(answer);
    }

    /**
     * Sends an event, or a part of one, to the watch of {@code path}, in parts of a frame each, as Go's server does. Vert.x 5
     * does not always go on with a longer write after the client has opened its window again.
     */
    void send(String path, String bytes) {
        HttpServerResponse response = watched(path);
        byte[] all = bytes.getBytes(UTF_8);
        for (int at = 0; at < all.length; at += FRAME) {
            response.write(Buffer.buffer(Arrays.copyOfRange(all, at, Math.min(all.length, at + FRAME))));
        }
    }

    /** Ends the watch of {@code path} in good order. */
    void end(String path) {
        watched(path).end();
    }

    /** How many parts of an answer are open. */
    int halves() {
        return halves.size();
    }

    /** Ends the answers of which a part was sent. */
    void endHalves() {
        halves.removeIf(response -> {
            response.end();
            return true;
        });
    }

    private HttpServerResponse watched(String path) {
        return Objects.requireNonNull(watches.get(path), path);
    }

    /** From now on no request is handled, and no connection takes another. */
    void turnAwayEverybody() {
        turnsAwayEverybody = true;
    }

    private void connected(HttpConnection connection) {
        connections.add(connection);
        connection.closeHandler(closed -> connections.remove(connection));
        if (speaksHttp2) {
            connection.pingHandler(ping -> pings.incrementAndGet());
        }
    }

    private void answer(HttpServerRequest request) {
        String path = request.path();
        cameOver.put(path, request.connection());
        if (turnsAwayEverybody) {
            turnedAway.incrementAndGet();
            request.connection().goAway(0, 0);
            return;
        }
        HttpServerResponse response = request.response();
        if (!path.startsWith("/watch")) {
            boolean waits = holds(() -> answerPlain(request, path));
            // whoever sees it here may release it
            arrived.add(path);
            if (!waits) {
                answerPlain(request, path);
            }
            return;
        }
        watches.put(path, response);
        response.exceptionHandler(reset -> watches.remove(path, response));
        response.closeHandler(closed -> watches.remove(path, response));
        response.endHandler(ended -> watches.remove(path, response));
        response.setChunked(true);
        // sends the headers
        response.write(Buffer.buffer("\n"));
    }

    private void answerPlain(HttpServerRequest request, String path) {
        HttpServerResponse response = request.response();
        if (path.startsWith("/status/")) {
            response.setStatusCode(Integer.parseInt(path.substring("/status/".length())))
                    .end();
        } else if (path.equals("/stranger")) {
            response.setStatusCode(401).end();
            // as Go's server does: what it has begun is handled, what comes after that is not
            request.connection().goAway(0, EitherVertx.streamId(request));
        } else if (path.equals("/echo")) {
            request.body()
                    .onSuccess(body -> response.end(request.method() + " " + request.uri() + " "
                            + request.getHeader("Content-Type") + " " + body));
        } else if (path.equals("/half")) {
            response.setChunked(true);
            response.exceptionHandler(reset -> halves.remove(response));
            response.closeHandler(closed -> halves.remove(response));
            halves.add(response);
            response.write(Buffer.buffer(new byte[HALF]));
        } else if (path.equals("/endless")) {
            response.setChunked(true).setStatusCode(200);
            floods.incrementAndGet();
            flood(response, Buffer.buffer(new byte[1 << 18]));
        } else {
            response.end(path);
        }
    }

    private void flood(HttpServerResponse response, Buffer chunk) {
        response.write(chunk)
                .onSuccess(sent -> flood(response, chunk))
                .onFailure(brokenOff -> floods.decrementAndGet());
    }

    @Override
    public void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }
}
