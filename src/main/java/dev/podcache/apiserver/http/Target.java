package dev.podcache.apiserver.http;

import dev.podcache.apiserver.credentials.ConnectionSettings;
import dev.podcache.apiserver.credentials.ProxyRules.ProxyAddress;
import dev.podcache.apiserver.credentials.ServerUrl;
import java.net.InetSocketAddress;
import java.time.Duration;

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
}
