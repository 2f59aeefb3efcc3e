package dev.podcache.kubelet.probe;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HTTPGetAction;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * The HTTP request of a lifecycle hook: made as that of a probe, but any response is a success, and redirects are not
 * followed.
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
     * @return completes when the response is there; exceptionally if there is none, or if the host or the port is
     *     unknown. Canceling it closes the connection
     */
    public CompletableFuture<Integer> send(ProbeNetwork network) {
        CompletableFuture<Integer> status = new CompletableFuture<>();
        try {
            HttpProbeRequest request =
                    HttpProbeRequest.of(get, new ProbeTarget(pod, container, podIp), network.hookUserAgent());
            network.get(request, CONNECT_TIMEOUT, status).whenComplete((response, failure) -> {
                if (failure == null) {
                    status.complete(response.status());
                } else {
                    status.completeExceptionally(failure);
                }
            });
        } catch (RuntimeException invalid) {
            status.completeExceptionally(invalid);
        }
        return status;
    }
}
