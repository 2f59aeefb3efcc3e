package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.NoAnswer;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.RequestConfig;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The server: how it is reached, and with which credentials. Shared by all pools. Thread-safe. */
final class Connector {

    private static final Logger log = LoggerFactory.getLogger(Connector.class);

    /** Then it is tried again whether a server without TLS speaks HTTP/2: it may have been restarted. */
    private static final Duration BELIEVED_FOR = Duration.ofMinutes(1);

    private final String server;
    private final URI uri;
    private final Timekeeper timekeeper;
    private final Credentials credentials;
    private final DialGate gate;
    private final ObjIntConsumer<ServerRequest> observer;
    private final AtomicReference<@Nullable Addresses> addresses = new AtomicReference<>();
    private volatile @Nullable Long plainHttp11Since; // nanoseconds

    /**
     * A server.
     *
     * @param server its URL, with a path if there is one, without a slash at the end
     * @param config where TLS, proxies and credentials come from
     * @param requestConfig whom to impersonate, if anybody
     */
    Connector(
            String server,
            Config config,
            RequestConfig requestConfig,
            Timekeeper timekeeper,
            ObjIntConsumer<ServerRequest> observer) {
        this.server = server;
        this.uri = URI.create(server);
        this.timekeeper = timekeeper;
        this.observer = observer;
        this.credentials =
                new Credentials(() -> new IdentityReader(config, requestConfig, uri, timekeeper), timekeeper);
        this.gate = new DialGate(timekeeper, () -> ThreadLocalRandom.current().nextDouble());
    }

    Timekeeper timekeeper() {
        return timekeeper;
    }

    ObjIntConsumer<ServerRequest> observer() {
        return observer;
    }

    Credentials credentials() {
        return credentials;
    }

    /** Whether the server may be dialled now; shared by all but heartbeats. */
    DialGate gate() {
        return gate;
    }

    /** Finds where to connect to: every address of the server, or of the proxy before it. Never blocks. */
    CompletableFuture<List<InetSocketAddress>> addresses(Identity identity) {
        ConnectionSettings.Proxy proxy = identity.settings().proxy();
        String host = proxy == null ? Target.hostOf(uri) : proxy.host();
        int port = proxy == null ? Target.portOf(uri) : proxy.port();
        return addressesOf(host)
                .find()
                .thenApply(found -> found.stream()
                        .map(address -> new InetSocketAddress(address, port))
                        .toList());
    }

    /** What a connection to one of the addresses is made with. */
    Target target(Identity identity, InetSocketAddress address, boolean http2, Duration timeout) {
        return new Target(uri, identity.settings(), address, http2 && offersHttp2(identity), timeout);
    }

    /**
     * Returns whether to try once more, with HTTP/1.1, after a connection to {@code target} failed before it could be used.
     * Without TLS, a server does not say whether it speaks HTTP/2. One that cannot be reached, or is silent, may well.
     */
    boolean mayTryHttp11(Target target, @Nullable Throwable cause) {
        boolean unreachable = cause instanceof ConnectException || cause instanceof TimeoutException;
        return !target.secure() && target.multiplexed() && !unreachable;
    }

    /** An answer came over HTTP/1.1 where HTTP/2 had a chance: without TLS that is believed for a minute. */
    void answeredWithHttp11(Identity identity) {
        if (uri.getScheme().equals("https") || !offersHttp2(identity)) {
            return;
        }
        if (plainHttp11Since == null) {
            log.info("{} does not speak HTTP/2 without TLS: each watch has a connection of its own", server);
        }
        plainHttp11Since = timekeeper.nanoTime();
    }

    /** Returns the failure of the request {@code what} that {@code thrown} means. */
    ApiServerException unanswered(String what, Throwable thrown) {
        return NoAnswer.because(what, server, thrown);
    }

    private boolean offersHttp2(Identity identity) {
        ConnectionSettings.Proxy proxy = identity.settings().proxy();
        boolean secure = uri.getScheme().equals("https");
        if (identity.settings().http11Only() || (!secure && proxy != null && proxy.forwards())) {
            return false;
        }
        Long since = plainHttp11Since;
        return secure || since == null || timekeeper.nanoTime() - since >= BELIEVED_FOR.toNanos();
    }

    private Addresses addressesOf(String host) {
        Addresses known = addresses.get();
        if (known == null || !known.host().equals(host)) {
            known = new Addresses(host, timekeeper);
            addresses.set(known);
        }
        return known;
    }

    @Override
    public String toString() {
        return server;
    }
}
