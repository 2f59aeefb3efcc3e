package dev.podcache.kubelet.podconfig;

import com.google.common.base.Throwables;
import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.events.InvolvedObject;
import dev.podcache.manager.Manager;
import dev.podcache.object.ObjectUnavailableException;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the Secrets that a pod's images are pulled with. Thread-safe.
 *
 * <p>An unavailable Secret does not fail the pod, because the image may be public or already present. It is reported by
 * an event.
 *
 * <p>Follows {@code getPullSecretsForPod} of the kubelet's {@code kubelet_pods.go} in its newest form.
 */
public final class ImagePullSecrets {

    private static final Logger log = LoggerFactory.getLogger(ImagePullSecrets.class);
    private static final String REASON = "FailedToRetrieveImagePullSecret";

    /** A read of a pull secret that has begun. */
    private record PullRead(String name, CompletableFuture<Secret> secret) {}

    private final Manager<Secret> secrets;
    private final EventRecorder events;

    /**
     * Creates a finder on this manager.
     *
     * @param secrets the Secrets of all pods that are registered with it
     * @param events receives a warning event if Secrets of a pod are unavailable
     */
    public ImagePullSecrets(Manager<Secret> secrets, EventRecorder events) {
        this.secrets = secrets;
        this.events = events;
    }

    /**
     * Returns the available pull secrets of {@code pod}, and omits unavailable ones. Reads them all at once, each by
     * {@link Manager#getObjectAsync}, and blocks as long as the longest read takes. An interrupt ends the wait: Secrets
     * that are not read by then count as unavailable, and the interrupt status is set.
     *
     * @param pod the pod as the API server returned it, with metadata and spec; neither kept nor modified
     * @return the Secrets in the order of the pod's spec; unmodifiable. The Secrets are shared and must not be modified
     */
    public List<Secret> of(Pod pod) {
        List<Secret> found = new ArrayList<>();
        List<String> missing = new ArrayList<>();
        List<PullRead> reads = Nullables.orEmpty(pod.getSpec().getImagePullSecrets()).stream()
                .map(reference -> Nullables.orEmpty(reference.getName()))
                .filter(name -> !name.isEmpty())
                .map(name -> new PullRead(name, begin(pod, name)))
                .toList();
        for (PullRead read : reads) {
            end(pod, read).ifPresentOrElse(found::add, () -> missing.add(read.name));
        }
        if (!missing.isEmpty()) {
            String message = "Unable to retrieve some image pull secrets (" + String.join(", ", missing)
                    + "); attempting to pull the image may not succeed.";
            events.event(InvolvedObject.of(pod), EventRecorder.EventType.WARNING, REASON, message);
        }
        return List.copyOf(found);
    }

    private CompletableFuture<Secret> begin(Pod pod, String name) {
        try {
            return secrets.getObjectAsync(pod.getMetadata().getNamespace(), name);
        } catch (IllegalArgumentException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private static Optional<Secret> end(Pod pod, PullRead read) {
        Throwable unavailable;
        try {
            return Optional.of(read.secret.get());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            unavailable = e;
        } catch (ExecutionException e) {
            unavailable = Objects.requireNonNull(e.getCause());
            if (!(unavailable instanceof ObjectUnavailableException)
                    && !(unavailable instanceof IllegalArgumentException)) {
                Throwables.throwIfUnchecked(unavailable);
            }
        }
        // at debug: every sync of the pod repeats it, and the event already reports it
        log.debug(
                "pod {}/{}: pull secret {} is unavailable: {}",
                pod.getMetadata().getNamespace(),
                pod.getMetadata().getName(),
                read.name,
                unavailable.getMessage());
        return Optional.empty();
    }
}
