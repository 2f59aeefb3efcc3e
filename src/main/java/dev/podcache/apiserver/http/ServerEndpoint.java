package dev.podcache.apiserver.http;

import com.google.common.net.InetAddresses;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.NoAnswer;
import dev.podcache.apiserver.credentials.ConnectionSettings;
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
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeoutException;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The API server as all pools connect to it: its addresses, its protocol, and the credentials for it. Thread-safe.
 *
 * <p>The JVM looks up the host name for each connection. One lookup runs at a time, on a thread of {@link
 * Timekeeper#urgent()}, and all connections that need it share it.
 */
final class ServerEndpoint {

    /*
     * The lock guards the fields that are not final. Lookups run and futures complete outside of it. A lookup that fails,
     * or takes longer than 2 s, does no harm while addresses are known from the one before.
     */

    private static final Logger log = LoggerFactory.getLogger(ServerEndpoint.class);

    /** How long an address that could not be connected to is tried last. */
    private static final Duration FAILING_FOR = Duration.ofMinutes(1);

    /** After this time, the known addresses are used while a lookup goes on. */
    private static final Duration FALLBACK_AFTER = Duration.ofSeconds(2);

    /** After this time, HTTP/2 is offered again to a server without TLS, because it may have been restarted. */
    private static final Duration PLAIN_HTTP11_FOR = Duration.ofMinutes(1);

    private final ServerUrl server;
    private final Timekeeper timekeeper;
    private final Credentials credentials;
    private final DialGate gate;
    private final ClientInterceptors interceptors;
    private final ObjIntConsumer<ServerRequest> observer;
    private @Nullable HostName host; // guarded by this; null before the first lookup
    private final Map<InetSocketAddress, Long> failing =
            new LinkedHashMap<>(); // guarded by this; when, in nanoseconds; the latest failure last
    private @Nullable Long plainHttp11Since; // guarded by this; nanoseconds

    /** A host name, of the server or of a proxy. Guarded by the endpoint. */
    private static final class HostName {
        private final String name;
        private @Nullable List<InetAddress> known; // the result of the last lookup that succeeded
        private @Nullable CompletableFuture<List<InetAddress>> lookup; // the one that runs

        HostName(String name) {
            this.name = name;
        }
    }

    /**
     * The parameters of one attempt to open a connection. Immutable.
     *
     * @param server the URL of the server
     * @param settings TLS material and proxy
     * @param address the resolved address of the proxy, or of the server without one
     * @param multiplexed whether to offer HTTP/2, by ALPN or, without TLS, with prior knowledge
     * @param timeout the timeout of the TCP connect, and again of the TLS handshake
     */
    record Target(
            ServerUrl server,
            ConnectionSettings settings,
            InetSocketAddress address,
            boolean multiplexed,
            Duration timeout) {

        boolean secure() {
            return server.secure();
        }

        String host() {
            return server.host();
        }

        int port() {
            return server.port();
        }

        /** Returns the path of the server's URL, which precedes the path of every request. */
        String path() {
            return server.path();
        }

        /** Returns whether an HTTP proxy forwards single requests, which it does without TLS. */
        boolean forwarded() {
            ProxyAddress proxy = settings.proxy();
            return proxy != null && !secure() && proxy.forwards();
        }

        /** Returns the same target, without an offer of HTTP/2. */
        Target withHttp11() {
            return new Target(server, settings, address, false, timeout);
        }

        /**
         * Returns whether to try again with HTTP/1.1 after a connection to this target failed before it could be used. A
         * server without TLS does not announce whether it supports HTTP/2. A server that cannot be reached or does not
         * answer may support it, so HTTP/1.1 is not tried.
         */
        boolean mayTryHttp11(Throwable cause) {
            boolean unreachable = cause instanceof ConnectException || cause instanceof TimeoutException;
            return !secure() && multiplexed && !unreachable;
        }
    }

    /**
     * Creates the endpoint of one server. Does not connect.
     *
     * @param config provides TLS, proxies and credentials
     * @param requestConfig names the user to impersonate, if any
     * @param interceptors run before each request
     * @param observer called as {@link ApiConnections} describes
     */
    ServerEndpoint(
            ServerUrl server,
            Config config,
            RequestConfig requestConfig,
            ClientInterceptors interceptors,
            Timekeeper timekeeper,
            ObjIntConsumer<ServerRequest> observer) {
        this.server = server;
        this.interceptors = interceptors;
        this.timekeeper = timekeeper;
        this.observer = observer;
        this.credentials = new Credentials(config, requestConfig, server, timekeeper, new IdentityProvider(timekeeper));
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

    /**
     * Returns the headers of a request with the credentials of {@code identity}, at once unless the client has interceptors.
     *
     * @return the headers, or exceptionally what an interceptor threw; then completed on a thread of {@link
     *     Timekeeper#urgent()}
     */
    CompletableFuture<Map<String, List<String>>> headers(ServerRequest request, Identity identity) {
        if (interceptors.isEmpty()) {
            return CompletableFuture.completedFuture(identity.headers());
        }
        CompletableFuture<Map<String, List<String>>> result = new CompletableFuture<>();
        try {
            return result.completeAsync(
                    () -> interceptors.headers(server.toString(), request, identity.headers()), timekeeper.urgent());
        } catch (RuntimeException | Error e) {
            // catches everything, because the request waits
            result.completeExceptionally(e);
            return result;
        }
    }

    /** Returns the gate that all traffic except heartbeats and probes must pass to dial the server. */
    DialGate gate() {
        return gate;
    }

    /**
     * Looks up all addresses to connect to: those of the proxy, or of the server without one. Never blocks.
     *
     * @return the addresses, those that failed last time at the end; or exceptionally an {@link UnknownHostException} if the
     *     lookup failed and none before succeeded. May never complete, if the lookup hangs
     */
    CompletableFuture<List<InetSocketAddress>> addresses(Identity identity) {
        ProxyAddress proxy = identity.settings().proxy();
        String name = proxy == null ? server.host() : proxy.host();
        int port = proxy == null ? server.port() : proxy.port();
        return addressesOf(name)
                .thenApply(found -> failingLast(found.stream()
                        .map(address -> new InetSocketAddress(address, port))
                        .toList()));
    }

    /**
     * A request may end before a silent address does. So the next attempts begin with another one, for a while: otherwise all
     * clients would stay with the servers that were not restarted last.
     */
    private synchronized List<InetSocketAddress> failingLast(List<InetSocketAddress> found) {
        long now = timekeeper.nanoTime();
        failing.keySet().retainAll(found);
        failing.values().removeIf(since -> now - since > FAILING_FOR.toNanos());
        List<InetSocketAddress> ordered = new ArrayList<>(found);
        ordered.removeAll(failing.keySet());
        ordered.addAll(failing.keySet());
        return ordered;
    }

    /** Reports whether a connection to {@code address} became usable. */
    synchronized void tried(InetSocketAddress address, boolean usable) {
        failing.remove(address);
        if (!usable) {
            failing.put(address, timekeeper.nanoTime());
        }
    }

    private CompletableFuture<List<InetAddress>> addressesOf(String name) {
        if (InetAddresses.isInetAddress(name)) {
            return CompletableFuture.completedFuture(List.of(InetAddresses.forString(name)));
        }
        HostName looked;
        CompletableFuture<List<InetAddress>> shared;
        boolean starts;
        List<InetAddress> before;
        synchronized (this) {
            looked = host != null && host.name.equals(name) ? host : new HostName(name);
            host = looked;
            starts = looked.lookup == null;
            shared = looked.lookup == null ? new CompletableFuture<>() : looked.lookup;
            looked.lookup = shared;
            before = looked.known;
        }
        if (starts) {
            begin(looked, shared);
        }
        CompletableFuture<List<InetAddress>> result = shared.copy();
        if (before != null) {
            Timekeeper.Scheduled fallback = timekeeper.schedule(FALLBACK_AFTER, () -> result.complete(before));
            result.whenComplete((found, failure) -> fallback.cancel());
        }
        return result;
    }

    private void begin(HostName looked, CompletableFuture<List<InetAddress>> result) {
        try {
            timekeeper.urgent().execute(() -> lookUp(looked, result));
        } catch (RuntimeException | Error e) {
            // catches everything, because every later connection would wait for this lookup
            ended(looked, result, null, e);
        }
    }

    private void lookUp(HostName looked, CompletableFuture<List<InetAddress>> result) {
        List<InetAddress> found = null;
        Throwable failure = null;
        try {
            found = List.of(InetAddress.getAllByName(looked.name));
        } catch (UnknownHostException | RuntimeException | Error e) {
            failure = e;
        }
        ended(looked, result, found, failure);
    }

    private void ended(
            HostName looked,
            CompletableFuture<List<InetAddress>> result,
            @Nullable List<InetAddress> found,
            @Nullable Throwable failure) {
        List<InetAddress> now;
        synchronized (this) {
            looked.lookup = null;
            looked.known = found == null ? looked.known : found;
            now = looked.known;
        }
        if (now != null) {
            result.complete(now);
        } else {
            result.completeExceptionally(ApiServerException.causeOf(failure));
        }
    }

    /** Returns the parameters of a connection to {@code address}. */
    Target target(Identity identity, InetSocketAddress address, boolean http2, Duration timeout) {
        return new Target(server, identity.settings(), address, http2 && offersHttp2(identity), timeout);
    }

    /** Reports an answer over HTTP/1.1. If HTTP/2 without TLS was possible, it is not offered again for a minute. */
    void answeredWithHttp11(Identity identity) {
        if (server.secure() || !offersHttp2(identity)) {
            return;
        }
        boolean first;
        synchronized (this) {
            first = plainHttp11Since == null;
            plainHttp11Since = timekeeper.nanoTime();
        }
        if (first) {
            log.info("{} does not support HTTP/2 without TLS; each watch uses its own HTTP/1.1 connection", server);
        }
    }

    private boolean offersHttp2(Identity identity) {
        ProxyAddress proxy = identity.settings().proxy();
        boolean secure = server.secure();
        if (identity.settings().http11Only() || (!secure && proxy != null && proxy.forwards())) {
            return false;
        }
        return secure || !knowsHttp11Only();
    }

    private synchronized boolean knowsHttp11Only() {
        return plainHttp11Since != null && timekeeper.nanoTime() - plainHttp11Since < PLAIN_HTTP11_FOR.toNanos();
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

    /** Returns the URL of the server. */
    @Override
    public String toString() {
        return server.toString();
    }
}
