package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.NoAnswer;
import dev.podcache.apiserver.credentials.Credentials;
import dev.podcache.apiserver.credentials.CredentialsException;
import dev.podcache.apiserver.credentials.Identity;
import dev.podcache.apiserver.credentials.ProxyRules.ProxyAddress;
import dev.podcache.apiserver.credentials.ServerUrl;
import dev.podcache.object.FailureReason;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.RequestConfig;
import java.net.ConnectException;
import java.net.InetSocketAddress;
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

/**
 * Provides the addresses, the protocol and the credentials to connect to the server. Shared by all pools. Thread-safe.
 */
final class Connector {

    private static final Logger log = LoggerFactory.getLogger(Connector.class);

    /** After this time, HTTP/2 is offered again to a server without TLS, because it may have been restarted. */
    private static final Duration PLAIN_HTTP11_FOR = Duration.ofMinutes(1);

    private final ServerUrl server;
    private final Timekeeper timekeeper;
    private final Credentials credentials;
    private final DialGate gate;
    private final ObjIntConsumer<ServerRequest> observer;
    private final AtomicReference<@Nullable Addresses> addresses = new AtomicReference<>();
    private volatile @Nullable Long plainHttp11Since; // nanoseconds

    /**
     * Creates a connector to one server.
     *
     * @param config provides TLS, proxies and credentials
     * @param requestConfig names the user to impersonate, if any
     */
    Connector(
            ServerUrl server,
            Config config,
            RequestConfig requestConfig,
            Timekeeper timekeeper,
            ObjIntConsumer<ServerRequest> observer) {
        this.server = server;
        this.timekeeper = timekeeper;
        this.observer = observer;
        this.credentials = new Credentials(config, requestConfig, server, timekeeper);
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

    /** Returns the gate that all traffic except heartbeats must pass to dial the server. */
    DialGate gate() {
        return gate;
    }

    /** Looks up all addresses to connect to: those of the proxy, or of the server without one. Never blocks. */
    CompletableFuture<List<InetSocketAddress>> addresses(Identity identity) {
        ProxyAddress proxy = identity.settings().proxy();
        String host = proxy == null ? server.host() : proxy.host();
        int port = proxy == null ? server.port() : proxy.port();
        return addressesOf(host)
                .find()
                .thenApply(found -> found.stream()
                        .map(address -> new InetSocketAddress(address, port))
                        .toList());
    }

    /** Returns the parameters of a connection to {@code address}. */
    Target target(Identity identity, InetSocketAddress address, boolean http2, Duration timeout) {
        return new Target(server, identity.settings(), address, http2 && offersHttp2(identity), timeout);
    }

    /**
     * Returns whether to try again with HTTP/1.1 after a connection to {@code target} failed before it could be used. A
     * server without TLS does not announce whether it supports HTTP/2. A server that cannot be reached or does not
     * answer may support it, so HTTP/1.1 is not tried.
     */
    boolean mayTryHttp11(Target target, @Nullable Throwable cause) {
        boolean unreachable = cause instanceof ConnectException || cause instanceof TimeoutException;
        return !target.secure() && target.multiplexed() && !unreachable;
    }

    /** Reports an answer over HTTP/1.1. If HTTP/2 without TLS was possible, it is not offered again for a minute. */
    void answeredWithHttp11(Identity identity) {
        if (server.secure() || !offersHttp2(identity)) {
            return;
        }
        if (plainHttp11Since == null) {
            log.info("{} does not support HTTP/2 without TLS; each watch uses its own HTTP/1.1 connection", server);
        }
        plainHttp11Since = timekeeper.nanoTime();
    }

    /** Returns the failure of {@code request} that {@code thrown} means. */
    ApiServerException unanswered(String request, Throwable thrown) {
        Throwable cause = ApiServerException.causeOf(thrown);
        if (cause instanceof CredentialsException unusable) {
            return ApiServerException.withoutAnswer(
                    FailureReason.UNAVAILABLE,
                    request,
                    "the credentials or settings for " + server + " cannot be used: " + unusable.getMessage(),
                    unusable);
        }
        return NoAnswer.because(request, server.toString(), thrown);
    }

    private boolean offersHttp2(Identity identity) {
        ProxyAddress proxy = identity.settings().proxy();
        boolean secure = server.secure();
        if (identity.settings().http11Only() || (!secure && proxy != null && proxy.forwards())) {
            return false;
        }
        Long since = plainHttp11Since;
        return secure || since == null || timekeeper.nanoTime() - since >= PLAIN_HTTP11_FOR.toNanos();
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
        return server.toString();
    }
}
