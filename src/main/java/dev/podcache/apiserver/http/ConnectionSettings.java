package dev.podcache.apiserver.http;

import com.google.common.collect.ImmutableSet;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fabric8.kubernetes.client.http.TlsVersion;
import io.fabric8.kubernetes.client.utils.HttpClientUtils;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManager;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509KeyManager;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * The settings of connections by a {@link Config}: TLS material, proxy and timeout. Implements the builder of fabric8's
 * HTTP clients and records the calls, so that only fabric8 interprets files, environment variables and properties.
 * Written by one thread, then only read.
 */
final class ConnectionSettings implements HttpClient.Builder {

    private final boolean verifiesHost;
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

    /** The proxy in front of the server. */
    record Proxy(
            HttpClient.ProxyType type,
            String host,
            int port,
            @Nullable String username,
            @Nullable String password) {

        /** Returns whether this is an HTTP proxy, which forwards single requests unless they use TLS. */
        boolean forwards() {
            return type == HttpClient.ProxyType.HTTP;
        }

        /** Returns type and address, without the credentials. */
        @Override
        public String toString() {
            return type + " proxy " + host + ":" + port;
        }
    }

    /**
     * Reads a configuration and the files that it names. Blocks. If it names an authority, only that authority is trusted,
     * as by kubectl. fabric8 would also trust all those of the Java runtime, and read them first.
     *
     * @param config says whether the server's certificate is verified
     * @param tls provides everything else; may be {@code config} itself
     * @throws RuntimeException from fabric8, if a file cannot be read or a proxy's address has no port
     */
    static ConnectionSettings of(Config config, Config tls) {
        ConnectionSettings settings =
                new ConnectionSettings(!config.isTrustCerts() && !config.isDisableHostnameVerification());
        Optional<X509TrustManager> authority = Authorities.of(tls);
        // fabric8 reads no authorities if it is to trust every server
        Config rest = authority.isEmpty()
                ? tls
                : new ConfigBuilder(tls)
                        .withAutoConfigure(false)
                        .withTrustCerts(true)
                        .build();
        HttpClientUtils.applyCommonConfiguration(rest, settings, HttpClientUtils.getHttpClientFactory());
        authority.ifPresent(trust -> settings.trusted = trust);
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

    /** Returns the name to verify and to send as SNI; null for the server's host. */
    @Nullable
    String tlsServerName() {
        return tlsServerName;
    }

    boolean http11Only() {
        return http11Only;
    }

    /** Returns the proxy in front of the server, or null. */
    @Nullable
    Proxy proxy() {
        InetSocketAddress address = proxyAddress;
        if (address == null || proxyType == HttpClient.ProxyType.DIRECT) {
            return null;
        }
        String[] credentials = credentials(proxyAuthorization);
        return new Proxy(proxyType, address.getHostString(), address.getPort(), credentials[0], credentials[1]);
    }

    /** Splits Basic credentials into user name and password. fabric8's own method drops a password with a colon. */
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
        throw new UnsupportedOperationException("this builder only records settings");
    }

    @Override
    public HttpClient.Builder connectTimeout(long timeout, TimeUnit unit) {
        connectTimeout = Duration.of(timeout, unit.toChronoUnit());
        return this;
    }

    @Override
    public HttpClient.Builder addOrReplaceInterceptor(String name, @Nullable Interceptor interceptor) {
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
