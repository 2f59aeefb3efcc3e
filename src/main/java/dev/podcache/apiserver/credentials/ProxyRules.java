package dev.podcache.apiserver.credentials;

import com.google.common.base.Splitter;
import com.google.common.base.Strings;
import com.google.common.net.InetAddresses;
import io.fabric8.kubernetes.client.Config;
import java.net.IDN;
import java.net.InetAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which proxy is in front of a server, by the rules of Go's {@code httpproxy}: HTTPS_PROXY for https and HTTP_PROXY for
 * http, upper case before lower case; NO_PROXY has hosts, which stand for their subdomains too, subdomains alone ({@code
 * .example} or {@code *.example}), addresses, networks, ports, or {@code *}; a loopback address has no proxy. Pure.
 */
public final class ProxyRules {

    private static final Pattern URL =
            Pattern.compile("([A-Za-z][A-Za-z0-9+.-]*)://(?:([^/?#]*)@)?([^/?#@]*)(?:[/?#].*)?", Pattern.DOTALL);
    private static final Pattern AUTHORITY = Pattern.compile("(\\[[^\\]]*\\]|[^:\\[\\]\\s]+)(?::(\\d{0,5}))?");
    private static final Map<String, Integer> PORTS =
            Map.of("http", 80, "https", 443, "socks5", 1080, "socks5h", 1080, "socks4", 1080, "socks", 1080);
    private static final int HIGHEST_PORT = 65_535;

    private final List<Exclusion> exclusions = new ArrayList<>();

    /** A proxy, with its credentials if it has any. {@code toString} does not show them. */
    public record ProxyAddress(
            String scheme,
            String host,
            int port,
            @Nullable String username,
            @Nullable String password) {

        /** Returns its URL without credentials. */
        String url() {
            return scheme + "://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port;
        }

        /** Returns whether it is reached by TLS. */
        public boolean secure() {
            return scheme.equals("https");
        }

        /** Returns whether it forwards single requests that do not use TLS. */
        public boolean forwards() {
            return scheme.equals("http") || scheme.equals("https");
        }

        ProxyAddress withCredentials(@Nullable String name, @Nullable String secret) {
            return username != null || Strings.isNullOrEmpty(name)
                    ? this
                    : new ProxyAddress(scheme, host, port, name, Strings.nullToEmpty(secret));
        }

        @Override
        public String toString() {
            return scheme.toUpperCase(Locale.ROOT) + " proxy " + host + ":" + port;
        }
    }

    /** A server, as an exclusion sees it. */
    private record NamedServer(
            String host, int port, @Nullable InetAddress address) {}

    /** One entry of NO_PROXY. */
    private interface Exclusion {
        boolean matches(NamedServer server);
    }

    private ProxyRules(Iterable<String> noProxy) {
        for (String each : noProxy) {
            String entry = each.strip().toLowerCase(Locale.ROOT);
            if (entry.equals("*")) {
                exclusions.clear();
                exclusions.add(any -> true);
                return;
            }
            Exclusion exclusion = entry.isEmpty() ? null : exclusion(entry);
            if (exclusion != null) {
                exclusions.add(exclusion);
            }
        }
    }

    /**
     * Returns the proxy that a kubeconfig names; null if {@code url} is empty.
     *
     * @throws RuntimeException of {@code refusal} if it is no URL of a proxy
     */
    static @Nullable ProxyAddress ofUrl(String url, Supplier<CredentialsException> refusal) {
        if (url.isEmpty()) {
            return null;
        }
        ProxyAddress proxy = parsed(url);
        if (proxy == null || !List.of("http", "https", "socks5").contains(proxy.scheme())) {
            throw refusal.get();
        }
        return proxy;
    }

    /**
     * Returns the proxy that the environment names for a server; null for none.
     *
     * @throws CredentialsException if it is no URL of a proxy, which Go ignores: then nothing would go through the proxy
     */
    static @Nullable ProxyAddress ofEnvironment(Map<String, String> environment, ServerUrl server) {
        String variable = server.secure() ? "HTTPS_PROXY" : "HTTP_PROXY";
        String named = first(environment, variable).strip();
        if (named.isEmpty() || isLoopback(server.host())) {
            return null;
        }
        ProxyAddress proxy = parsedAsGo(named);
        if (proxy == null) {
            throw new CredentialsException(
                    variable + " is not a URL with http, https or socks5: write it as http://HOST:PORT");
        }
        return new ProxyRules(Splitter.on(',').split(first(environment, "NO_PROXY"))).excludes(server) ? null : proxy;
    }

    /**
     * Returns the proxy that a configuration names for a server; null for none. It is used for a loopback address too,
     * because the configuration may be the only place that it is named in.
     *
     * @throws CredentialsException if it is no URL of a proxy
     */
    static @Nullable ProxyAddress of(Config config, ServerUrl server) {
        String named = Strings.nullToEmpty(server.secure() ? config.getHttpsProxy() : config.getHttpProxy())
                .strip();
        if (named.isEmpty()) {
            return null;
        }
        ProxyAddress proxy = parsedAsGo(named);
        if (proxy == null) {
            throw new CredentialsException((server.secure() ? "httpsProxy" : "httpProxy")
                    + " of the client's configuration is not a URL with http, https or socks5: write it as"
                    + " http://HOST:PORT");
        }
        String[] noProxy = config.getNoProxy() == null ? new String[0] : config.getNoProxy();
        List<String> entries = Arrays.stream(noProxy)
                .flatMap(each -> Splitter.on(',').splitToStream(Strings.nullToEmpty(each)))
                .toList();
        return new ProxyRules(entries).excludes(server)
                ? null
                : proxy.withCredentials(config.getProxyUsername(), config.getProxyPassword());
    }

    /** Makes {@code proxy} the only one that a configuration names; null for none. */
    static void set(Config config, @Nullable ProxyAddress proxy, boolean secure) {
        String url = proxy == null ? null : proxy.url();
        config.setHttpsProxy(secure ? url : null);
        config.setHttpProxy(secure ? null : url);
        config.setNoProxy(new String[0]);
        config.setProxyUsername(proxy == null ? null : proxy.username());
        config.setProxyPassword(proxy == null ? null : proxy.password());
    }

    private static String first(Map<String, String> environment, String name) {
        String upper = environment.getOrDefault(name, "");
        return upper.isEmpty() ? environment.getOrDefault(name.toLowerCase(Locale.ROOT), "") : upper;
    }

    /** Without a scheme that is known, a text is the host and port of an http proxy. */
    private static @Nullable ProxyAddress parsedAsGo(String text) {
        boolean hasScheme = PORTS.keySet().stream()
                .anyMatch(scheme -> text.toLowerCase(Locale.ROOT).startsWith(scheme + "://"));
        return parsed(hasScheme ? text : "http://" + text);
    }

    private static @Nullable ProxyAddress parsed(String text) {
        Matcher url = URL.matcher(text);
        if (!url.matches()) {
            return null;
        }
        String scheme = url.group(1).toLowerCase(Locale.ROOT);
        Matcher authority = AUTHORITY.matcher(url.group(3));
        if (!authority.matches()) {
            return null;
        }
        String host = authority.group(1).replaceAll("^\\[|\\]$", "");
        String named = Strings.nullToEmpty(authority.group(2));
        int port = named.isEmpty() ? PORTS.getOrDefault(scheme, 0) : Integer.parseInt(named);
        if (port > HIGHEST_PORT) {
            return null;
        }
        String userInfo = url.group(2);
        if (userInfo == null) {
            return new ProxyAddress(scheme, host, port, null, null);
        }
        int colon = userInfo.indexOf(':');
        String name = colon < 0 ? userInfo : userInfo.substring(0, colon);
        String secret = colon < 0 ? "" : userInfo.substring(colon + 1);
        try {
            return new ProxyAddress(scheme, host, port, decoded(name), decoded(secret));
        } catch (IllegalArgumentException e) {
            return null;
        }
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    private static boolean isLoopback(String host) {
        InetAddress address = address(host);
        return host.equals("localhost") || (address != null && address.isLoopbackAddress());
    }

    private boolean excludes(ServerUrl server) {
        NamedServer seen =
                new NamedServer(server.host().strip().toLowerCase(Locale.ROOT), server.port(), address(server.host()));
        return exclusions.stream().anyMatch(each -> each.matches(seen));
    }

    private static @Nullable InetAddress address(String text) {
        return InetAddresses.isInetAddress(text) ? InetAddresses.forString(text) : null;
    }

    private static @Nullable Exclusion exclusion(String entry) {
        Exclusion network = network(entry);
        if (network != null) {
            return network;
        }
        Optional<String[]> split = hostAndPort(entry);
        String host = split.map(each -> each[0]).orElse(entry);
        String port = split.map(each -> each[1]).orElse("");
        if (host.isEmpty()) {
            return null;
        }
        InetAddress address = address(host);
        if (address != null) {
            return server -> address.equals(server.address()) && isPort(port, server);
        }
        String suffix = host.startsWith("*.") ? host.substring(1) : host;
        boolean itself = !suffix.startsWith(".");
        String domain = ascii(itself ? "." + suffix : suffix);
        return server ->
                (server.host().endsWith(domain) || (itself && server.host().equals(domain.substring(1))))
                        && isPort(port, server);
    }

    private static boolean isPort(String port, NamedServer server) {
        return port.isEmpty() || port.equals(Integer.toString(server.port()));
    }

    private static String ascii(String domain) {
        try {
            return domain.chars().allMatch(each -> each < 0x80) ? domain : "." + IDN.toASCII(domain.substring(1));
        } catch (IllegalArgumentException e) {
            return domain;
        }
    }

    /** Go's {@code net.SplitHostPort}: an address of IPv6 has a port only behind brackets. */
    private static Optional<String[]> hostAndPort(String entry) {
        int colon = entry.lastIndexOf(':');
        if (colon < 0) {
            return Optional.empty();
        }
        String host = entry.substring(0, colon);
        boolean bracketed = host.startsWith("[") && host.endsWith("]");
        String inner = bracketed ? host.substring(1, host.length() - 1) : host;
        if (inner.contains("[") || inner.contains("]") || (!bracketed && inner.contains(":"))) {
            return Optional.empty();
        }
        return Optional.of(new String[] {inner, entry.substring(colon + 1)});
    }

    private static @Nullable Exclusion network(String entry) {
        int slash = entry.indexOf('/');
        InetAddress base = slash < 0 ? null : address(entry.substring(0, slash));
        String length = slash < 0 ? "" : entry.substring(slash + 1);
        if (base == null || !length.matches("\\d{1,3}")) {
            return null;
        }
        byte[] bytes = base.getAddress();
        int bits = Integer.parseInt(length);
        return bits > bytes.length * 8
                ? null
                : server ->
                        server.address() != null && startsAs(server.address().getAddress(), bytes, bits);
    }

    private static boolean startsAs(byte[] address, byte[] network, int bits) {
        if (address.length != network.length) {
            return false;
        }
        for (int bit = 0; bit < bits; bit++) {
            int mask = 0x80 >> (bit % 8);
            if ((address[bit / 8] & mask) != (network[bit / 8] & mask)) {
                return false;
            }
        }
        return true;
    }
}
