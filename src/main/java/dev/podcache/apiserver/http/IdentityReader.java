package dev.podcache.apiserver.http;

import com.google.common.hash.HashCode;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.AuthInfo;
import io.fabric8.kubernetes.api.model.NamedAuthInfo;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.RequestConfig;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fabric8.kubernetes.client.http.StandardHttpHeaders;
import io.fabric8.kubernetes.client.http.StandardHttpRequest;
import io.fabric8.kubernetes.client.internal.CertUtils;
import io.fabric8.kubernetes.client.internal.KubeConfigUtils;
import io.fabric8.kubernetes.client.utils.HttpClientUtils;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads the credentials from fabric8's {@link Config} and its sources: certificate and token files, the kubeconfig, its
 * credential plugin, an identity provider. Every method may block for long. Not thread-safe.
 *
 * <p>A client certificate is read again from the kubeconfig or its plugin only if the client has its certificate from
 * there, because a caller may have given the client another identity.
 */
final class IdentityReader {

    private final Config config;
    private final RequestConfig requestConfig;
    private final URI server;
    private final boolean hasOwnIdentity;
    private final @Nullable CredentialPlugin plugin;
    private final boolean followsKubeconfig;
    private long reads;
    private Optional<HashCode> sources = Optional.empty(); // of the settings
    private @Nullable ConnectionSettings settings; // of the last read

    IdentityReader(Config config, RequestConfig requestConfig, URI server, Timekeeper timekeeper) {
        this.config = config;
        this.requestConfig = requestConfig;
        this.server = server;
        File kubeconfig = config.getFileWithAuthInfo();
        AuthInfo user = kubeconfig == null ? null : user(config, kubeconfig);
        this.hasOwnIdentity = hasOwnIdentity(config);
        this.plugin = user == null || user.getExec() == null || hasOwnIdentity
                ? null
                : new CredentialPlugin(user.getExec(), kubeconfig, timekeeper);
        this.followsKubeconfig = user != null && plugin == null && isFrom(user, config);
    }

    /** Returns whether a read starts a process or asks an identity provider, so that reads should be rare. */
    boolean isCostly() {
        return plugin != null || isOidc(config);
    }

    /** Reads the Config that the client was created with, and the files that it names. */
    Identity first() {
        return identity(config, config.getAutoOAuthToken(), null);
    }

    /** Reads all sources again. */
    Identity again() {
        if (plugin != null) {
            return identity(plugin.run());
        }
        // refresh() would run the plugin of a user that the caller has replaced
        Config now = hasOwnIdentity ? config : config.refresh();
        boolean follows = followsKubeconfig
                && Objects.equals(now.getMasterUrl(), config.getMasterUrl())
                && certificate(now) != null;
        return identity(follows ? withTlsOf(now) : config, now.getAutoOAuthToken(), null);
    }

    private Identity identity(CredentialPlugin.ExecCredential printed) {
        Config tls = printed.certificate() == null
                ? config
                : copy().withClientCertData(printed.certificate())
                        .withClientKeyData(printed.key())
                        .withClientKeyAlgo(Config.getKeyAlgorithm(null, printed.key()))
                        .build();
        return identity(tls, printed.token(), printed.expires());
    }

    private Config withTlsOf(Config now) {
        return copy().withClientCertData(now.getClientCertData())
                .withClientCertFile(now.getClientCertFile())
                .withClientKeyData(now.getClientKeyData())
                .withClientKeyFile(now.getClientKeyFile())
                .withClientKeyAlgo(now.getClientKeyAlgo())
                .withCaCertData(now.getCaCertData())
                .withCaCertFile(now.getCaCertFile())
                .build();
    }

    private ConfigBuilder copy() {
        // otherwise build() would read the environment and run a plugin
        return new ConfigBuilder(config).withAutoConfigure(false);
    }

    private Identity identity(Config named, @Nullable String token, @Nullable Instant expires) {
        // one read for both, because the file may be replaced at any time
        Config tls = CombinedPem.separated(named);
        ConnectionSettings settings = settings(tls);
        X509Certificate certificate = certificate(tls);
        Instant end = certificate == null ? null : certificate.getNotAfter().toInstant();
        reads++;
        return new Identity(
                reads,
                headers(interceptors(), token),
                settings,
                certificate,
                expires != null && (end == null || expires.isBefore(end)) ? expires : end);
    }

    /** Returns the settings by {@code tls}: those of the last read, unless a key, a certificate or a CA has changed. */
    private ConnectionSettings settings(Config tls) {
        Optional<HashCode> now = TlsSources.hash(tls);
        ConnectionSettings known = settings;
        if (known == null || now.isEmpty() || !now.equals(sources)) {
            known = ConnectionSettings.of(config, tls);
            settings = known;
            sources = now;
        }
        return known;
    }

    /** Returns new interceptors, because those of fabric8 read all credentials again when they are a minute old. */
    private Collection<Interceptor> interceptors() {
        return HttpClientUtils.createApplicableInterceptors(config, HttpClientUtils.getHttpClientFactory())
                .values();
    }

    private Map<String, List<String>> headers(Collection<Interceptor> interceptors, @Nullable String token) {
        if (token != null) {
            // fabric8's interceptor reads the token here, and stores a new one here itself
            config.setAutoOAuthToken(token);
        }
        StandardHttpRequest.Builder builder = requestTo(interceptors);
        if (isOidc(config) && builder.build().headers("Authorization").contains("Bearer invalid")) {
            // fabric8 marks an expired token like this
            for (Interceptor interceptor : interceptors) {
                interceptor
                        .afterFailure((HttpRequest.Builder) builder, new Unauthorized(builder.build()), tags())
                        .join();
            }
            builder = requestTo(interceptors);
        }
        return builder.build().headers();
    }

    private StandardHttpRequest.Builder requestTo(Collection<Interceptor> interceptors) {
        StandardHttpRequest.Builder builder = new StandardHttpRequest.Builder();
        builder.uri(server).setHeader("Accept", "application/json");
        for (Interceptor interceptor : interceptors) {
            interceptor.before(builder, builder.build(), tags());
        }
        return builder;
    }

    private Interceptor.RequestTags tags() {
        return new Interceptor.RequestTags() {
            @Override
            public <V> @Nullable V getTag(Class<V> type) {
                return type.isInstance(requestConfig) ? type.cast(requestConfig) : null;
            }
        };
    }

    private static @Nullable X509Certificate certificate(Config config) {
        return certificate(config.getClientCertData(), config.getClientCertFile());
    }

    private static @Nullable X509Certificate certificate(@Nullable String data, @Nullable String file) {
        if ((data == null || data.isEmpty()) && (file == null || file.isEmpty())) {
            return null;
        }
        try (InputStream pem =
                CertUtils.getInputStreamFromDataOrFile(data == null || data.isEmpty() ? null : data, file)) {
            return (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(pem);
        } catch (IOException | CertificateException | RuntimeException unreadable) {
            // reading the client key fails with the cause
            return null;
        }
    }

    private static boolean isOidc(Config config) {
        return config.getAuthProvider() != null
                && "oidc".equalsIgnoreCase(config.getAuthProvider().getName());
    }

    /** Returns the user of the current context in the kubeconfig, or null. */
    private static @Nullable AuthInfo user(Config config, File kubeconfig) {
        if (config.getCurrentContext() == null) {
            return null;
        }
        String name = config.getCurrentContext().getContext().getUser();
        List<NamedAuthInfo> users;
        try {
            users = KubeConfigUtils.parseConfig(kubeconfig).getUsers();
        } catch (RuntimeException unreadable) {
            // the kubeconfig was removed since the client was created; the client keeps its credentials
            return null;
        }
        return users == null
                ? null
                : users.stream()
                        .filter(each -> Objects.equals(each.getName(), name))
                        .map(NamedAuthInfo::getUser)
                        .findFirst()
                        .orElse(null);
    }

    /** Returns whether the client has an identity that takes precedence over a plugin, or that is always read again. */
    private static boolean hasOwnIdentity(Config config) {
        return config.getOauthToken() != null
                || config.getOauthTokenProvider() != null
                || config.getClientCertFile() != null
                || config.getUsername() != null;
    }

    /** Returns whether the client's certificate came from {@code user}, where it may have been replaced since. */
    private static boolean isFrom(AuthInfo user, Config config) {
        X509Certificate used = certificate(config);
        X509Certificate now = certificate(user.getClientCertificateData(), null);
        return used != null && now != null && used.getSubjectX500Principal().equals(now.getSubjectX500Principal());
    }

    /** A 401, after which fabric8's interceptors renew the token. */
    private static final class Unauthorized extends StandardHttpHeaders implements HttpResponse<byte[]> {

        private final HttpRequest request;

        Unauthorized(HttpRequest request) {
            this.request = request;
        }

        @Override
        public int code() {
            return 401;
        }

        @Override
        public byte[] body() {
            return new byte[0];
        }

        @Override
        public HttpRequest request() {
            return request;
        }

        @Override
        public Optional<HttpResponse<?>> previousResponse() {
            return Optional.empty();
        }
    }
}
