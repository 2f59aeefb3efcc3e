package dev.podcache.apiserver.credentials;

import com.google.common.base.Strings;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.RequestConfig;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The headers that are in every request: the credentials, whom to act as, the user agent and those of the caller. Each
 * value is checked here, before a library gets it, which may quote what it refuses.
 */
public final class RequestHeaders {

    static final String AUTHORIZATION = "Authorization";
    static final String IMPERSONATE_UID = "Impersonate-Uid";

    /** Names this library to the server and its audit log. */
    static final String USER_AGENT = "podcache/"
            + Objects.requireNonNullElse(RequestHeaders.class.getPackage().getImplementationVersion(), "0.0.0");

    private static final String IMPERSONATE = "Impersonate-";
    private static final String TOKEN_MARKS = "!#$&'*+-.^_`|~";

    private final Map<String, List<String>> headers = new LinkedHashMap<>();

    private RequestHeaders() {}

    /**
     * Returns the headers of a client.
     *
     * @param as whom to act as
     * @param authorization the value of the header with the credentials; null for none
     * @throws CredentialsException if a value cannot be sent; the message names it and does not quote it
     */
    static Map<String, List<String>> of(Config config, RequestConfig as, @Nullable String authorization) {
        RequestHeaders made = new RequestHeaders();
        made.add("Accept", "application/json", "");
        made.add("User-Agent", userAgent(config.getUserAgent()), "the user agent");
        if (config.getCustomHeaders() != null) {
            config.getCustomHeaders().forEach((name, value) -> made.add(name, value, custom(name)));
        }
        made.addImpersonation(as);
        if (authorization != null) {
            made.add(AUTHORIZATION, authorization, "the token or password");
        }
        return made.headers;
    }

    /** Returns the user agent of a client with ours after it, unless it is in it. */
    static String userAgent(@Nullable String ofClient) {
        String before = Strings.nullToEmpty(ofClient).strip();
        return before.contains(USER_AGENT) ? before : (before + " " + USER_AGENT).strip();
    }

    private static String custom(String name) {
        return name.equals(IMPERSONATE_UID) ? "as-uid" : "a custom header";
    }

    /** Returns the credentials of a user with a password. */
    static String basic(String username, @Nullable String password) {
        String both = username + ":" + Strings.nullToEmpty(password);
        return "Basic " + Base64.getEncoder().encodeToString(both.getBytes(StandardCharsets.UTF_8));
    }

    static String bearer(String token) {
        return "Bearer " + token;
    }

    private void addImpersonation(RequestConfig as) {
        if (Strings.isNullOrEmpty(as.getImpersonateUsername())) {
            return;
        }
        add(IMPERSONATE + "User", as.getImpersonateUsername(), "the user to act as (as)");
        if (as.getImpersonateGroups() != null) {
            for (String group : as.getImpersonateGroups()) {
                add(IMPERSONATE + "Group", group, "a group to act as (as-groups)");
            }
        }
        if (as.getImpersonateExtras() != null) {
            as.getImpersonateExtras().forEach((key, values) -> {
                for (String value : values == null ? List.<String>of() : values) {
                    add(IMPERSONATE + "Extra-" + escaped(key), value, "a value of as-user-extra");
                }
            });
        }
    }

    private void add(String name, @Nullable String value, String what) {
        if (!isName(name)) {
            throw new CredentialsException(
                    "the name of a custom header cannot be sent: use letters, digits and - in it");
        }
        String sent = wire(Strings.nullToEmpty(value))
                .orElseThrow(() -> new CredentialsException(
                        what + " has a line break or another control character, which no header may have: remove it"));
        // HTTP/2 has names in lower case, and the server takes both as one
        String same = headers.keySet().stream()
                .filter(known -> known.equalsIgnoreCase(name))
                .findFirst()
                .orElse(name);
        headers.computeIfAbsent(same, any -> new ArrayList<>()).add(sent);
    }

    /**
     * Returns a value as it goes over the wire: its bytes in UTF-8, one in each character, without blanks around them.
     *
     * @return empty if it has a line break or another control character, which no header may have
     */
    public static Optional<String> wire(String value) {
        boolean legal = value.chars().allMatch(each -> each == '\t' || (each >= 0x20 && each != 0x7f));
        if (!legal) {
            return Optional.empty();
        }
        String bytes = new String(value.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        int start = 0;
        int end = bytes.length();
        while (start < end && isBlank(bytes.charAt(start))) {
            start++;
        }
        while (end > start && isBlank(bytes.charAt(end - 1))) {
            end--;
        }
        return Optional.of(bytes.substring(start, end));
    }

    private static boolean isBlank(char each) {
        return each == ' ' || each == '\t';
    }

    /** Returns whether a text can be the name of a header. */
    private static boolean isName(String name) {
        return !name.isEmpty() && name.chars().allMatch(each -> each == '%' || isTokenMark(each));
    }

    /** Returns a text as a part of the name of a header, as client-go escapes the keys of {@code as-user-extra}. */
    private static String escaped(String key) {
        StringBuilder escaped = new StringBuilder();
        for (byte each : key.getBytes(StandardCharsets.UTF_8)) {
            if (isTokenMark(each)) {
                escaped.append((char) each);
            } else {
                escaped.append(String.format(Locale.ROOT, "%%%02x", each & 0xff));
            }
        }
        return escaped.toString();
    }

    private static boolean isTokenMark(int each) {
        return (each >= '0' && each <= '9')
                || (each >= 'a' && each <= 'z')
                || (each >= 'A' && each <= 'Z')
                || TOKEN_MARKS.indexOf(each) >= 0;
    }
}
