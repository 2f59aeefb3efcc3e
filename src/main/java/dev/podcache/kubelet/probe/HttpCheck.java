package dev.podcache.kubelet.probe;

import dev.podcache.kubelet.probe.HttpRedirects.FinalAnswer;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Sends the request of an HTTP probe and judges the response: status 200 to 299 is success, and 300 to 399 is a
 * warning. Redirects to the same host are followed first. A response that breaks off does not count, whatever its status is.
 * Thread-safe.
 */
final class HttpCheck {

    // follows DoHTTPProbe of pkg/probe/http/http.go of Kubernetes, but a body that has not ended in time is a failure

    private final HttpRedirects redirects;

    HttpCheck(ProbeNetwork network) {
        redirects = new HttpRedirects(network);
    }

    /** Starts a check. Connections close when {@code end} completes. */
    CompletableFuture<ProbeOutcome> run(HttpProbeRequest request, Duration timeout, CompletableFuture<?> end) {
        return redirects.get(request, timeout, end).thenApply(HttpCheck::judged);
    }

    private static ProbeOutcome judged(FinalAnswer answer) {
        @Nullable HttpProbeResponse response = answer.response();
        if (response == null) {
            return failure(answer.request(), answer.reason());
        }
        @Nullable IOException broken = response.broken();
        if (broken != null) {
            return ProbeOutcome.error(String.valueOf(broken.getMessage()));
        }
        int status = response.status();
        if (status < 200 || status >= 400) {
            return ProbeOutcome.failure("HTTP probe failed with statuscode: " + status);
        }
        return status < 300
                ? ProbeOutcome.success(response.body())
                : ProbeOutcome.warning("Probe terminated redirects, Response body: " + response.body());
    }

    private static ProbeOutcome failure(HttpProbeRequest request, Throwable cause) {
        String reason =
                ProbeAddress.isRefused(cause) ? request.address().dialed(cause) : String.valueOf(cause.getMessage());
        return ProbeOutcome.failure("Get \"" + request.url() + "\": " + reason);
    }

    /**
     * A response. Immutable.
     *
     * @param location the target of a redirect; null without the header
     * @param body at most the first 10 KiB
     * @param broken why the body ended too early; null if it did not
     */
    record HttpProbeResponse(
            int status,
            @Nullable String location,
            String body,
            @Nullable IOException broken) {}
}
