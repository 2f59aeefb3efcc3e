package dev.podcache.kubelet.probe;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HTTPGetAction;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * The HTTP request of a lifecycle hook: made as that of a probe, but any response is a success, also one that breaks off.
 * Redirects to the same host are followed first.
 *
 * @param podIp the pod's address, or "" if it has none
 */
public record HookRequest(HTTPGetAction get, Pod pod, Container container, String podIp) {

    // follows runHTTPHandler of pkg/kubelet/lifecycle/handlers.go of Kubernetes, without its fallback from HTTPS to
    // HTTP

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(30);

    /**
     * Sends the request. Does not block.
     *
     * @return completes with the status of the response; exceptionally if there is none, if redirects do not end, or if the
     *     host or the port is unknown. Canceling it closes the connection
     */
    public CompletableFuture<Integer> send(ProbeNetwork network) {
        CompletableFuture<Integer> status = new CompletableFuture<>();
        try {
            HttpProbeRequest request =
                    HttpProbeRequest.of(get, new ProbeTarget(pod, container, podIp), network.hookUserAgent());
            new HttpRedirects(network).get(request, CONNECT_TIMEOUT, status).whenComplete((answer, closed) -> {
                if (closed != null) {
                    status.completeExceptionally(closed);
                } else if (answer.response() != null) {
                    status.complete(answer.response().status());
                } else {
                    status.completeExceptionally(answer.reason());
                }
            });
        } catch (RuntimeException invalid) {
            status.completeExceptionally(invalid);
        }
        return status;
    }
}
