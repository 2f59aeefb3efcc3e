package dev.podcache.apiserver.http;

import dev.podcache.apiserver.credentials.ServerUrl;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.RequestConfig;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.ObjIntConsumer;

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

    /** The maximum size of all incomplete answers together. */
    private static final long MOST_BYTES = 256L << 20;

    private final Connector connector;
    private final VertxNetwork network;
    private final ConnectionPool watches;
    private final ConnectionPool requests;
    private final Set<SerialRequests> heartbeats = ConcurrentHashMap.newKeySet();
    private final ByteBudget budget;
    private volatile boolean closed;

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
     */
    public ApiConnections(
            String server,
            Config config,
            RequestConfig requestConfig,
            Timekeeper timekeeper,
            ObjIntConsumer<ServerRequest> observer) {
        this(server, config, requestConfig, timekeeper, observer, MOST_BYTES);
    }

    /** Creates connections whose incomplete answers have at most {@code mostBytes} together. */
    ApiConnections(
            String server,
            Config config,
            RequestConfig requestConfig,
            Timekeeper timekeeper,
            ObjIntConsumer<ServerRequest> observer,
            long mostBytes) {
        this.budget = new ByteBudget(mostBytes);
        this.connector = new Connector(url(server), config, requestConfig, timekeeper, observer);
        this.network = new VertxNetwork(timekeeper.workers());
        this.watches = new ConnectionPool(connector, Traffic.WATCHES, network);
        this.requests = new ConnectionPool(connector, Traffic.REQUESTS, network);
    }

    private static ServerUrl url(String server) {
        return ServerUrl.parse(server)
                .orElseThrow(() -> new IllegalArgumentException(
                        "the server's address is not a URL: write it as https://HOST:PORT"));
    }

    /**
     * Sends one request, in a single attempt. Returns at once and never throws.
     *
     * @param wait the delay before the request is sent; zero for none
     * @param timeout the time from now until the answer is complete; positive
     * @param longest the maximum size of the answer, in bytes
     * @param decode decodes a 2xx body, on a worker thread
     * @return what {@code decode} returned or threw, or exceptionally an {@link
     *     dev.podcache.apiserver.ApiServerException}
     */
    public <R> CompletableFuture<R> send(
            Duration wait, ServerRequest request, Duration timeout, int longest, Function<byte[], R> decode) {
        BodyReader<R> reader = reader(request, longest, decode);
        Exchange exchange = new Exchange(request, timeout, reader, requests);
        if (wait.isZero()) {
            requests.send(exchange);
        } else {
            timekeeper().schedule(wait, () -> requests.send(exchange));
        }
        return reader.result();
    }

    /** Returns a session that sends the lists and watches of one selection of objects. */
    public ListWatchSession session() {
        return new ListWatchSession(this, watches);
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
        VertxNetwork own = new VertxNetwork(timekeeper().workers());
        ConnectionPool pool = new ConnectionPool(connector, Traffic.HEARTBEATS, own);
        SerialRequests[] made = new SerialRequests[1];
        made[0] = new SerialRequests(this, pool, leaseDuration, () -> {
            own.close();
            heartbeats.remove(made[0]);
        });
        heartbeats.add(made[0]);
        if (closed) {
            made[0].close();
        }
        return made[0];
    }

    /**
     * Opens one more connection, as all others are opened, sends a request on it, and closes it. Returns at once and never
     * throws.
     *
     * @param timeout the time for everything; positive
     * @return what it showed, or exceptionally an {@link dev.podcache.apiserver.ApiServerException}
     */
    public CompletableFuture<ConnectionFacts> probe(ServerRequest request, Duration timeout) {
        return new ConnectionProbe(connector, network, request).run(timeout);
    }

    /**
     * Reads the credentials again now, because their files were replaced. Connections with another client certificate get
     * no new requests from then on, and are closed when their last watch or request has ended. Returns at once.
     *
     * @return completes when the credentials are read; exceptionally if there are none
     */
    public CompletableFuture<?> rereadCredentials() {
        return connector.credentials().reread();
    }

    /**
     * Returns how many HTTP/2 connections carry this number of watches.
     *
     * @param streamLimit the server's limit of streams on one connection, at least 1
     */
    public static int forWatches(int watches, int streamLimit) {
        return ConnectionTable.connectionsFor(watches, streamLimit);
    }

    /** Returns the number of connections that are open or being opened, without those of heartbeats. */
    public int size() {
        return watches.size() + requests.size();
    }

    Timekeeper timekeeper() {
        return connector.timekeeper();
    }

    <R> BodyReader<R> reader(ServerRequest request, int longest, Function<byte[], R> decode) {
        return new BodyReader<>(
                request.what(), longest, budget, decode, timekeeper().workers());
    }

    /** Fails everything in flight and stops all threads; waits for them at most 10 s. Idempotent. */
    @Override
    public void close() {
        closed = true;
        requests.close();
        heartbeats.forEach(SerialRequests::close);
        watches.close();
        network.close();
    }
}
