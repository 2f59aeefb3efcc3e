package dev.podcache.testing;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.net.SocketAddress;
import java.util.Arrays;

/**
 * Calls methods of Vert.x that versions 4 and 5 both have, with other types of results or parameters: what is compiled with one
 * version does not link with the other. They are found by name.
 */
public final class EitherVertx {

    private EitherVertx() {}

    /** Creates a client. */
    public static HttpClient client(Vertx vertx, HttpClientOptions options) {
        return client(vertx, options, new PoolOptions());
    }

    /** Creates a client with limits of its connections. */
    public static HttpClient client(Vertx vertx, HttpClientOptions options, PoolOptions pool) {
        return (HttpClient) call(Vertx.class, vertx, "createHttpClient", options, pool);
    }

    /** Sends a request to this address, whatever its host is. */
    public static RequestOptions to(SocketAddress server, RequestOptions request) {
        return (RequestOptions) call(RequestOptions.class, request, "setServer", server);
    }

    /** Returns the number of the stream of HTTP/2 that carries a request. */
    public static int streamId(HttpServerRequest request) {
        return ((Number) call(HttpServerRequest.class, request, "streamId")).intValue();
    }

    private static Object call(Class<?> type, Object on, String method, Object... arguments) {
        try {
            return Arrays.stream(type.getMethods())
                    .filter(each -> each.getName().equals(method) && accepts(each.getParameterTypes(), arguments))
                    .filter(each -> !each.isBridge())
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("Vert.x has no " + type + "." + method))
                    .invoke(on, arguments);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("Vert.x does not have " + method, e);
        }
    }

    private static boolean accepts(Class<?>[] parameters, Object[] arguments) {
        if (parameters.length != arguments.length) {
            return false;
        }
        for (int i = 0; i < parameters.length; i++) {
            if (!parameters[i].isInstance(arguments[i])) {
                return false;
            }
        }
        return true;
    }
}
