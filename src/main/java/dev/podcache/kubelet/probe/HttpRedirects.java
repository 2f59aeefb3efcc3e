package dev.podcache.kubelet.probe;

import com.google.common.base.Strings;
import com.google.common.collect.ImmutableSet;
import dev.podcache.kubelet.probe.HttpCheck.HttpProbeResponse;
import java.io.IOException;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** Sends the HTTP requests of probes and lifecycle hooks, and follows redirects to the same host. Thread-safe. */
final class HttpRedirects {

    // follows RedirectChecker of pkg/probe/http/http.go of Kubernetes

    private static final int MOST_REDIRECTS = 10;
    private static final Set<Integer> REDIRECTS = ImmutableSet.of(301, 302, 303, 307, 308);

    private final ProbeNetwork network;

    HttpRedirects(ProbeNetwork network) {
        this.network = network;
    }

    /**
     * Sends a request, and those that redirects lead to. The arguments are as in {@link ProbeNetwork#get}.
     *
     * @return completes exceptionally only if the network was closed meanwhile
     */
    CompletableFuture<FinalAnswer> get(HttpProbeRequest request, Duration timeout, CompletableFuture<?> end) {
        return get(request, timeout, end, 0);
    }

    private CompletableFuture<FinalAnswer> get(
            HttpProbeRequest request, Duration timeout, CompletableFuture<?> end, int redirects) {
        return network.get(request, timeout, end)
                .handle((response, thrown) -> new FinalAnswer(request, response, thrown))
                .thenCompose(answer -> followed(answer, timeout, end, redirects));
    }

    private CompletableFuture<FinalAnswer> followed(
            FinalAnswer answer, Duration timeout, CompletableFuture<?> end, int redirects) {
        @Nullable HttpProbeResponse response = answer.response();
        // at its end, a check cuts its connection, which breaks off an answer that may be a redirect
        if (response == null
                || end.isDone()
                || !REDIRECTS.contains(response.status())
                || Strings.isNullOrEmpty(response.location())) {
            return CompletableFuture.completedFuture(answer);
        }
        @Nullable HttpProbeRequest next;
        try {
            next = answer.request().redirected(response.location());
        } catch (URISyntaxException invalid) {
            // the location may be long, and have a token
            IOException illegal = new IOException("invalid redirect: " + invalid.getReason());
            return CompletableFuture.completedFuture(new FinalAnswer(answer.request(), null, illegal));
        }
        if (next == null) {
            return CompletableFuture.completedFuture(answer);
        }
        if (redirects + 1 == MOST_REDIRECTS) {
            IOException endless = new IOException("stopped after " + MOST_REDIRECTS + " redirects");
            return CompletableFuture.completedFuture(new FinalAnswer(next, null, endless));
        }
        return get(next, timeout, end, redirects + 1);
    }

    /**
     * The answer to the last request. Immutable.
     *
     * @param request the last one
     * @param response null if there is none
     * @param thrown why there is no response; null if there is one
     */
    record FinalAnswer(
            HttpProbeRequest request,
            @Nullable HttpProbeResponse response,
            @Nullable Throwable thrown) {

        /** Returns why there is no response. */
        Throwable reason() {
            if (thrown == null) {
                return new IllegalStateException("no response");
            }
            return thrown instanceof CompletionException && thrown.getCause() != null ? thrown.getCause() : thrown;
        }
    }
}
