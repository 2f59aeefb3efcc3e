package dev.podcache.kubelet.server;

import com.google.common.base.Splitter;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Makes requests for unit tests. */
final class Requested {

    private Requested() {}

    /** Returns a GET of a path with an optional query, without credentials. */
    static KubeletRequest get(String url) {
        return of("GET", url, null, List.of());
    }

    /** Returns a GET that asks for another protocol, with one subprotocol or none. */
    static KubeletRequest upgrade(String url, String protocol, String... subprotocols) {
        KubeletRequest get = get(url);
        return request("GET", get.path(), get.query(), null, List.of(), protocol, List.of(subprotocols));
    }

    static KubeletRequest of(
            String method, String url, @Nullable String authorization, List<X509Certificate> certificates) {
        List<String> parts = Splitter.on('?').limit(2).splitToList(url);
        Map<String, List<String>> query = new LinkedHashMap<>();
        if (parts.size() == 2) {
            for (String parameter : Splitter.on('&').split(parts.get(1))) {
                List<String> pair = Splitter.on('=').limit(2).splitToList(parameter);
                query.computeIfAbsent(pair.get(0), name -> new ArrayList<>()).add(pair.size() == 2 ? pair.get(1) : "");
            }
        }
        return request(method, parts.get(0), query, authorization, certificates, "", List.of());
    }

    /** Without an Origin, from a client of no network. */
    private static KubeletRequest request(
            String method,
            String path,
            Map<String, List<String>> query,
            @Nullable String authorization,
            List<X509Certificate> certificates,
            String upgrade,
            List<String> subprotocols) {
        return new KubeletRequest(
                method,
                path,
                query,
                authorization,
                "worker-1",
                certificates,
                upgrade,
                subprotocols,
                "",
                ClientSource.of(null));
    }
}
