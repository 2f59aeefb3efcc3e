package dev.podcache.apiserver.credentials;

import com.google.common.base.CharMatcher;
import java.net.IDN;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The URL of an API server, in the forms that kubectl takes: the scheme in any case, a host with {@code _}, or {@code
 * HOST:PORT} alone, which means {@code http}. A query and a fragment are dropped. Immutable.
 *
 * @param scheme {@code http} or {@code https}
 * @param host without the brackets of an IPv6 address
 * @param port of the URL, or the usual one of its scheme
 * @param path empty, or with a slash at its beginning and none at its end
 */
public record ServerUrl(String scheme, String host, int port, String path) {

    private static final Pattern URL =
            Pattern.compile("(?:([A-Za-z][A-Za-z0-9+.-]*)://)?([^/?#]*)(/[^?#]*)?(?:[?#].*)?", Pattern.DOTALL);
    private static final Pattern AUTHORITY =
            Pattern.compile("(\\[[0-9A-Fa-f:.]+(?:%[\\w.~-]+)?\\]|[^:\\[\\]]+)(?::(\\d{0,5}))?");
    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9._~!$&'()*+,;=-]+");
    // possessive: else it takes stack for each character
    private static final Pattern PATH = Pattern.compile("(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*+");
    private static final int HIGHEST_PORT = 65_535;

    /** Returns the URL in {@code text}; empty if it is none, or has credentials in it. */
    public static Optional<ServerUrl> parse(String text) {
        Matcher parts = URL.matcher(text);
        if (!parts.matches()) {
            return Optional.empty();
        }
        boolean bare = parts.group(1) == null;
        String scheme = bare ? "http" : parts.group(1).toLowerCase(Locale.ROOT);
        String path = parts.group(3) == null ? "" : CharMatcher.is('/').trimTrailingFrom(parts.group(3));
        Matcher authority = AUTHORITY.matcher(parts.group(2));
        boolean isHttp = scheme.equals("http") || scheme.equals("https");
        if (!isHttp
                || (bare && !path.isEmpty())
                || !authority.matches()
                || !PATH.matcher(path).matches()) {
            return Optional.empty();
        }
        String named = authority.group(2);
        int port = named == null || named.isEmpty() ? usualPort(scheme) : Integer.parseInt(named);
        return port > HIGHEST_PORT
                ? Optional.empty()
                : host(authority.group(1)).map(host -> new ServerUrl(scheme, host, port, path));
    }

    /** Returns whether {@code text} is a URL with a user name in it. */
    static boolean hasCredentials(String text) {
        Matcher parts = URL.matcher(text);
        return parts.matches() && parts.group(2).contains("@");
    }

    private static Optional<String> host(String text) {
        if (text.startsWith("[")) {
            return Optional.of(text.substring(1, text.length() - 1));
        }
        try {
            String ascii = text.chars().allMatch(each -> each < 0x80) ? text : IDN.toASCII(text);
            return HOST.matcher(ascii).matches() ? Optional.of(ascii) : Optional.empty();
        } catch (IllegalArgumentException noHost) {
            return Optional.empty();
        }
    }

    private static int usualPort(String scheme) {
        return scheme.equals("https") ? 443 : 80;
    }

    /** Returns whether the server is reached by TLS. */
    public boolean secure() {
        return scheme.equals("https");
    }

    /** Returns host and port as the Host header has them: without the usual port. */
    public String authority() {
        String named = host.contains(":") ? "[" + host + "]" : host;
        return named + (port == usualPort(scheme) ? "" : ":" + port);
    }

    /** Returns the URL without a slash at its end. */
    @Override
    public String toString() {
        return scheme + "://" + authority() + path;
    }
}
