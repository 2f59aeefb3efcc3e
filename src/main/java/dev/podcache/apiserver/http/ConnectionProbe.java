package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.credentials.Identity;
import dev.podcache.apiserver.credentials.ProxyRules.ProxyAddress;
import dev.podcache.time.Timekeeper;
import java.io.ByteArrayOutputStream;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Opens one connection with the addresses, TLS material, proxy and credentials of all others, sends one request on it,
 * and closes it. Used once.
 */
final class ConnectionProbe {

    /* The fields below the constructor belong to one event loop, to which calls from other threads are posted. */

    private static final int LONGEST_BODY = 64 << 10;

    private final Connector connector;
    private final VertxNetwork network;
    private final ServerRequest request;
    private final CompletableFuture<ConnectionFacts> result = new CompletableFuture<>();

    ConnectionProbe(Connector connector, VertxNetwork network, ServerRequest request) {
        this.connector = connector;
        this.network = network;
        this.request = request;
    }

    /**
     * Returns the facts, or exceptionally an {@link ApiServerException} whose cause says why there is no connection. Never
     * blocks.
     *
     * @param timeout for everything
     */
    CompletableFuture<ConnectionFacts> run(Duration timeout) {
        Timekeeper.Scheduled timer = connector
                .timekeeper()
                .schedule(timeout, () -> result.completeExceptionally(new TimeoutException("no answer in time")));
        network.start()
                .thenCompose(started -> connector.credentials().current())
                .thenCompose(identity -> connector.addresses(identity).thenAccept(found -> connect(identity, found)))
                .whenComplete((done, thrown) -> {
                    if (thrown != null) {
                        result.completeExceptionally(ApiServerException.causeOf(thrown));
                    }
                });
        return result.handle((facts, thrown) -> {
            timer.cancel();
            if (thrown != null) {
                throw new CompletionException(connector.unanswered(request.what(), thrown));
            }
            return facts;
        });
    }

    private void connect(Identity identity, List<InetSocketAddress> found) {
        Deque<InetSocketAddress> untried = new ArrayDeque<>(found);
        network.execute(() -> next(identity, untried, new TimeoutException("the host name has no address")));
    }

    private void next(Identity identity, Deque<InetSocketAddress> untried, Throwable lastFailure) {
        InetSocketAddress address = untried.poll();
        if (address == null) {
            result.completeExceptionally(lastFailure);
            return;
        }
        Duration timeout = identity.settings().connectTimeout();
        Target target = connector.target(identity, address, true, timeout);
        new ProbeAttempt(target, identity, cause -> next(identity, untried, cause)).open();
    }

    /** One attempt to open the connection at one address, and the request on it. */
    private final class ProbeAttempt implements Wire.Listener, Wire.Response {

        private final Target target;
        private final Identity identity;
        private final Consumer<Throwable> otherwise;
        private final ByteArrayOutputStream body = new ByteArrayOutputStream();
        private @Nullable Wire wire;
        private boolean usable;
        private boolean http2;
        private int limit;
        private int status;
        private @Nullable String date;
        private Instant sent = Instant.EPOCH;
        private Instant received = Instant.EPOCH;

        ProbeAttempt(Target target, Identity identity, Consumer<Throwable> otherwise) {
            this.target = target;
            this.identity = identity;
            this.otherwise = otherwise;
        }

        void open() {
            try {
                wire = network.open(target, this);
            } catch (RuntimeException | Error e) {
                // catches everything, because the result would wait for its timeout
                result.completeExceptionally(e);
                return;
            }
            // closed on success, failure and timeout alike
            result.whenComplete((facts, thrown) -> network.execute(this::close));
        }

        @Override
        public void opened(boolean multiplexed, int streams) {
            usable = true;
            http2 = multiplexed;
            limit = streams;
            sent = connector.timekeeper().wallTime();
            Wire open = wire;
            if (open != null) {
                open.send(request, identity.headers(), this);
            }
        }

        @Override
        public void limited(int streams) {
            limit = streams;
        }

        @Override
        public void retired() {}

        @Override
        public void closed(@Nullable Throwable cause) {
            Throwable why = cause == null ? new ClosedChannelException() : cause;
            if (usable) {
                result.completeExceptionally(why);
            } else if (connector.mayTryHttp11(target, why)) {
                Target plain =
                        new Target(target.server(), target.settings(), target.address(), false, target.timeout());
                new ProbeAttempt(plain, identity, otherwise).open();
            } else {
                otherwise.accept(why);
            }
        }

        @Override
        public void head(int code, Function<String, @Nullable String> headers) {
            received = connector.timekeeper().wallTime();
            status = code;
            date = headers.apply("Date");
        }

        @Override
        public void chunk(byte[] bytes) {
            body.write(bytes, 0, Math.min(bytes.length, LONGEST_BODY - body.size()));
        }

        @Override
        public void end() {
            ProxyAddress proxy = identity.settings().proxy();
            result.complete(new ConnectionFacts(
                    target.address(),
                    Optional.ofNullable(proxy).map(ProxyAddress::toString),
                    http2,
                    target.multiplexed(),
                    limit,
                    new ConnectionFacts.VersionAnswer(
                            status, date, sent, received, body.toString(StandardCharsets.UTF_8))));
        }

        @Override
        public void broken(Throwable cause, boolean unprocessed) {
            result.completeExceptionally(cause);
        }

        private void close() {
            if (wire != null) {
                wire.close();
            }
        }
    }
}
