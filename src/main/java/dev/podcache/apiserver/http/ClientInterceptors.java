package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.credentials.RequestHeaders;
import dev.podcache.object.FailureReason;
import io.fabric8.kubernetes.client.http.HttpClient;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fabric8.kubernetes.client.http.StandardHttpClient;
import io.fabric8.kubernetes.client.http.StandardHttpClientBuilder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The interceptors that a caller gave to its fabric8 client. Before each of our requests {@link Interceptor#before} of each
 * runs, in their order. It can add and replace headers; another URI is ignored. The other callbacks do not run, because our
 * requests have no response of fabric8's. Immutable.
 *
 * <p>fabric8's own interceptors do not run: tokens, impersonation and custom headers come from {@code
 * apiserver.credentials}. The interceptors are known of a client that extends {@link StandardHttpClient}, as all of fabric8's
 * do.
 */
public final class ClientInterceptors {

    /** No interceptors. */
    public static final ClientInterceptors NONE = new ClientInterceptors(List.of(), null);

    private static final String OF_FABRIC8 = "io.fabric8.";

    private final List<Interceptor> interceptors;
    private final @Nullable StandardHttpClient<?, ?, ?> client; // null without interceptors

    private ClientInterceptors(List<Interceptor> interceptors, @Nullable StandardHttpClient<?, ?, ?> client) {
        this.interceptors = interceptors;
        this.client = client;
    }

    /** Returns the interceptors that {@code client} has now. */
    public static ClientInterceptors of(@Nullable HttpClient client) {
        // a derived client begins with all of the first one, and is not built
        if (!(client instanceof StandardHttpClient<?, ?, ?> standard)
                || !(standard.newBuilder() instanceof StandardHttpClientBuilder<?, ?, ?> derived)) {
            return NONE;
        }
        List<Interceptor> callers = derived.getInterceptors().values().stream()
                .filter(each -> !each.getClass().getName().startsWith(OF_FABRIC8))
                .toList();
        return callers.isEmpty() ? NONE : new ClientInterceptors(callers, standard);
    }

    boolean isEmpty() {
        return interceptors.isEmpty();
    }

    /**
     * Returns the headers of a request after all interceptors. Blocks as long as they do.
     *
     * @param server the URL of the server
     * @param given the headers without them
     * @throws ApiServerException if an interceptor throws, or sets a header that cannot be sent; its message quotes nothing
     */
    Map<String, List<String>> headers(String server, ServerRequest request, Map<String, List<String>> given) {
        StandardHttpClient<?, ?, ?> tags = client;
        if (tags == null) {
            return given;
        }
        HttpRequest before;
        HttpRequest.Builder changed;
        try {
            before = builder(tags, server, request, given).build();
            changed = builder(tags, server, request, given);
        } catch (IllegalArgumentException e) {
            // it quotes the path
            throw failure(request, "its path is not legal in a URI", null);
        }
        for (Interceptor each : interceptors) {
            try {
                each.before(changed, before, tags);
            } catch (RuntimeException | Error e) {
                // catches everything, because it is code of a caller, and the request waits
                String what = "the interceptor " + each.getClass().getName() + " of the client failed with "
                        + e.getClass().getName();
                throw failure(request, what, e);
            }
        }
        return merged(request, given, changed.build().headers());
    }

    private static HttpRequest.Builder builder(
            HttpClient client, String server, ServerRequest request, Map<String, List<String>> headers) {
        HttpRequest.Builder made = client.newHttpRequestBuilder().uri(server + request.path());
        ServerRequest.Body body = request.body();
        made.method(request.method(), body == null ? null : body.mediaType(), body == null ? null : body.json());
        headers.forEach((name, values) -> values.forEach(value -> made.header(name, value)));
        return made;
    }

    private static Map<String, List<String>> merged(
            ServerRequest request, Map<String, List<String>> given, Map<String, List<String>> changed) {
        Map<String, List<String>> merged = new LinkedHashMap<>();
        changed.forEach((name, values) -> {
            List<String> known = given.getOrDefault(name, List.of());
            // in another case it is another header for fabric8, and the same one for the server
            boolean replaced = changed.keySet().stream()
                    .anyMatch(other -> other.equalsIgnoreCase(name) && !given.containsKey(other));
            if (known.isEmpty() || !replaced) {
                merged.put(name, sent(request, name, values, known));
            }
        });
        return merged;
    }

    private static List<String> sent(ServerRequest request, String name, List<String> values, List<String> known) {
        List<String> sent = new ArrayList<>();
        for (String value : values) {
            // what was known is in the form of the wire
            sent.add(
                    known.contains(value)
                            ? value
                            : RequestHeaders.wire(value)
                                    .orElseThrow(() -> failure(
                                            request,
                                            "an interceptor of the client set the header " + name
                                                    + " to a value with a line break or another control character, which no header"
                                                    + " may have",
                                            null)));
        }
        return sent;
    }

    private static ApiServerException failure(ServerRequest request, String why, @Nullable Throwable cause) {
        return ApiServerException.withoutAnswer(FailureReason.UNAVAILABLE, request.what(), why, cause);
    }

    /** Returns how many there are. */
    @Override
    public String toString() {
        return interceptors.size() + " interceptors";
    }
}
