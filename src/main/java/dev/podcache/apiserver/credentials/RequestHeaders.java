package dev.podcache.apiserver.credentials;

import com.google.common.base.Strings;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.RequestConfig;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The headers that are in every request: the credentials, whom to act as, the user agent and those of the caller. Each
 * value is checked here, before a library gets it, which may quote what it refuses.
 */
final class RequestHeaders {

    static final String AUTHORIZATION = "Authorization";
    static final String IMPERSONATE_UID = "Impersonate-Uid";

    private static final String IMPERSONATE = "Impersonate-";

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
        if (!Strings.isNullOrEmpty(config.getUserAgent())) {
            made.add("User-Agent", config.getUserAgent(), "the user agent");
        }
        if (config.getCustomHeaders() != null) {
            config.getCustomHeaders().forEach((name, value) -> made.add(name, value, custom(name)));
        }
        made.addImpersonation(as);
        if (authorization != null) {
            made.add(AUTHORIZATION, authorization, "the token or password");
        }
        return made.headers;
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
                    add(IMPERSONATE + "Extra-" + HeaderValues.escaped(key), value, "a value of as-user-extra");
                }
            });
        }
    }

    private void add(String name, @Nullable String value, String what) {
        if (!HeaderValues.isName(name)) {
            throw new CredentialsException(
                    "the name of a custom header cannot be sent: use letters, digits and - in it");
        }
        String sent = HeaderValues.wire(Strings.nullToEmpty(value))
                .orElseThrow(() -> new CredentialsException(
                        what + " has a line break or another control character, which no header may have: remove it"));
        // HTTP/2 has names in lower case, and the server takes both as one
        String same = headers.keySet().stream()
                .filter(known -> known.equalsIgnoreCase(name))
                .findFirst()
                .orElse(name);
        headers.computeIfAbsent(same, any -> new ArrayList<>()).add(sent);
    }
}
