package dev.podcache.apiserver.http;

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
 * All connections to one API server: as few HTTP/2 connections as the server's limit of streams allows, or HTTP/1.1
 * connections where the server or a proxy speaks nothing else. Watches, requests and heartbeats never share one. Each
 * HTTP/2 connection is pinged every 10 s and closed, with a cause to what it carries, if nothing comes for 10 s.
 * Certificates, tokens and addresses are read again, and every address of a name is tried. Threads come with the first
 * request and go with {@link #close()}; there are as many for one watch as for thousands. Thread-safe.
 */
public final class ApiConnections implements AutoCloseable {

    /** One object, or one event of a watch, in bytes: ten times what etcd takes. */
    public static final int LONGEST_OBJECT = 16 << 20;

    /** A list by name, or an event of a watch by name, in bytes: etcd takes 1.5 MB, and JSON may double that. */
    public static final int LONGEST_NAMED = 4 << 20;

    /** One page of a list, in bytes. */
    public static final int LONGEST_LIST = 64 << 20;

    /** Of incomplete answers in all. */
    private static final long MOST_BYTES = 256L << 20;

    private static final int LOOPS = 2;

    private final Connector connector;
    private final VertxNetwork network;
    private final ConnectionPool watches;
    private final ConnectionPool requests;
    private final Set<SerialRequests> heartbeats = ConcurrentHashMap.newKeySet();
    private final ByteBudget budget = new ByteBudget(MOST_BYTES);
    private volatile boolean closed;

    /**
     * Connections to one server; none is opened yet.
     *
     * @param server its URL, with a path if there is one, without a slash at the end
     * @param config where TLS, proxies and credentials come from
     * @param requestConfig whom to impersonate, if anybody
     * @param observer called with 0 when a request is first sent, then with the status of each answer to it, and at last
     *     with -1 when it is over, sent or not; on any thread, so that it must neither block nor throw
     */
    public ApiConnections(
            String server,
            Config config,
            RequestConfig requestConfig,
            Timekeeper timekeeper,
            ObjIntConsumer<ServerRequest> observer) {
        this.connector = new Connector(server, config, requestConfig, timekeeper, observer);
        this.network = new VertxNetwork(LOOPS, timekeeper.workers());
        this.watches = new ConnectionPool(connector, Traffic.WATCHES, network);
        this.requests = new ConnectionPool(connector, Traffic.REQUESTS, network);
    }

    /**
     * Sends one request. Returns at once and never throws.
     *
     * @param wait before it is sent; zero for none
     * @param timeout positive; from now until the answer is complete
     * @param longest how many bytes the answer may have
     * @param decode reads a 2xx body, on a worker thread
     * @return what {@code decode} returned or threw, or exceptionally an {@link
     *     dev.podcache.apiserver.ApiServerException}
     */
    public <R> CompletableFuture<R> send(
            Duration wait, ServerRequest request, Duration timeout, int longest, Function<byte[], R> decode) {
        BodyReader<R> reader = reader(request, longest, decode);
        Exchange exchange = exchange(request, timeout, reader);
        if (wait.isZero()) {
            requests.send(exchange);
        } else {
            timekeeper().schedule(wait, () -> requests.send(exchange));
        }
        return reader.result();
    }

    /** Returns the lists and watches of one selection of objects. */
    public ListWatchSession session() {
        return new ListWatchSession(this, watches);
    }

    /**
     * Returns a connection for the heartbeats of one node. It is not opened yet.
     *
     * @param leaseDuration how long the node is believed alive without a heartbeat, at least 1 s
     * @return to be closed, else closed with this
     * @throws IllegalArgumentException if the duration is shorter
     */
    public SerialRequests heartbeats(Duration leaseDuration) {
        // an event loop of their own: no handler of a watch can hold them up
        VertxNetwork own = new VertxNetwork(1, timekeeper().workers());
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

    Timekeeper timekeeper() {
        return connector.timekeeper();
    }

    <R> BodyReader<R> reader(ServerRequest request, int longest, Function<byte[], R> decode) {
        return new BodyReader<>(
                request.what(), longest, budget, decode, timekeeper().workers());
    }

    Exchange exchange(ServerRequest request, Duration timeout, ResponseReader handler) {
        return new Exchange(request, timeout, handler, connector);
    }

    /** Ends everything under way, with a cause, and all threads; waits for them at most 10 s. Idempotent. */
    @Override
    public void close() {
        closed = true;
        requests.close();
        heartbeats.forEach(SerialRequests::close);
        watches.close();
        network.close();
    }
}
