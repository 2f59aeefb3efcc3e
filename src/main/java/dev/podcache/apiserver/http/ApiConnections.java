package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ObjectDecoder;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.apiserver.credentials.ServerUrl;
import dev.podcache.apiserver.http.ConnectionPool.ConnectionSlot;
import dev.podcache.apiserver.http.ConnectionPool.Traffic;
import dev.podcache.object.OptionalLibrary;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.RequestConfig;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * All connections to one API server. Opens as few HTTP/2 connections as the server's stream limit allows, or HTTP/1.1
 * connections if the server or a proxy does not support HTTP/2. Watches, requests and heartbeats never share a
 * connection. Thread-safe.
 *
 * <p>Every HTTP/2 connection is pinged every 10 s. If nothing arrives within 10 s, it is closed, and every request and
 * watch on it fails with that cause. Certificates and tokens are read again while in use. Each new connection looks up
 * the host name again and tries every address. The threads start with the first request and stop with {@link #close()}.
 * Their number does not grow with the number of watches.
 */
public final class ApiConnections implements AutoCloseable {

    /** The maximum size of one object or one watch event, in bytes: ten times what etcd accepts. */
    public static final int LONGEST_OBJECT = 16 << 20;

    /**
     * The maximum size of a list or a watch event of one named object, in bytes: etcd accepts 1.5 MB, which JSON may
     * double.
     */
    public static final int LONGEST_NAMED = 4 << 20;

    /** The maximum size of one page of a list, in bytes. */
    public static final int LONGEST_LIST = 64 << 20;

    /**
     * The maximum size of all that was received and is not decoded, in bytes, as {@link ReceiveBudget} counts it.
     */
    private static final int MOST_BYTES = 256 << 20;

    /** The cause of the failure of a request whose answer was longer than it may be. */
    public static final class AnswerTooLong extends Exception {

        private static final long serialVersionUID = 1;

        AnswerTooLong() {
            super("too long", null, false, false);
        }
    }

    /** The time from the call until a watch is open. */
    private static final Duration WATCH_OPEN_TIMEOUT = Duration.ofSeconds(20);

    private final ServerEndpoint endpoint;
    private final NettyNetwork network;
    private final ConnectionPool watches;
    private final ConnectionPool requests;
    private final ReceiveBudget budget;
    private final Set<SerialRequests> heartbeats = new HashSet<>(); // guarded by this
    private final Set<ConnectionPool> probes = new HashSet<>(); // guarded by this
    private boolean closed; // guarded by this

    /**
     * Creates the connections to one server, without opening any.
     *
     * @param server the URL of the server, which may have a path
     * @param config provides TLS, proxies and credentials
     * @param requestConfig names the user to impersonate, if any
     * @param observer called with 0 when a request is first sent, then with the status of each answer, and finally with
     *     -1 when the request has ended, whether it was sent or not; called on any thread, so it must neither block nor
     *     throw
     * @throws IllegalArgumentException if {@code server} is no URL; the message does not quote it
     * @throws IllegalStateException if Netty is not on the class path
     */
    public ApiConnections(
            String server,
            Config config,
            RequestConfig requestConfig,
            Timekeeper timekeeper,
            ObjIntConsumer<ServerRequest> observer) {
        this(server, config, requestConfig, ClientInterceptors.NONE, timekeeper, observer, MOST_BYTES);
    }

    /**
     * Creates the connections to one server, without opening any, as the other constructor does.
     *
     * @param interceptors run before each request
     */
    public ApiConnections(
            String server,
            Config config,
            RequestConfig requestConfig,
            ClientInterceptors interceptors,
            Timekeeper timekeeper,
            ObjIntConsumer<ServerRequest> observer) {
        this(server, config, requestConfig, interceptors, timekeeper, observer, MOST_BYTES);
    }

    /** Creates connections that hold at most {@code mostBytes} that are not decoded. */
    ApiConnections(
            String server,
            Config config,
            RequestConfig requestConfig,
            ClientInterceptors interceptors,
            Timekeeper timekeeper,
            ObjIntConsumer<ServerRequest> observer,
            int mostBytes) {
        OptionalLibrary.NETTY.require();
        this.budget = new ReceiveBudget(mostBytes, timekeeper);
        this.endpoint = new ServerEndpoint(url(server), config, requestConfig, interceptors, timekeeper, observer);
        this.network = new NettyNetwork(timekeeper.workers());
        this.watches = new ConnectionPool(endpoint, Traffic.WATCHES, network);
        this.requests = new ConnectionPool(endpoint, Traffic.REQUESTS, network);
    }

    private static ServerUrl url(String server) {
        return ServerUrl.parse(server)
                .orElseThrow(() -> new IllegalArgumentException(
                        "the server's address is not a URL: write it as https://HOST:PORT"));
    }

    /**
     * Sends one request, and again only if no server has processed it, or once with other credentials after a 401. Returns at once and never throws.
     *
     * @param wait the delay before the request is sent; zero for none
     * @param timeout the time from now until the answer is complete, the delay included; positive
     * @param longest the maximum size of the answer, in bytes
     * @param decode decodes a 2xx body, on a worker thread
     * @return what {@code decode} returned or threw, or exceptionally an {@link
     *     dev.podcache.apiserver.ApiServerException}
     */
    public <R> CompletableFuture<R> send(
            Duration wait, ServerRequest request, Duration timeout, int longest, Function<byte[], R> decode) {
        BodyReader<R> reader = reader(request, longest, decode);
        requests.send(new Exchange(request, timeout, reader, requests), wait);
        return reader.result();
    }

    /** Returns a session that sends the lists and watches of one selection of objects. */
    public Session session() {
        return new Session();
    }

    /**
     * Sends the lists and watches of one selection of objects. A watch uses the connection of the list before it if that
     * has a free stream, so that the same API server answers both. Thread-safe.
     */
    public final class Session {

        private volatile @Nullable ConnectionSlot last; // only a preference, so a lost update is harmless

        private Session() {}

        /** Returns the time that timeouts are measured with, in nanoseconds from an arbitrary origin. */
        public long nanoTime() {
            return timekeeper().nanoTime();
        }

        /** Returns whether the last list succeeded and its connection still accepts requests. */
        public boolean isConnected() {
            ConnectionSlot slot = last;
            return slot != null && watches.isOpen(slot);
        }

        /** Sends one request like {@link ApiConnections#send}, but over the connections of watches. */
        public <R> CompletableFuture<R> list(
                ServerRequest request, Duration timeout, int longest, Function<byte[], R> decode) {
            return list(request, timeout, longest, decode, () -> {});
        }

        /**
         * Sends one request like {@link ApiConnections#send}, but over the connections of watches.
         *
         * @param sent called at most once, before the answer is decoded, when the request is written to a connection: no
         *     wait for credentials, for a connection or for a free stream follows. Called on an event loop, so it must
         *     neither block nor throw
         */
        public <R> CompletableFuture<R> list(
                ServerRequest request, Duration timeout, int longest, Function<byte[], R> decode, Runnable sent) {
            BodyReader<R> reader = reader(request, longest, decode);
            Exchange exchange = new Exchange(request, timeout, reader, watches);
            reader.whenSent(sent);
            reader.whenEnded(failure -> last = failure == null ? exchange.carrier() : null);
            watches.send(exchange);
            return reader.result();
        }

        /** Opens a watch like {@link #watch(ServerRequest, int, ObjectDecoder, Consumer, Runnable)}. */
        public <T> WatchHandle watch(
                ServerRequest request, int longestEvent, ObjectDecoder<T> decoder, Consumer<WatchEvent<T>> events) {
            return watch(request, longestEvent, decoder, events, () -> {});
        }

        /**
         * Opens a watch with the contract of {@link dev.podcache.apiserver.ListerWatcher#watch}. Returns at once and never
         * throws.
         *
         * @param longestEvent the maximum size of one event, in bytes
         * @param events called on an event loop; on any thread for the end of a watch that was never sent
         * @param sent called as for a list, before the first event
         */
        public <T> WatchHandle watch(
                ServerRequest request,
                int longestEvent,
                ObjectDecoder<T> decoder,
                Consumer<WatchEvent<T>> events,
                Runnable sent) {
            Exchange exchange = new Exchange(
                    request,
                    WATCH_OPEN_TIMEOUT,
                    new WatchReader<>(request, longestEvent, budget, decoder, events, sent),
                    watches,
                    last);
            last = null;
            watches.send(exchange);
            return exchange;
        }
    }

    /**
     * Returns a connection for the heartbeats of one node, which is opened with the first request.
     *
     * @param leaseDuration the duration of the node's Lease, at least 1 s
     * @return the connection; closed together with this, if not before
     * @throws IllegalArgumentException if {@code leaseDuration} is less than 1 s
     */
    public SerialRequests heartbeats(Duration leaseDuration) {
        // on their own event loop, heartbeats are not delayed by the consumer of a watch
        NettyNetwork own = new NettyNetwork(timekeeper().workers());
        ConnectionPool pool = new ConnectionPool(endpoint, Traffic.HEARTBEATS, own);
        SerialRequests made = new SerialRequests(this, pool, leaseDuration, ended -> {
            own.close();
            forget(ended);
        });
        boolean late;
        synchronized (this) {
            late = closed || !heartbeats.add(made);
        }
        if (late) {
            made.close();
        }
        return made;
    }

    private synchronized void forget(SerialRequests ended) {
        heartbeats.remove(ended);
    }

    /**
     * Opens one more connection, as all others are opened, sends a request on it, and closes it. Returns at once and never
     * throws.
     *
     * @param timeout the time for everything; positive
     * @return what it showed, whatever the HTTP code; or exceptionally an {@link
     *     dev.podcache.apiserver.ApiServerException} whose cause says why there is no connection
     */
    public CompletableFuture<ConnectionFacts> probe(ServerRequest request, Duration timeout) {
        ConnectionPool pool = new ConnectionPool(endpoint, Traffic.PROBE, network);
        boolean late;
        synchronized (this) {
            late = closed || !probes.add(pool);
        }
        if (late) {
            pool.close();
        }
        ConnectionFacts.ProbeReader reader = new ConnectionFacts.ProbeReader(timekeeper());
        pool.send(new Exchange(request, timeout, reader, pool));
        return reader.result().whenComplete((facts, failure) -> {
            pool.close();
            forget(pool);
        });
    }

    private synchronized void forget(ConnectionPool ended) {
        probes.remove(ended);
    }

    /**
     * Reads the credentials again now, because their files were replaced. Connections with another client certificate get
     * no new requests from then on, and are closed when their last watch or request has ended. Returns at once.
     *
     * @return completes when the credentials are read; exceptionally if there are none
     */
    public CompletableFuture<?> rereadCredentials() {
        return endpoint.credentials().reread();
    }

    /**
     * Returns how many HTTP/2 connections carry this number of watches.
     *
     * @param streamLimit the server's limit of streams on one connection, at least 1
     */
    public static int forWatches(int watches, int streamLimit) {
        return ConnectionPool.connectionsFor(watches, streamLimit);
    }

    /** Returns the number of connections that are open or being opened, without those of heartbeats and probes. */
    public int size() {
        return watches.size() + requests.size();
    }

    /** Returns what is received and not decoded. */
    ReceiveBudget budget() {
        return budget;
    }

    Timekeeper timekeeper() {
        return endpoint.timekeeper();
    }

    <R> BodyReader<R> reader(ServerRequest request, int longest, Function<byte[], R> decode) {
        return new BodyReader<>(
                request.what(), longest, budget, decode, timekeeper().workers());
    }

    /**
     * Fails everything in flight and stops all threads. Waits for them at most 10 s, once for this and once for each network
     * of heartbeats. Idempotent.
     */
    @Override
    public void close() {
        List<SerialRequests> beating;
        List<ConnectionPool> probing;
        synchronized (this) {
            closed = true;
            beating = List.copyOf(heartbeats);
            probing = List.copyOf(probes);
        }
        requests.close();
        beating.forEach(SerialRequests::close);
        probing.forEach(ConnectionPool::close);
        watches.close();
        network.close();
    }
}
