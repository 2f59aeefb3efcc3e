package dev.podcache.kubelet.podconfig;

import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.events.InvolvedObject;
import dev.podcache.manager.Manager;
import dev.podcache.object.ObjectUnavailableException;
import io.fabric8.kubernetes.api.model.LocalObjectReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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
     * Returns the available pull secrets of {@code pod}, and omits unavailable ones. Calls {@link Manager#getObject}
     * once for each pull secret, and blocks as long as these calls do.
     *
     * @param pod the pod as the API server returned it, with metadata and spec; neither kept nor modified
     * @return the Secrets in the order of the pod's spec; unmodifiable. The Secrets are shared and must not be modified
     */
    public List<Secret> of(Pod pod) {
        List<Secret> found = new ArrayList<>();
        List<String> missing = new ArrayList<>();
        for (LocalObjectReference reference : Nullables.orEmpty(pod.getSpec().getImagePullSecrets())) {
            String name = Nullables.orEmpty(reference.getName());
            if (!name.isEmpty()) {
                find(pod, name).ifPresentOrElse(found::add, () -> missing.add(name));
            }
        }
        if (!missing.isEmpty()) {
            String message = "Unable to retrieve some image pull secrets (" + String.join(", ", missing)
                    + "); attempting to pull the image may not succeed.";
            events.event(InvolvedObject.of(pod), EventRecorder.EventType.WARNING, REASON, message);
        }
        return List.copyOf(found);
    }

    private Optional<Secret> find(Pod pod, String name) {
        String namespace = pod.getMetadata().getNamespace();
        try {
            return Optional.of(secrets.getObject(namespace, name));
        } catch (ObjectUnavailableException | IllegalArgumentException e) {
            // at debug: every sync of the pod repeats it, and the event already reports it
            log.debug(
                    "pod {}/{}: pull secret {} is unavailable: {}",
                    namespace,
                    pod.getMetadata().getName(),
                    name,
                    e.getMessage());
            return Optional.empty();
        }
    }
}
