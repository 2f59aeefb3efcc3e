package dev.podcache.apiserver.http;

import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;

/**
 * What one attempt to open a connection is made with. Immutable.
 *
 * @param server the server's URL
 * @param settings TLS material and proxy
 * @param address of the server, or of the proxy if there is one; resolved
 * @param multiplexed whether to offer HTTP/2, by ALPN or, without TLS, by prior knowledge
 * @param timeout for each of TCP and TLS
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

    /** Returns the port that the URL, or its scheme, says. */
    static int portOf(URI url) {
        return url.getPort() >= 0 ? url.getPort() : url.getScheme().equals("https") ? 443 : 80;
    }

    /** The server's path, which begins every request's. */
    String path() {
        return server.getPath() == null ? "" : server.getPath();
    }

    /** Whether an HTTP proxy forwards each single request, which is what it does without TLS. */
    boolean forwarded() {
        ConnectionSettings.Proxy proxy = settings.proxy();
        return proxy != null && !secure() && proxy.forwards();
    }
}
