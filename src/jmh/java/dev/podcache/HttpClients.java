package dev.podcache;

import io.fabric8.kubernetes.client.http.HttpClient;
import java.util.ServiceLoader;

/**
 * The HTTP clients that fabric8 can send requests with. Found by name: where OkHttp is on the class path, which it is in
 * the profile {@code jmh} alone, fabric8 takes it unless told otherwise.
 */
final class HttpClients {

    private HttpClients() {}

    /** Vert.x, fabric8's default. */
    static HttpClient.Factory vertx() {
        return named("vertx");
    }

    /** OkHttp. */
    static HttpClient.Factory okHttp() {
        return named("okhttp");
    }

    private static HttpClient.Factory named(String name) {
        return ServiceLoader.load(HttpClient.Factory.class).stream()
                .filter(factory -> factory.type().getName().contains(name))
                .findAny()
                .orElseThrow(() -> new IllegalStateException("no kubernetes-httpclient-" + name + " on the class path"))
                .get();
    }
}
