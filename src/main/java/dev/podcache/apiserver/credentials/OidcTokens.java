package dev.podcache.apiserver.credentials;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.base.Splitter;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.credentials.Credentials.ProviderRequests;
import dev.podcache.apiserver.credentials.KubeconfigEntries.AuthProviderEntry;
import dev.podcache.apiserver.credentials.ProxyRules.ProxyAddress;
import dev.podcache.object.FailureReason;
import dev.podcache.object.Quoted;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The ID tokens of an identity provider ({@code auth-provider: oidc}), by the rules of client-go. A token that is about to
 * expire is renewed: the issuer's discovery document names the endpoint, which takes the refresh token. What it returns is
 * written to the kubeconfig, because a provider may accept a refresh token only once. Blocks while the provider is asked.
 * Used by one read at a time. No message has a token, a client secret or what the provider sent.
 */
final class OidcTokens {

    private static final Logger log = LoggerFactory.getLogger(OidcTokens.class);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String ISSUER = "idp-issuer-url";
    private static final String CLIENT = "client-id";
    private static final String ID_TOKEN = "id-token";
    private static final String REFRESH_TOKEN = "refresh-token";
    private static final int TOKEN_PARTS = 3;

    /** As {@link Credentials} reads again. */
    private static final Duration BEFORE_EXPIRY = Duration.ofMinutes(1);

    private final ProviderRequests requests;
    private final Function<ServerUrl, @Nullable ProxyAddress> proxies;
    private final Timekeeper timekeeper;
    private @Nullable Map<String, String>
            given; // what the kubeconfig has since the last renewal; null before the first
    private Map<String, String> renewed = Map.of(); // what counts while it has that

    /** @param proxies which proxy is in front of a server */
    OidcTokens(ProviderRequests requests, Function<ServerUrl, @Nullable ProxyAddress> proxies, Timekeeper timekeeper) {
        this.requests = requests;
        this.proxies = proxies;
        this.timekeeper = timekeeper;
    }

    /**
     * A token. {@code toString} does not show it.
     *
     * @param expires null if it does not say
     */
    record IdToken(String text, @Nullable Instant expires) {

        @Override
        public String toString() {
            return "ID token until " + expires;
        }
    }

    /**
     * Checks what a kubeconfig says of a provider.
     *
     * @throws CredentialsException of {@code refusal} if client-go refuses it
     */
    static void requireLegal(AuthProviderEntry provider, Function<String, CredentialsException> refusal) {
        if (!provider.name().equals("oidc")) {
            throw refusal.apply("auth-provider must be oidc, the others are gone: use a credential plugin");
        }
        for (String field : List.of(ISSUER, CLIENT)) {
            if (value(provider.config(), field).isEmpty()) {
                throw refusal.apply("auth-provider has no " + field + " in its config: add it");
            }
        }
        issuer(provider.config(), refusal);
    }

    /** Returns the token that a kubeconfig has, which may have expired; empty if it has none. */
    static String known(AuthProviderEntry provider) {
        return value(provider.config(), ID_TOKEN);
    }

    /**
     * Returns a token that has not expired. Blocks if it must be renewed.
     *
     * @param file the kubeconfig to write renewed tokens to; null for none
     * @param user whose {@code auth-provider} it is
     * @param refusal makes the exception that names file and user
     * @throws CredentialsException if there is none, or the provider refuses to renew it
     * @throws ApiServerException if the provider does not answer
     */
    IdToken token(
            AuthProviderEntry provider,
            @Nullable Path file,
            String user,
            Function<String, CredentialsException> refusal) {
        Map<String, String> config = provider.config().equals(given) ? renewed : provider.config();
        IdToken token = idToken(config);
        Instant now = timekeeper.wallTime();
        Instant end = token.expires();
        if (end != null && now.isBefore(end.minus(BEFORE_EXPIRY))) {
            return token;
        }
        try {
            requireLegal(provider, refusal);
            Map<String, String> fresh = renew(config, refusal);
            keep(provider.config(), fresh, file, user);
            return idToken(fresh);
        } catch (CredentialsException | ApiServerException e) {
            if (end != null && now.isBefore(end)) {
                // it is good for some more seconds, and the next read tries again
                return token;
            }
            throw e;
        }
    }

    private static String value(Map<String, String> config, String field) {
        return config.getOrDefault(field, "");
    }

    /** Reads when a token expires. Its signature is the server's business. */
    private static IdToken idToken(Map<String, String> config) {
        String text = value(config, ID_TOKEN);
        List<String> parts = Splitter.on('.').splitToList(text);
        if (parts.size() == TOKEN_PARTS) {
            try {
                JsonNode end = JSON.readTree(Base64.getUrlDecoder().decode(parts.get(1)))
                        .path("exp");
                return new IdToken(text, end.isNumber() ? Instant.ofEpochSecond(end.asLong()) : null);
            } catch (IOException | IllegalArgumentException | DateTimeException e) {
                // as one that has expired; the message may quote it
            }
        }
        return new IdToken(text, null);
    }

    private Map<String, String> renew(Map<String, String> config, Function<String, CredentialsException> refusal) {
        String refresh = value(config, REFRESH_TOKEN);
        if (refresh.isEmpty()) {
            throw refusal.apply("auth-provider has no id-token that is valid now, and no refresh-token: log in again");
        }
        ServerUrl issuer = issuer(config, refusal);
        JsonNode discovered =
                json(send(config, issuer, "/.well-known/openid-configuration", null, false, refusal), refusal);
        URI endpoint = endpoint(discovered.path("token_endpoint").asText(""), issuer, refusal);
        ServerUrl server = ServerUrl.parse(endpoint.getScheme() + "://" + endpoint.getRawAuthority())
                .orElseThrow(() -> noEndpoint(refusal));
        String path = endpoint.getRawPath() + (endpoint.getRawQuery() == null ? "" : "?" + endpoint.getRawQuery());
        JsonNode answer = json(exchanged(config, refresh, server, path, refusal), refusal);
        String token = answer.path("id_token").asText("");
        if (token.isEmpty()) {
            throw refusal.apply(
                    "auth-provider: the identity provider sent no ID token: ask it for the scope openid, and log in again");
        }
        Map<String, String> fresh = new LinkedHashMap<>(config);
        fresh.put(ID_TOKEN, token);
        String next = answer.path("refresh_token").asText("");
        if (!next.isEmpty()) {
            fresh.put(REFRESH_TOKEN, next);
        }
        return fresh;
    }

    /** Names the client in the header first and in the form if that is refused, as Go does: providers take either. */
    private byte[] exchanged(
            Map<String, String> config,
            String refresh,
            ServerUrl server,
            String path,
            Function<String, CredentialsException> refusal) {
        Map<String, String> form = new LinkedHashMap<>();
        form.put("grant_type", "refresh_token");
        form.put("refresh_token", refresh);
        try {
            return send(config, server, path, encoded(form), true, refusal);
        } catch (CredentialsException refused) {
            form.put("client_id", value(config, CLIENT));
            String secret = value(config, "client-secret");
            if (!secret.isEmpty()) {
                form.put("client_secret", secret);
            }
            return send(config, server, path, encoded(form), false, refusal);
        }
    }

    private static String encoded(Map<String, String> form) {
        return form.entrySet().stream()
                .map(field -> field.getKey() + "=" + encoded(field.getValue()))
                .collect(Collectors.joining("&"));
    }

    private static String encoded(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8);
    }

    private static ServerUrl issuer(Map<String, String> config, Function<String, CredentialsException> refusal) {
        String text = value(config, ISSUER);
        return ServerUrl.parse(text)
                .filter(url -> text.contains("://"))
                .orElseThrow(() ->
                        refusal.apply("auth-provider has an " + ISSUER + " that is no URL: write it as https://HOST"));
    }

    private static URI endpoint(String text, ServerUrl issuer, Function<String, CredentialsException> refusal) {
        try {
            URI endpoint = new URI(text);
            boolean known = "https".equalsIgnoreCase(endpoint.getScheme())
                    || (!issuer.secure() && "http".equalsIgnoreCase(endpoint.getScheme()));
            if (known && endpoint.getRawAuthority() != null) {
                return endpoint;
            }
        } catch (URISyntaxException e) {
            // refused below, without what the message quotes
        }
        throw noEndpoint(refusal);
    }

    private static CredentialsException noEndpoint(Function<String, CredentialsException> refusal) {
        return refusal.apply(
                "auth-provider: the identity provider names no token_endpoint that can be used: check " + ISSUER);
    }

    private static JsonNode json(byte[] answer, Function<String, CredentialsException> refusal) {
        try {
            return JSON.readTree(answer);
        } catch (IOException e) {
            // the message may quote a token
            throw refusal.apply("auth-provider: the identity provider did not answer with JSON: check " + ISSUER);
        }
    }

    /** @param form of a POST; null for a GET */
    private byte[] send(
            Map<String, String> config,
            ServerUrl server,
            String path,
            @Nullable String form,
            boolean clientInHeader,
            Function<String, CredentialsException> refusal) {
        Config connection = Config.empty();
        connection.setAutoConfigure(false);
        connection.setMasterUrl(server.toString());
        String data = value(config, "idp-certificate-authority-data");
        String authority = value(config, "idp-certificate-authority");
        connection.setCaCertData(data.isEmpty() ? null : data);
        connection.setCaCertFile(authority.isEmpty() ? null : authority);
        if (clientInHeader) {
            connection.setUsername(encoded(value(config, CLIENT)));
            connection.setPassword(encoded(value(config, "client-secret")));
        }
        try {
            ProxyRules.set(connection, proxies.apply(server), server.secure());
            return requests.send(connection, path, form);
        } catch (CredentialsException e) {
            throw refusal.apply("auth-provider: identity provider " + server + ": " + e.getMessage());
        } catch (ApiServerException e) {
            int code = e.httpCode();
            boolean mayPass = code == 0 || code == 408 || code == 429 || code >= 500;
            if (!mayPass) {
                throw refusal.apply("auth-provider: identity provider " + server + " refused to renew the token ("
                        + code + "): log in again, and check client-id and client-secret");
            }
            throw ApiServerException.withoutAnswer(
                    e.reason() == FailureReason.TIMEOUT ? FailureReason.TIMEOUT : FailureReason.UNAVAILABLE,
                    "renewing the ID token",
                    // the message of an answer may quote what was sent
                    code == 0 ? String.valueOf(e.getMessage()) : "identity provider " + server + " answered " + code,
                    null);
        }
    }

    private void keep(Map<String, String> inFile, Map<String, String> fresh, @Nullable Path file, String user) {
        Map<String, String> changes = new LinkedHashMap<>();
        for (String field : List.of(ID_TOKEN, REFRESH_TOKEN)) {
            String before = value(inFile, field);
            if (!before.isEmpty() && !before.equals(fresh.get(field))) {
                changes.put(field, value(fresh, field));
            }
        }
        boolean written = file != null && KubeconfigEntries.replaceInAuthProvider(file, user, changes);
        if (file != null && !written) {
            log.warn(
                    "the renewed tokens of user {} could not be written to kubeconfig {}; this program goes on with them,"
                            + " but other programs may have to log in again; make the file writable",
                    Quoted.value(user),
                    file);
        }
        Map<String, String> now = new LinkedHashMap<>(inFile);
        if (written) {
            now.putAll(changes);
        }
        given = now;
        renewed = fresh;
    }
}
