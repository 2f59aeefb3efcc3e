package dev.podcache.apiserver.stream;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fabric8.kubernetes.client.http.TlsVersion;
import io.fabric8.kubernetes.client.utils.HttpClientUtils;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.ProxyOptions;
import io.vertx.core.net.ProxyType;
import io.vertx.core.net.TrustOptions;
import java.net.InetSocketAddress;
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
 * What fabric8 makes of a {@link Config}: poses as the builder of one of its clients and writes down what it is told.
 * So TLS material, proxies with their exceptions, timeouts and credentials are fabric8's own reading of files,
 * variables and properties, not a second one of ours. Used by one thread, then only read.
 */
final class ConnectionSettings implements HttpClient.Builder {

    private static final int STREAM_WINDOW = 1 << 20;
    private static final int CONNECTION_WINDOW = 16 << 20;

    private final HttpClientOptions options = new HttpClientOptions();
    private final Map<String, Interceptor> interceptors = new LinkedHashMap<>();
    private @Nullable InetSocketAddress proxyAddress;
    private @Nullable String proxyAuthorization;
    private HttpClient.ProxyType proxyType = HttpClient.ProxyType.HTTP;

    private ConnectionSettings() {}

    /**
     * Reads a configuration, and the files that it names.
     *
     * @throws RuntimeException of fabric8's if a file cannot be read or a proxy's address has no port
     */
    static ConnectionSettings of(Config config) {
        ConnectionSettings settings = new ConnectionSettings();
        HttpClientUtils.applyCommonConfiguration(config, settings, HttpClientUtils.getHttpClientFactory());
        settings.options.setVerifyHost(!config.isTrustCerts() && !config.isDisableHostnameVerification());
        return settings;
    }

    /** For HTTP/1.1, a new connection for each request. */
    HttpClientOptions single() {
        return throughProxy().setProtocolVersion(HttpVersion.HTTP_1_1).setKeepAlive(false);
    }

    /** For HTTP/1.1, one request after the other over a connection that is kept. */
    HttpClientOptions kept() {
        return throughProxy().setProtocolVersion(HttpVersion.HTTP_1_1);
    }

    /**
     * For HTTP/2, by ALPN or, without TLS, by prior knowledge. Vert.x closes such a connection after a time whether it
     * is in use or not; that is switched off. What is received is passed on at once, so the windows hold nothing back,
     * and one large event does not keep those of other streams waiting.
     */
    HttpClientOptions multiplexed() {
        return throughProxy()
                .setProtocolVersion(HttpVersion.HTTP_2)
                .setUseAlpn(true)
                .setHttp2ClearTextUpgrade(false)
                .setKeepAlive(false)
                .setHttp2KeepAliveTimeout(0)
                .setHttp2ConnectionWindowSize(CONNECTION_WINDOW)
                .setInitialSettings(new Http2Settings().setPushEnabled(false).setInitialWindowSize(STREAM_WINDOW));
    }

    boolean direct() {
        return proxyAddress == null || proxyType == HttpClient.ProxyType.DIRECT;
    }

    Map<String, Interceptor> interceptors() {
        return interceptors;
    }

    private HttpClientOptions throughProxy() {
        HttpClientOptions copy = new HttpClientOptions(options);
        InetSocketAddress proxy = proxyAddress;
        if (proxy != null && proxyType != HttpClient.ProxyType.DIRECT) {
            copy.setProxyOptions(proxyTo(proxy));
        }
        return copy;
    }

    private ProxyOptions proxyTo(InetSocketAddress proxy) {
        ProxyOptions proxyOptions = new ProxyOptions()
                .setHost(proxy.getHostString())
                .setPort(proxy.getPort())
                .setType(
                        switch (proxyType) {
                            case SOCKS4 -> ProxyType.SOCKS4;
                            case SOCKS5 -> ProxyType.SOCKS5;
                            case HTTP, DIRECT -> ProxyType.HTTP;
                        });
        String[] credentials = HttpClientUtils.decodeBasicCredentials(proxyAuthorization);
        if (credentials != null) {
            proxyOptions.setUsername(credentials[0]).setPassword(credentials[1]);
        }
        return proxyOptions;
    }

    @Override
    public HttpClient build() {
        throw new UnsupportedOperationException("this builder only listens");
    }

    @Override
    public HttpClient.Builder connectTimeout(long timeout, TimeUnit unit) {
        options.setConnectTimeout((int) Math.min(Integer.MAX_VALUE, unit.toMillis(timeout)));
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
        if (keys != null && keys.length > 0 && keys[0] instanceof X509KeyManager key) {
            options.setKeyCertOptions(KeyCertOptions.wrap(key));
        }
        if (trusted != null && trusted.length > 0 && trusted[0] instanceof X509TrustManager trust) {
            options.setTrustOptions(TrustOptions.wrap(trust));
        }
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
        options.setEnabledSecureTransportProtocols(names);
        return this;
    }

    @Override
    public HttpClient.Builder tlsServerName(String name) {
        return this;
    }

    @Override
    public HttpClient.Builder preferHttp11() {
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
