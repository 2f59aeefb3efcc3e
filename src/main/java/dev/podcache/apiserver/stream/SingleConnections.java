package dev.podcache.apiserver.stream;

import io.vertx.core.Context;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection for each watch, for servers and proxies that speak only HTTP/1.1. Reads are given up, because over
 * connections that somebody keeps they cost less. Thread-safe.
 */
final class SingleConnections {

    private static final Logger log = LoggerFactory.getLogger(SingleConnections.class);

    /**
     * Then it is tried again whether the server speaks HTTP/2, which costs one more connection: it may have been
     * restarted, or may not have been itself when it was asked.
     */
    private static final Duration BELIEVED_FOR = Duration.ofMinutes(1);

    private static final int MOST_CONNECTIONS = 8192;

    private final Endpoint endpoint;
    private final EventLoops loops;
    private final AtomicReference<@Nullable HttpClient> client = new AtomicReference<>();
    private volatile @Nullable Long since; // nanoseconds; null unless in use

    SingleConnections(Endpoint endpoint, EventLoops loops) {
        this.endpoint = endpoint;
        this.loops = loops;
    }

    /** Whether the server is believed to speak only HTTP/1.1. */
    boolean inUse() {
        Long found = since;
        return found != null && endpoint.timekeeper().nanoTime() - found < BELIEVED_FOR.toNanos();
    }

    /** From now on they are. */
    void use() {
        if (since == null) {
            log.info(
                    "{} does not speak HTTP/2 (asked by {}): each watch has a connection of its own",
                    endpoint,
                    endpoint.secure() ? "ALPN" : "prior knowledge");
        }
        since = endpoint.timekeeper().nanoTime();
    }

    /** Has {@code exchange} sent, or given up. Returns at once. */
    void carry(Exchange exchange) {
        if (exchange.ask().needsManyOnOne()) {
            exchange.giveUp();
            return;
        }
        // certificates are read, and a name is looked up
        endpoint.timekeeper().blocking().execute(() -> {
            try {
                Endpoint.Dial dial = endpoint.dial(ConnectionSettings::single);
                HttpClient http = client(dial);
                RequestOptions options = exchange.options();
                if (dial.address() != null) {
                    options.setServer(dial.address());
                }
                Context loop = loops.next();
                EventLoops.post(loop, () -> ask(http, options, exchange, loop));
            } catch (UnknownHostException | RuntimeException e) {
                exchange.fail(e);
            }
        });
    }

    private static void ask(HttpClient http, RequestOptions options, Exchange exchange, Context loop) {
        if (!exchange.isOver()) {
            http.request(options).onComplete(asked -> {
                if (asked.failed()) {
                    exchange.fail(asked.cause());
                } else {
                    HttpClientRequest request = asked.result();
                    // else Vert.x logs it as an error, and quotes what it could not make sense
                    // of, which may be a payload
                    request.connection().exceptionHandler(broken -> {});
                    exchange.send(request, loop, null);
                }
            });
        }
    }

    private HttpClient client(Endpoint.Dial dial) {
        HttpClient known = client.get();
        if (known != null) {
            return known;
        }
        HttpClient made = loops.client(dial.options(), new PoolOptions().setHttp1MaxSize(MOST_CONNECTIONS));
        if (client.compareAndSet(null, made)) {
            return made;
        }
        made.close();
        return Objects.requireNonNull(client.get());
    }
}
