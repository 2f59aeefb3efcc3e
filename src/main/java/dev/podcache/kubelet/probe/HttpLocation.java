package dev.podcache.kubelet.probe;

import com.google.common.base.Ascii;
import com.google.common.base.Splitter;
import com.google.common.base.Strings;
import java.net.URISyntaxException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where a redirect leads to. Each character is a byte of the header. What a location does not have is "". Immutable.
 *
 * @param scheme in lower case
 * @param host without brackets
 * @param port only digits
 * @param query with its question mark
 */
record HttpLocation(String scheme, String host, String port, String path, String query) {

    // follows parse and ResolveReference of net/url of Go, which takes what java.net.URI refuses, such as | { } in a
    // path
    // and _ in a host

    private static final Pattern PARTS =
            Pattern.compile("(?:([^:/?]+):)?(?://([^/?]*))?([^?]*)(\\?.*)?", Pattern.DOTALL);

    private static final Pattern SCHEME = Pattern.compile("[a-z][a-z0-9+.-]*");
    private static final Pattern SERVER = Pattern.compile("(\\[[^\\]]*\\]|[^:\\[\\] \\\\^`{|}]*)(?::([0-9]*))?");
    private static final Pattern NO_ESCAPE = Pattern.compile("%(?![0-9A-Fa-f]{2})");

    /**
     * Returns the parts of a location, without its fragment.
     *
     * @throws URISyntaxException if Go takes it for invalid, too
     */
    static HttpLocation parse(String location) throws URISyntaxException {
        int fragment = location.indexOf('#');
        String text = fragment < 0 ? location : location.substring(0, fragment);
        Matcher parts = PARTS.matcher(text);
        if (!parts.matches() || text.chars().anyMatch(each -> each < ' ' || each == 0x7f)) {
            throw new URISyntaxException(location, "invalid control character in URL");
        }
        String scheme = Ascii.toLowerCase(Strings.nullToEmpty(parts.group(1)));
        if (text.startsWith(":") || !(scheme.isEmpty() || SCHEME.matcher(scheme).matches())) {
            throw new URISyntaxException(location, "first path segment in URL cannot contain colon");
        }
        String authority = Strings.nullToEmpty(parts.group(2));
        Matcher server = SERVER.matcher(authority.substring(authority.lastIndexOf('@') + 1));
        if (!server.matches()) {
            throw new URISyntaxException(location, "invalid host or port");
        }
        String path = Strings.nullToEmpty(parts.group(3));
        if (NO_ESCAPE.matcher(path).find()) {
            throw new URISyntaxException(location, "invalid URL escape");
        }
        String host = Strings.nullToEmpty(server.group(1));
        return new HttpLocation(
                scheme,
                host.startsWith("[") ? host.substring(1, host.length() - 1) : host,
                Strings.nullToEmpty(server.group(2)),
                path,
                Strings.nullToEmpty(parts.group(4)));
    }

    /** Returns whether this has neither a scheme nor a host. */
    boolean isRelative() {
        return scheme.isEmpty() && host.isEmpty();
    }

    /**
     * Returns the path and the query.
     *
     * @param target those of the redirected request, or "/" if this is not relative
     */
    String resolved(String target) {
        int mark = target.indexOf('?');
        String before = mark < 0 ? target : target.substring(0, mark);
        if (path.isEmpty()) {
            return withoutDots(before) + (query.isEmpty() && mark >= 0 ? target.substring(mark) : query);
        }
        String whole = path.startsWith("/") ? path : before.substring(0, before.lastIndexOf('/') + 1) + path;
        return withoutDots(whole) + query;
    }

    /** Returns a path that begins with a slash without its segments {@code .} and {@code ..}. */
    private static String withoutDots(String path) {
        StringBuilder kept = new StringBuilder();
        boolean dots = false;
        for (String segment : Splitter.on('/').split(path.substring(1))) {
            dots = segment.equals(".") || segment.equals("..");
            if (!dots) {
                kept.append('/').append(segment);
            } else if (segment.equals("..")) {
                kept.setLength(Math.max(0, kept.lastIndexOf("/")));
            }
        }
        return dots ? kept.append('/').toString() : kept.toString();
    }
}
