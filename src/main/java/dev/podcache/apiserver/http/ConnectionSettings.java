package dev.podcache.apiserver.http;

import com.google.common.collect.ImmutableSet;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fabric8.kubernetes.client.http.TlsVersion;
import io.fabric8.kubernetes.client.utils.HttpClientUtils;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManager;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509KeyManager;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * How to connect by a {@link Config}: TLS material, proxy and timeout. It takes the place of the builder of one of
 * fabric8's clients and keeps what it is told, so that files, variables and properties are read by fabric8 alone.
 * Written by one thread, then only read.
 */
final class ConnectionSettings implements HttpClient.Builder {

    private final boolean verifiesHost;
    private final Map<String, Interceptor> interceptors = new LinkedHashMap<>();
    private Duration connectTimeout = Duration.ofSeconds(10);
    private @Nullable X509KeyManager keys;
    private @Nullable X509TrustManager trusted;
    private Set<String> tlsVersions = Set.of();
    private @Nullable String tlsServerName;
    private boolean http11Only;
    private @Nullable InetSocketAddress proxyAddress;
    private @Nullable String proxyAuthorization;
    private HttpClient.ProxyType proxyType = HttpClient.ProxyType.HTTP;

    private ConnectionSettings(boolean verifiesHost) {
        this.verifiesHost = verifiesHost;
    }

    /** The proxy before the server. */
    record Proxy(
            HttpClient.ProxyType type,
            String host,
            int port,
            @Nullable String username,
            @Nullable String password) {

        /** Whether it understands HTTP, so that it forwards requests without TLS one by one. */
        boolean forwards() {
            return type == HttpClient.ProxyType.HTTP;
        }

        /** Without the password. */
        @Override
        public String toString() {
            return type + " proxy " + host + ":" + port;
        }
    }

    /**
     * Reads a configuration, and the files that it names. Blocks.
     *
     * @param config whose tokens are used
     * @param tls everything else; may be {@code config} itself
     * @throws RuntimeException of fabric8's if a file cannot be read or a proxy's address has no port
     */
    static ConnectionSettings of(Config config, Config tls) {
        ConnectionSettings settings =
                new ConnectionSettings(!config.isTrustCerts() && !config.isDisableHostnameVerification());
        HttpClient.Factory factory = HttpClientUtils.getHttpClientFactory();
        HttpClientUtils.applyCommonConfiguration(tls, settings, factory);
        // in place of those of a copy, which would not see a new token
        HttpClientUtils.createApplicableInterceptors(config, factory).forEach(settings::addOrReplaceInterceptor);
        return settings;
    }

    boolean verifiesHost() {
        return verifiesHost;
    }

    Duration connectTimeout() {
        return connectTimeout;
    }

    @Nullable
    X509KeyManager keys() {
        return keys;
    }

    @Nullable
    X509TrustManager trusted() {
        return trusted;
    }

    Set<String> tlsVersions() {
        return tlsVersions;
    }

    /** The name to verify and to ask for (SNI) in place of the server's host; null for that. */
    @Nullable
    String tlsServerName() {
        return tlsServerName;
    }

    boolean http11Only() {
        return http11Only;
    }

    /** Returns the interceptors that add the headers with the credentials. */
    Map<String, Interceptor> interceptors() {
        return interceptors;
    }

    /** Returns the proxy to go through, or null. */
    @Nullable
    Proxy proxy() {
        InetSocketAddress address = proxyAddress;
        if (address == null || proxyType == HttpClient.ProxyType.DIRECT) {
            return null;
        }
        String[] credentials = credentials(proxyAuthorization);
        return new Proxy(proxyType, address.getHostString(), address.getPort(), credentials[0], credentials[1]);
    }

    /** fabric8's own reading of this drops a password that contains a colon. */
    private static @Nullable String[] credentials(@Nullable String basic) {
        if (basic == null) {
            return new @Nullable String[2];
        }
        String decoded =
                new String(Base64.getDecoder().decode(basic.replaceFirst("Basic ", "")), StandardCharsets.UTF_8);
        int colon = decoded.indexOf(':');
        return colon < 0
                ? new @Nullable String[] {decoded, ""}
                : new @Nullable String[] {decoded.substring(0, colon), decoded.substring(colon + 1)};
    }

    @Override
    public HttpClient build() {
        throw new UnsupportedOperationException("this builder only listens");
    }

    @Override
    public HttpClient.Builder connectTimeout(long timeout, TimeUnit unit) {
        connectTimeout = Duration.of(timeout, unit.toChronoUnit());
        return this;
    }

    @Override
    public HttpClient.Builder addOrReplaceInterceptor(String name, @Nullable Interceptor interceptor) {
        if (interceptor == null) {
            interceptors.remove(name);
        } else {
            interceptors.put(name, interceptor);
        }
        return this;
    }

    @Override
    public HttpClient.Builder authenticatorNone() {
        return this;
    }

    @Override
    public HttpClient.Builder sslContext(KeyManager @Nullable [] keys, TrustManager @Nullable [] trusted) {
        this.keys = keys != null && keys.length > 0 && keys[0] instanceof X509KeyManager key ? key : null;
        this.trusted =
                trusted != null && trusted.length > 0 && trusted[0] instanceof X509TrustManager trust ? trust : null;
        return this;
    }

    @Override
    public HttpClient.Builder followAllRedirects() {
        return this;
    }

    @Override
    public HttpClient.Builder proxyAddress(@Nullable InetSocketAddress address) {
        proxyAddress = address;
        return this;
    }

    @Override
    public HttpClient.Builder proxyAuthorization(@Nullable String credentials) {
        proxyAuthorization = credentials;
        return this;
    }

    @Override
    public HttpClient.Builder tlsVersions(TlsVersion... versions) {
        Set<String> names = new LinkedHashSet<>();
        for (TlsVersion version : versions) {
            names.add(version.javaName());
        }
        tlsVersions = ImmutableSet.copyOf(names);
        return this;
    }

    @Override
    public HttpClient.Builder tlsServerName(String name) {
        tlsServerName = name;
        return this;
    }

    @Override
    public HttpClient.Builder preferHttp11() {
        http11Only = true;
        return this;
    }

    @Override
    public HttpClient.Builder proxyType(HttpClient.ProxyType type) {
        proxyType = type;
        return this;
    }

    @Override
    public HttpClient.DerivedClientBuilder tag(Object tag) {
        return this;
    }
}
