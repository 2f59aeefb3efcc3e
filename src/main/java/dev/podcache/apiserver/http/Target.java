package dev.podcache.apiserver.http;

import java.net.InetSocketAddress;
import java.net.URI;
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
        URI server, ConnectionSettings settings, InetSocketAddress address, boolean multiplexed, Duration timeout) {

    boolean secure() {
        return server.getScheme().equals("https");
    }

    String host() {
        return hostOf(server);
    }

    int port() {
        return portOf(server);
    }

    /** Returns the host without the brackets that an IPv6 address has in a URL. */
    static String hostOf(URI url) {
        String host = url.getHost();
        return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
    }

    /** Returns the port of the URL, or the default port of its scheme. */
    static int portOf(URI url) {
        return url.getPort() >= 0 ? url.getPort() : url.getScheme().equals("https") ? 443 : 80;
    }

    /** Returns the path of the server's URL, which precedes the path of every request. */
    String path() {
        return server.getPath() == null ? "" : server.getPath();
    }

    /** Returns whether an HTTP proxy forwards single requests, which it does without TLS. */
    boolean forwarded() {
        ConnectionSettings.Proxy proxy = settings.proxy();
        return proxy != null && !secure() && proxy.forwards();
    }
}
