package dev.podcache.apiserver.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.credentials.ConnectionSettings;
import dev.podcache.apiserver.credentials.ProxyRules.ProxyAddress;
import dev.podcache.apiserver.credentials.ServerUrl;
import dev.podcache.apiserver.http.ServerEndpoint.Target;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** One network, and a {@link RawServer} for its connections. What the wire reports is kept as text, in order. */
@NullUnmarked
@ExtendWith(NoLeaks.class)
abstract class RawWireFixture {

    static final Duration TIMEOUT = Duration.ofSeconds(20);
    static final ServerRequest GET = ServerRequest.get("GET test", "/get");

    final NettyNetwork network = new NettyNetwork(Runnable::run);
    final BlockingQueue<String> events = new LinkedBlockingQueue<>();
    RawServer server;

    @BeforeEach
    void listen() throws IOException {
        server = new RawServer();
        network.start();
    }

    @AfterEach
    void tearDown() throws IOException {
        network.close();
        server.close();
    }

    static ConnectionSettings settings(@Nullable ProxyAddress proxy, boolean compression) {
        return settings(proxy, null, compression);
    }

    static ConnectionSettings settings(
            @Nullable ProxyAddress proxy, @Nullable X509TrustManager proxyTrusted, boolean compression) {
        return new ConnectionSettings(
                true, TIMEOUT, null, null, Set.of(), null, false, proxy, proxyTrusted, true, compression);
    }

    static Target target(String url, InetSocketAddress address, boolean http2, Duration timeout) {
        return target(url, settings(null, true), address, http2, timeout);
    }

    static Target target(
            String url, ConnectionSettings settings, InetSocketAddress address, boolean http2, Duration timeout) {
        return new Target(ServerUrl.parse(url).orElseThrow(), settings, address, http2, timeout);
    }

    /** A target on the server, without TLS. */
    Target plain(boolean http2) {
        return target("http://127.0.0.1:" + server.port(), server.address(), http2, TIMEOUT);
    }

    Wire open(Target target) {
        return onLoop(() -> network.open(target, new EventLog()));
    }

    <T> T onLoop(Supplier<T> what) {
        CompletableFuture<T> result = new CompletableFuture<>();
        network.execute(() -> {
            try {
                result.complete(what.get());
            } catch (RuntimeException | Error e) {
                result.completeExceptionally(e);
            }
        });
        return result.join();
    }

    void onLoop(Runnable what) {
        onLoop(() -> {
            what.run();
            return "";
        });
    }

    Wire.Stream send(Wire wire, String name) {
        return send(wire, name, GET, Map.of());
    }

    /** Sends a request. What comes back is an event that begins with {@code name}. */
    Wire.Stream send(Wire wire, String name, ServerRequest request, Map<String, List<String>> headers) {
        return onLoop(() -> wire.send(request, headers, new AnswerLog(name)));
    }

    void expect(String... expected) throws InterruptedException {
        for (String each : expected) {
            assertThat(next()).isEqualTo(each);
        }
    }

    String next() throws InterruptedException {
        String event = events.poll(Patience.SECONDS, TimeUnit.SECONDS);
        assertThat(event).as("an event").isNotNull();
        return NoLeaks.saw(event);
    }

    /** Requires that nothing more is reported for what the event loop has been given so far. */
    void expectNothing() {
        onLoop(() -> {});
        assertThat(events).isEmpty();
    }

    final class EventLog implements Wire.Listener {

        @Override
        public void opened(boolean multiplexed, int limit) {
            events.add("opened " + (multiplexed ? "h2 " : "h1 ") + limit);
        }

        @Override
        public void limited(int limit) {
            events.add("limited " + limit);
        }

        @Override
        public void retired() {
            events.add("retired");
        }

        @Override
        public void closed(@Nullable Throwable cause) {
            events.add("closed" + (cause == null ? "" : " " + text(cause)));
        }
    }

    static String text(Throwable cause) {
        return cause.getClass().getSimpleName() + ": " + cause.getMessage();
    }

    final class AnswerLog implements Wire.Response {

        private final String name;

        AnswerLog(String name) {
            this.name = name;
        }

        @Override
        public void head(int status, Function<String, @Nullable String> headers) {
            String after = headers.apply("Retry-After");
            events.add(name + " " + status + (after == null ? "" : " " + after.length()));
        }

        @Override
        public boolean chunk(byte[] bytes) {
            return received(name, bytes);
        }

        @Override
        public void end() {
            events.add(name + " end");
        }

        @Override
        public void broken(Throwable cause, boolean unprocessed) {
            events.add(name + " broken " + text(cause) + (unprocessed ? ", unprocessed" : ""));
        }
    }

    /**
     * A part of an answer has arrived; tests may do something else than to note how long it is.
     *
     * @return whether more may come
     */
    boolean received(String name, byte[] bytes) {
        events.add(name + " +" + bytes.length);
        return true;
    }
}
