package dev.podcache.apiserver.stream;

import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.RequestConfig;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.PoolOptions;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections of watches to one API server, one HTTP/1.1 connection each. Threads and TLS material come with the first
 * watch and go with {@link #close()}. Thread-safe.
 *
 * <p>{@link #open} is where a pool of multiplexed connections will choose one: {@code OpenWatch} knows only a client and a
 * request, not how many share a connection.
 */
public final class WatchConnections implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(WatchConnections.class);
    private static final int MOST_CONNECTIONS = 4096;
    private static final Duration CLOSING = Duration.ofSeconds(2);

    private final String server;
    private final Config config;
    private final RequestConfig requestConfig;
    private final Timekeeper timekeeper;
    private final Set<OpenWatch<?>> watches = ConcurrentHashMap.newKeySet();
    private @Nullable Transport transport; // guarded by this
    private boolean closed; // guarded by this

    /** What all watches share. */
    record Transport(Vertx vertx, HttpClient http, boolean direct, Credentials credentials) {}

    /**
     * Connections to one server; none is made yet.
     *
     * @param server its URL, with a path if there is one, without a slash at the end
     * @param config where TLS, proxies and credentials come from
     * @param requestConfig whom to impersonate, if anybody
     */
    public WatchConnections(String server, Config config, RequestConfig requestConfig, Timekeeper timekeeper) {
        this.server = server;
        this.config = config;
        this.requestConfig = requestConfig;
        this.timekeeper = timekeeper;
    }

    /**
     * Opens a watch as {@link dev.podcache.apiserver.ListerWatcher#watch} promises. Returns at once and never throws.
     *
     * @param events called on an event loop, or on a worker or timer if the watch never opened
     */
    public <T> WatchHandle open(WatchRequest<T> request, Consumer<WatchEvent<T>> events) {
        OpenWatch<T> watch = new OpenWatch<>(request, server, timekeeper, events);
        watches.add(watch);
        watch.whenOver(() -> watches.remove(watch));
        // reading certificates and refreshing a token may block
        timekeeper.workers().execute(() -> watch.begin(this::transport));
        return watch;
    }

    /** Ends all watches, with a cause, and all threads; waits for them at most 2 s. Idempotent. */
    @Override
    public void close() {
        Transport open;
        synchronized (this) {
            closed = true;
            open = transport;
            transport = null;
        }
        watches.forEach(OpenWatch::abort);
        if (open != null) {
            join(open.vertx);
        }
    }

    /** What watches share, made by the first of them; null once closed. */
    private @Nullable Transport transport() {
        synchronized (this) {
            if (transport != null || closed) {
                return transport;
            }
        }
        // reads files, so not under the lock; two first watches may both read them
        ConnectionSettings settings = ConnectionSettings.of(config);
        synchronized (this) {
            if (transport == null && !closed) {
                transport = connect(settings);
            }
            return transport;
        }
    }

    private Transport connect(ConnectionSettings settings) {
        Vertx vertx = Vertx.vertx(new VertxOptions()
                .setEventLoopPoolSize(2)
                .setWorkerPoolSize(1)
                .setInternalBlockingPoolSize(1)
                .setUseDaemonThread(true)
                .setFileSystemOptions(
                        new FileSystemOptions().setFileCachingEnabled(false).setClassPathResolvingEnabled(false)));
        HttpClient http =
                vertx.createHttpClient(settings.options(), new PoolOptions().setHttp1MaxSize(MOST_CONNECTIONS));
        Credentials credentials = new Credentials(settings.interceptors().values(), requestConfig);
        return new Transport(vertx, http, settings.direct(), credentials);
    }

    private static void join(Vertx vertx) {
        boolean ourOwnThread = Context.isOnVertxThread();
        try {
            var closing = vertx.close().toCompletionStage().toCompletableFuture();
            if (!ourOwnThread) {
                closing.get(CLOSING.toMillis(), TimeUnit.MILLISECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            log.warn("the threads of the watches did not end within {}", CLOSING, e);
        }
    }
}
