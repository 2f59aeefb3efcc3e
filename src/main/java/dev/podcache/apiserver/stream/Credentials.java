package dev.podcache.apiserver.stream;

import io.fabric8.kubernetes.client.RequestConfig;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.HttpResponse;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fabric8.kubernetes.client.http.StandardHttpHeaders;
import io.fabric8.kubernetes.client.http.StandardHttpRequest;
import java.net.URI;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The headers that say who we are, from fabric8's interceptors: tokens and their refreshing, basic authentication,
 * impersonation, the caller's own headers. An interceptor may read a file or ask an identity provider, so every method
 * may block. Thread-safe as far as fabric8's interceptors are.
 */
final class Credentials {

    private final Collection<Interceptor> interceptors;
    private final Interceptor.RequestTags tags;
    private volatile Map<String, List<String>> last = Map.of();

    Credentials(Collection<Interceptor> interceptors, RequestConfig config) {
        this.interceptors = interceptors;
        this.tags = new Interceptor.RequestTags() {
            @Override
            public <V> @Nullable V getTag(Class<V> type) {
                return type.isInstance(config) ? type.cast(config) : null;
            }
        };
    }

    /** The headers of a GET of {@code uri}, as fabric8's own client would send them. Not to be modified. */
    Map<String, List<String>> headers(URI uri) {
        Map<String, List<String>> now = requestTo(uri).build().headers();
        Map<String, List<String>> before = last;
        if (now.equals(before)) {
            // a watch remembers its headers, and a token may be a kilobyte: they share one
            return before;
        }
        last = now;
        return now;
    }

    /** Tells them that the server did not know us (401), so that the next {@link #headers} has a new token. */
    void refused(URI uri) {
        StandardHttpRequest.Builder builder = requestTo(uri);
        Refusal refusal = new Refusal(builder.build());
        for (Interceptor interceptor : interceptors) {
            interceptor.afterFailure((HttpRequest.Builder) builder, refusal, tags);
        }
    }

    private StandardHttpRequest.Builder requestTo(URI uri) {
        StandardHttpRequest.Builder builder = new StandardHttpRequest.Builder();
        builder.uri(uri).setHeader("Accept", "application/json");
        for (Interceptor interceptor : interceptors) {
            interceptor.before(builder, builder.build(), tags);
        }
        return builder;
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
