package dev.podcache.kubelet.probe;

import com.google.common.base.Ascii;
import com.google.common.base.Strings;
import com.google.common.collect.ImmutableListMultimap;
import com.google.common.primitives.Ints;
import io.fabric8.kubernetes.api.model.HTTPGetAction;
import io.fabric8.kubernetes.api.model.HTTPHeader;
import java.net.URISyntaxException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The request of an HTTP probe. Immutable.
 *
 * @param target the path and the query
 * @param headers the headers by lower-case name, with {@code host}
 */
record HttpProbeRequest(
        boolean tls, ProbeAddress address, String target, ImmutableListMultimap<String, String> headers) {

    // follows NewRequestForHTTPGetAction of pkg/probe/http/request.go of Kubernetes

    private static final String HOST = "host";
    private static final String ESCAPED = "\"<>\\^`{|}";

    /**
     * Returns the request of a probe.
     *
     * @throws IllegalArgumentException if the port or the host cannot be determined; the message says why
     */
    static HttpProbeRequest of(HTTPGetAction get, ProbeTarget target, String userAgent) {
        ProbeAddress address = new ProbeAddress(target.host(get.getHost()), target.port(get.getPort()));
        ImmutableListMultimap.Builder<String, String> headers = ImmutableListMultimap.builder();
        boolean hasHost = false;
        boolean hasUserAgent = false;
        boolean hasAccept = false;
        for (HTTPHeader header : get.getHttpHeaders()) {
            String name = Ascii.toLowerCase(header.getName());
            String value = Strings.nullToEmpty(header.getValue());
            hasUserAgent |= name.equals("user-agent");
            hasAccept |= name.equals("accept");
            hasHost |= name.equals(HOST) && !value.isEmpty();
            // an empty value of these leaves out the header
            if (!value.isEmpty() || !(name.equals(HOST) || name.equals("user-agent") || name.equals("accept"))) {
                headers.put(name, value);
            }
        }
        if (!hasUserAgent) {
            headers.put("user-agent", userAgent);
        }
        if (!hasAccept) {
            headers.put("accept", "*/*");
        }
        if (!hasHost) {
            headers.put(HOST, address.toString());
        }
        boolean tls = "https".equals(Strings.nullToEmpty(get.getScheme()).toLowerCase(Locale.ROOT));
        String path = Strings.nullToEmpty(get.getPath());
        return new HttpProbeRequest(tls, address, requestTarget(path, StandardCharsets.UTF_8), headers.build());
    }

    private static String requestTarget(String path, Charset charset) {
        int fragment = path.indexOf('#');
        String sent = fragment < 0 ? path : path.substring(0, fragment);
        StringBuilder escaped = new StringBuilder(sent.startsWith("/") ? "" : "/");
        for (byte octet : sent.getBytes(charset)) {
            if (octet > ' ' && octet < 0x7f && ESCAPED.indexOf(octet) < 0) {
                escaped.append((char) octet);
            } else {
                escaped.append('%').append(String.format(Locale.ROOT, "%02X", octet));
            }
        }
        return escaped.toString();
    }

    /** Returns the URL, for messages. */
    String url() {
        return (tls ? "https://" : "http://") + address + target;
    }

    /**
     * Returns the request after a redirect; null if it leads to another host, to which probes do not follow.
     *
     * @param location has a byte in each character
     * @throws URISyntaxException if the location is invalid, or neither HTTP nor HTTPS
     */
    @Nullable
    HttpProbeRequest redirected(String location) throws URISyntaxException {
        HttpLocation given = HttpLocation.parse(location);
        if (given.isRelative()) {
            return new HttpProbeRequest(tls, address, redirectTarget(given, target), headers);
        }
        // as in a kubelet first: another host is no failure, whatever its scheme is
        if (!given.host().equalsIgnoreCase(address.host())) {
            return null;
        }
        boolean sameScheme = given.scheme().isEmpty();
        boolean toTls = sameScheme ? tls : given.scheme().equals("https");
        if (!sameScheme && !toTls && !given.scheme().equals("http")) {
            throw new URISyntaxException(location, "unsupported protocol scheme");
        }
        String usual = toTls ? "443" : "80";
        @Nullable Integer port = Ints.tryParse(given.port().isEmpty() ? usual : given.port());
        if (port == null || port < 1 || port > ProbeTarget.LAST_PORT) {
            throw new URISyntaxException(location, "invalid port");
        }
        ProbeAddress to = new ProbeAddress(given.host(), port);
        return new HttpProbeRequest(toTls, to, redirectTarget(given, "/"), sameScheme ? headers : headersFor(to));
    }

    private static String redirectTarget(HttpLocation location, String from) {
        return requestTarget(location.resolved(from), StandardCharsets.ISO_8859_1);
    }

    /** Returns the headers with the name of another host: as in Go, an absolute redirect drops the given name. */
    private ImmutableListMultimap<String, String> headersFor(ProbeAddress to) {
        ImmutableListMultimap.Builder<String, String> others = ImmutableListMultimap.builder();
        headers.entries().stream()
                .filter(header -> !header.getKey().equals(HOST))
                .forEach(others::put);
        return others.put(HOST, to.toString()).build();
    }
}
