package dev.podcache.apiserver.stream;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.NoAnswer;
import dev.podcache.object.FailureReason;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.RequestConfig;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.net.SocketAddress;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The server that we talk to, how it is reached, and who we are to it. Thread-safe. */
final class Endpoint {

    private static final Duration FRESH = Duration.ofSeconds(1);

    private final String server;
    private final Config config;
    private final RequestConfig requestConfig;
    private final Timekeeper timekeeper;
    private final AtomicReference<@Nullable Read> settings = new AtomicReference<>();
    private final AtomicReference<@Nullable Credentials> credentials = new AtomicReference<>();

    /**
     * A server.
     *
     * @param server its URL, with a path if there is one, without a slash at the end
     * @param config where TLS, proxies and credentials come from
     * @param requestConfig whom to impersonate, if anybody
     */
    Endpoint(String server, Config config, RequestConfig requestConfig, Timekeeper timekeeper) {
        this.server = server;
        this.config = config;
        this.requestConfig = requestConfig;
        this.timekeeper = timekeeper;
    }

    /** What was read, and when. */
    private record Read(ConnectionSettings settings, long at) {}

    /**
     * What one connection is made with.
     *
     * @param address null if a proxy will look it up
     */
    record Dial(HttpClientOptions options, @Nullable SocketAddress address) {}

    Timekeeper timekeeper() {
        return timekeeper;
    }

    boolean secure() {
        return server.startsWith("https:");
    }

    /** The absolute address of {@code path}. */
    URI uri(String path) {
        return URI.create(server + path);
    }

    /**
     * How to connect now. Files are read and names are looked up anew, so either may change; only connections that are
     * made together share what was read for the first of them. May block.
     *
     * @param use picks the options, such as {@link ConnectionSettings#multiplexed}
     */
    Dial dial(Function<ConnectionSettings, HttpClientOptions> use) throws UnknownHostException {
        ConnectionSettings settings = settings();
        return new Dial(use.apply(settings), settings.direct() ? address() : null);
    }

    /** Always the same, because they remember what they know. May block. */
    Credentials credentials() {
        Credentials known = credentials.get();
        if (known == null) {
            Credentials read =
                    new Credentials(ConnectionSettings.of(config).interceptors().values(), requestConfig);
            known = credentials.compareAndSet(null, read) ? read : credentials.get();
        }
        return Objects.requireNonNull(known);
    }

    /** What {@code thrown} means to whoever asked for {@code what}. */
    ApiServerException unanswered(String what, Throwable thrown) {
        if (thrown instanceof HttpClosedException) {
            return ApiServerException.withoutAnswer(
                    FailureReason.UNAVAILABLE, what, "the connection to " + server + " was closed", null);
        }
        return NoAnswer.because(what, server, thrown);
    }

    private ConnectionSettings settings() {
        Read last = settings.get();
        long now = timekeeper.nanoTime();
        if (last != null && now - last.at < FRESH.toNanos()) {
            return last.settings;
        }
        ConnectionSettings read = ConnectionSettings.of(config);
        settings.set(new Read(read, now));
        return read;
    }

    /** Looked up by the JVM, as for requests, rather than by Vert.x's own resolver, which knows other rules. */
    private SocketAddress address() throws UnknownHostException {
        URI uri = URI.create(server);
        int port = uri.getPort() >= 0 ? uri.getPort() : secure() ? 443 : 80;
        return SocketAddress.inetSocketAddress(new InetSocketAddress(InetAddress.getByName(uri.getHost()), port));
    }

    @Override
    public String toString() {
        return server;
    }
}
