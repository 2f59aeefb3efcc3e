package dev.podcache.apiserver.http;

import io.fabric8.kubernetes.api.model.AuthInfo;
import io.fabric8.kubernetes.api.model.NamedAuthInfo;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.RequestConfig;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fabric8.kubernetes.client.http.StandardHttpHeaders;
import io.fabric8.kubernetes.client.http.StandardHttpRequest;
import io.fabric8.kubernetes.client.internal.CertUtils;
import io.fabric8.kubernetes.client.internal.KubeConfigUtils;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads who we are from fabric8's {@link Config} and from what it was made of: certificate and token files, the
 * kubeconfig, its credential plugin, an identity provider. Every method may block for long. Not thread-safe.
 *
 * <p>A client certificate that was inline in a kubeconfig, or came from a plugin, is read from there again. It replaces
 * the one that the client was made with only if both name the same subject: a caller may have given the client another
 * identity than the file has.
 */
final class IdentityReader {

    private static final Logger log = LoggerFactory.getLogger(IdentityReader.class);

    private final Config config;
    private final RequestConfig requestConfig;
    private final URI server;
    private final @Nullable X509Certificate original;
    private final boolean costly;
    private boolean told;

    IdentityReader(Config config, RequestConfig requestConfig, URI server) {
        this.config = config;
        this.requestConfig = requestConfig;
        this.server = server;
        this.original = certificate(config);
        this.costly = asksSomebody(config);
    }

    /** Whether reading starts a process or asks an identity provider, so that it is done only when it must be. */
    boolean isCostly() {
        return costly;
    }

    /** Reads what the client was made with, and the files that it names. */
    Identity first() {
        return identity(config, config);
    }

    /** Reads everything anew. */
    Identity again() {
        Config now = config.refresh();
        Config source = now != config && isOurs(now) ? now : config;
        return identity(source, now);
    }

    private Identity identity(Config certificates, Config tokens) {
        ConnectionSettings settings = ConnectionSettings.of(config, certificates);
        return new Identity(headers(settings.interceptors().values(), tokens), settings, certificate(certificates));
    }

    private boolean isOurs(Config now) {
        X509Certificate found = certificate(now);
        if (found == null || original == null) {
            return false;
        }
        boolean ours = found.getSubjectX500Principal().equals(original.getSubjectX500Principal())
                && Objects.equals(now.getMasterUrl(), config.getMasterUrl());
        if (!ours && !told) {
            told = true;
            log.warn(
                    "the kubeconfig now has a client certificate of {} for {}; the certificate of {} stays in use"
                            + " until a restart",
                    found.getSubjectX500Principal(),
                    now.getMasterUrl(),
                    original.getSubjectX500Principal());
        }
        return ours;
    }

    private Map<String, List<String>> headers(Collection<Interceptor> interceptors, Config tokens) {
        if (tokens != config && tokens.getAutoOAuthToken() != null) {
            config.setAutoOAuthToken(tokens.getAutoOAuthToken());
        }
        StandardHttpRequest.Builder builder = requestTo(interceptors);
        if (isOidc(config) && builder.build().headers("Authorization").contains("Bearer invalid")) {
            // that is how fabric8 says that the token has expired
            for (Interceptor interceptor : interceptors) {
                interceptor
                        .afterFailure((HttpRequest.Builder) builder, new Refusal(builder.build()), tags())
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
        String data = config.getClientCertData();
        String file = config.getClientCertFile();
        if ((data == null || data.isEmpty()) && (file == null || file.isEmpty())) {
            return null;
        }
        try (InputStream pem =
                CertUtils.getInputStreamFromDataOrFile(data == null || data.isEmpty() ? null : data, file)) {
            return (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(pem);
        } catch (IOException | CertificateException | RuntimeException unreadable) {
            // reading the key with it says what is wrong
            return null;
        }
    }

    private static boolean asksSomebody(Config config) {
        return isOidc(config) || hasPlugin(config);
    }

    private static boolean isOidc(Config config) {
        return config.getAuthProvider() != null
                && "oidc".equalsIgnoreCase(config.getAuthProvider().getName());
    }

    private static boolean hasPlugin(Config config) {
        File file = config.getFileWithAuthInfo();
        if (file == null || config.getCurrentContext() == null) {
            return false;
        }
        String user = config.getCurrentContext().getContext().getUser();
        List<NamedAuthInfo> users = KubeConfigUtils.parseConfig(file).getUsers();
        return users.stream()
                .filter(each -> Objects.equals(each.getName(), user))
                .map(NamedAuthInfo::getUser)
                .filter(Objects::nonNull)
                .map(AuthInfo::getExec)
                .anyMatch(Objects::nonNull);
    }

    private static final class Refusal extends StandardHttpHeaders implements HttpResponse<byte[]> {

        private final HttpRequest request;

        Refusal(HttpRequest request) {
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
