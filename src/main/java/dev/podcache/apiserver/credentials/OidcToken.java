package dev.podcache.apiserver.credentials;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fabric8.kubernetes.client.http.StandardHttpHeaders;
import io.fabric8.kubernetes.client.http.StandardHttpRequest;
import io.fabric8.kubernetes.client.utils.HttpClientUtils;
import java.net.URI;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The token of an identity provider of the old kind ({@code auth-provider: oidc}), which fabric8 renews and writes to the
 * kubeconfig. Blocks while the provider is asked.
 */
final class OidcToken {

    private OidcToken() {}

    static boolean isUsedBy(Config config) {
        return config.getAuthProvider() != null
                && "oidc".equalsIgnoreCase(config.getAuthProvider().getName());
    }

    /** Returns a token that has not expired; null if there is none. */
    static @Nullable String of(Config config, ServerUrl server) {
        // new interceptors, because those of fabric8 read all credentials again when they are a minute old
        Collection<Interceptor> interceptors = HttpClientUtils.createApplicableInterceptors(
                        config, HttpClientUtils.getHttpClientFactory())
                .values();
        StandardHttpRequest.Builder builder = requestTo(server, interceptors);
        if (builder.build().headers(RequestHeaders.AUTHORIZATION).contains("Bearer invalid")) {
            // fabric8 marks an expired token like this
            for (Interceptor interceptor : interceptors) {
                interceptor
                        .afterFailure((HttpRequest.Builder) builder, new Unauthorized(builder.build()), NO_TAGS)
                        .join();
            }
            builder = requestTo(server, interceptors);
        }
        List<String> values = builder.build().headers(RequestHeaders.AUTHORIZATION);
        return values.isEmpty() ? null : values.get(0).replaceFirst("^Bearer ", "");
    }

    private static final Interceptor.RequestTags NO_TAGS = new Interceptor.RequestTags() {
        @Override
        public <V> @Nullable V getTag(Class<V> type) {
            return null;
        }
    };

    private static StandardHttpRequest.Builder requestTo(ServerUrl server, Collection<Interceptor> interceptors) {
        StandardHttpRequest.Builder builder = new StandardHttpRequest.Builder();
        builder.uri(URI.create(server.toString()));
        for (Interceptor interceptor : interceptors) {
            interceptor.before(builder, builder.build(), NO_TAGS);
        }
        return builder;
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
