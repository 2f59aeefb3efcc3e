package dev.podcache.kubelet.probe;

import com.google.common.collect.ImmutableSet;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Sends the request of an HTTP probe and judges the response: status 200 to 299 is success, and 300 to 399 is a
 * warning. Redirects to the same host are followed first. Thread-safe.
 */
final class HttpCheck {

    // follows DoHTTPProbe and RedirectChecker of pkg/probe/http/http.go of Kubernetes

    private static final int MOST_REDIRECTS = 10;
    private static final Set<Integer> REDIRECTS = ImmutableSet.of(301, 302, 303, 307, 308);

    private final ProbeNetwork network;

    HttpCheck(ProbeNetwork network) {
        this.network = network;
    }

    /** Starts a check. Connections close when {@code end} completes. */
    CompletableFuture<ProbeOutcome> run(HttpProbeRequest request, Duration timeout, CompletableFuture<?> end) {
        return run(request, timeout, end, 0);
    }

    private CompletableFuture<ProbeOutcome> run(
            HttpProbeRequest request, Duration timeout, CompletableFuture<?> end, int redirects) {
        return network.get(request, timeout, end).handle(Answered::new).thenCompose(answered -> {
            @Nullable HttpProbeResponse response = answered.response;
            if (response == null) {
                return done(failure(request, answered.thrown));
            }
            if (REDIRECTS.contains(response.status()) && response.location() != null) {
                return redirected(request, response, response.location(), timeout, end, redirects);
            }
            return done(judged(response));
        });
    }

    private record Answered(
            @Nullable HttpProbeResponse response, @Nullable Throwable thrown) {}

    private CompletableFuture<ProbeOutcome> redirected(
            HttpProbeRequest request,
            HttpProbeResponse response,
            String location,
            Duration timeout,
            CompletableFuture<?> end,
            int redirects) {
        @Nullable HttpProbeRequest next;
        try {
            next = request.redirected(location);
        } catch (URISyntaxException invalid) {
            return done(ProbeOutcome.failure("Get \"" + request.url() + "\": " + invalid.getMessage()));
        }
        if (next == null) {
            return done(judged(response));
        }
        if (redirects + 1 == MOST_REDIRECTS) {
            return done(
                    ProbeOutcome.failure("Get \"" + next.url() + "\": stopped after " + MOST_REDIRECTS + " redirects"));
        }
        return run(next, timeout, end, redirects + 1);
    }

    private static ProbeOutcome judged(HttpProbeResponse response) {
        int status = response.status();
        if (status < 200 || status >= 400) {
            return ProbeOutcome.failure("HTTP probe failed with statuscode: " + status);
        }
        return status < 300
                ? ProbeOutcome.success(response.body())
                : ProbeOutcome.warning("Probe terminated redirects, Response body: " + response.body());
    }

    private static ProbeOutcome failure(HttpProbeRequest request, @Nullable Throwable thrown) {
        Throwable cause = thrown instanceof CompletionException && thrown.getCause() != null
                ? thrown.getCause()
                : thrown == null ? new IllegalStateException("no response") : thrown;
        String reason =
                ProbeAddress.isRefused(cause) ? request.address().dialed(cause) : String.valueOf(cause.getMessage());
        return ProbeOutcome.failure("Get \"" + request.url() + "\": " + reason);
    }

    private static CompletableFuture<ProbeOutcome> done(ProbeOutcome outcome) {
        return CompletableFuture.completedFuture(outcome);
    }

    /**
     * A response. Immutable.
     *
     * @param location the target of a redirect; null without the header
     * @param body at most the first 10 KiB
     */
    record HttpProbeResponse(int status, @Nullable String location, String body) {}
}
