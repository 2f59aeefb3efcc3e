package dev.podcache.kubelet.probe;

import dev.podcache.apiserver.http.EventLoop;
import dev.podcache.kubelet.probe.GrpcCheck.GrpcResponse;
import dev.podcache.kubelet.probe.HttpCheck.HttpProbeResponse;
import dev.podcache.time.Timekeeper;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.HostAndPort;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetClientOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The connections of probes and lifecycle hooks: one per check, on one event loop. It may be shared by the {@link Probes} of several nodes.
 * Its thread starts with the first check that needs it. Must be closed after them. Thread-safe; no method but {@link
 * #close} blocks.
 */
public final class ProbeNetwork implements AutoCloseable {

    /**
     * The longest headers of a response, with its status line. Go's client would take ten times as much, which a container
     * could use up the heap of a small agent with.
     */
    private static final int LONGEST_HEADERS = 1 << 20;

    /** The longest body that is read of an HTTP response. */
    private static final int LONGEST_BODY = 10 << 10;

    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(10);
    private static final int UNKNOWN = 2; // of the status codes of gRPC

    private final Timekeeper timekeeper;
    private final String version;
    private @Nullable Vertx vertx; // guarded by this
    private boolean closed; // guarded by this

    /**
     * Creates a network without starting its thread.
     *
     * @param timekeeper the timers and threads of all {@link Probes} on this network; not closed by this
     * @param version the version of the kubelet in the {@code User-Agent}, such as {@code 1.36}
     */
    public ProbeNetwork(Timekeeper timekeeper, String version) {
        this.timekeeper = Objects.requireNonNull(timekeeper, "timekeeper");
        this.version = Objects.requireNonNull(version, "version");
    }

    Timekeeper timekeeper() {
        return timekeeper;
    }

    String userAgent() {
        return "kube-probe/" + version;
    }

    /** Returns the user agent of lifecycle hooks. */
    String hookUserAgent() {
        return "kube-lifecycle/" + version;
    }

    /**
     * Sends an HTTP request, without checking the server's certificate.
     *
     * @param timeout the limit for opening the connection; the caller limits the rest
     * @param end closes the connection when it completes
     */
    CompletableFuture<HttpProbeResponse> get(HttpProbeRequest request, Duration timeout, CompletableFuture<?> end) {
        HttpClientOptions options = new HttpClientOptions()
                .setMaxHeaderSize(LONGEST_HEADERS)
                .setMaxInitialLineLength(LONGEST_HEADERS)
                .setSsl(request.tls())
                .setTrustAll(true)
                .setVerifyHost(false)
                .setKeepAlive(false);
        return exchange(
                options,
                timeout,
                end,
                new RequestOptions()
                        .setMethod(HttpMethod.GET)
                        .setHost(request.address().host())
                        .setPort(request.address().port())
                        .setURI(request.target()),
                http -> {
                    http.headers().clear();
                    request.headers().forEach((name, value) -> http.headers().add(name, value));
                    return http.send();
                },
                (response, body) -> new HttpProbeResponse(
                        response.statusCode(), response.getHeader("location"), body.toString(StandardCharsets.UTF_8)));
    }

    /** Calls the gRPC health check with a framed message, by HTTP/2 without TLS. The arguments are as in {@link #get}. */
    CompletableFuture<GrpcResponse> call(
            ProbeAddress address, byte[] message, Duration timeout, CompletableFuture<?> end) {
        HttpClientOptions options = new HttpClientOptions()
                .setProtocolVersion(HttpVersion.HTTP_2)
                .setHttp2ClearTextUpgrade(false)
                .setInitialSettings(new Http2Settings().setMaxHeaderListSize(LONGEST_HEADERS));
        return exchange(
                options,
                timeout,
                end,
                new RequestOptions()
                        .setMethod(HttpMethod.POST)
                        .setHost(address.host())
                        .setPort(address.port())
                        .setURI("/grpc.health.v1.Health/Check"),
                http -> http.authority(HostAndPort.parseAuthority(address.toString(), address.port()))
                        .putHeader("content-type", "application/grpc")
                        .putHeader("te", "trailers")
                        .putHeader("user-agent", userAgent())
                        .putHeader("grpc-timeout", timeout.toSeconds() + "S")
                        .send(Buffer.buffer(message)),
                ProbeNetwork::grpcResponse);
    }

    private static GrpcResponse grpcResponse(HttpClientResponse response, Buffer body) {
        // a server without a message sends the status as a header
        @Nullable String code = response.getTrailer("grpc-status");
        @Nullable String header = response.getHeader("grpc-status");
        @Nullable
        String message = code == null ? response.getHeader("grpc-message") : response.getTrailer("grpc-message");
        return new GrpcResponse(
                response.statusCode(),
                number(code == null ? header : code),
                message == null ? "" : message,
                body.getBytes());
    }

    private static int number(@Nullable String code) {
        try {
            return code == null ? UNKNOWN : Integer.parseInt(code);
        } catch (NumberFormatException invalid) {
            return UNKNOWN;
        }
    }

    /** Opens a TCP connection. The arguments are as in {@link #get}. */
    CompletableFuture<?> connect(ProbeAddress address, Duration timeout, CompletableFuture<?> end) {
        NetClient client = vertx().createNetClient(new NetClientOptions().setConnectTimeout(millis(timeout)));
        end.whenComplete((ended, thrown) -> client.close());
        return client.connect(address.port(), address.host())
                .toCompletionStage()
                .toCompletableFuture();
    }

    private <T> CompletableFuture<T> exchange(
            HttpClientOptions options,
            Duration timeout,
            CompletableFuture<?> end,
            RequestOptions request,
            Function<HttpClientRequest, Future<HttpClientResponse>> send,
            BiFunction<HttpClientResponse, Buffer, T> result) {
        // a client of its own, so that its close ends the connection in whatever state it is
        HttpClient client = vertx().httpClientBuilder()
                .with(options.setConnectTimeout(millis(timeout)))
                .with(new PoolOptions().setHttp1MaxSize(1).setHttp2MaxSize(1).setCleanerPeriod(0))
                // without a handler Vert.x logs a lost connection as an error
                .withConnectHandler(connection -> connection.exceptionHandler(lost -> {}))
                .build();
        end.whenComplete((ended, thrown) -> client.close());
        // nested, so that the handlers are set before anything of the response is read: a chain that the caller's
        // thread extends late runs as a later task, when the response may have ended
        Future<T> read = client.request(request)
                .compose(http ->
                        send.apply(http).compose(response -> body(response).map(body -> result.apply(response, body))));
        return read.toCompletionStage().toCompletableFuture();
    }

    /** Returns the body, or its beginning once that has the longest length. */
    private static Future<Buffer> body(HttpClientResponse response) {
        Promise<Buffer> whole = Promise.promise();
        Buffer read = Buffer.buffer();
        response.exceptionHandler(whole::tryFail);
        response.endHandler(end -> whole.tryComplete(read));
        response.handler(chunk -> {
            int room = LONGEST_BODY - read.length();
            read.appendBuffer(chunk, 0, Math.min(room, chunk.length()));
            if (read.length() == LONGEST_BODY) {
                whole.tryComplete(read);
            }
        });
        return whole.future();
    }

    private static int millis(Duration timeout) {
        return (int) Math.min(Integer.MAX_VALUE, timeout.toMillis());
    }

    private synchronized Vertx vertx() {
        if (closed) {
            throw new IllegalStateException("the network of the probes is closed");
        }
        if (vertx == null) {
            vertx = EventLoop.start();
        }
        return vertx;
    }

    /** Closes every connection and stops the thread; waits for it at most 10 s, unless called by it. Idempotent. */
    @Override
    public void close() {
        @Nullable Vertx open;
        synchronized (this) {
            closed = true;
            open = vertx;
            vertx = null;
        }
        if (open == null) {
            return;
        }
        CompletableFuture<?> closing = open.close().toCompletionStage().toCompletableFuture();
        if (Context.isOnVertxThread()) {
            return;
        }
        try {
            timekeeper.await(closing, CLOSE_TIMEOUT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
