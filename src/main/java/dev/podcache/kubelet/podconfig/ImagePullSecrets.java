package dev.podcache.kubelet.podconfig;

import com.google.common.collect.ImmutableList;
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
 * The Secrets that a pod's images are pulled with. Thread-safe.
 *
 * <p>One that cannot be had keeps no pod from running: the image may be public, or there
 * already. People are told by an event.
 *
 * <p>Follows {@code getPullSecretsForPod} of the kubelet's {@code kubelet_pods.go} in its newest form.
 */
public final class ImagePullSecrets {

    private static final Logger log = LoggerFactory.getLogger(ImagePullSecrets.class);
    private static final String REASON = "FailedToRetrieveImagePullSecret";

    private final Manager<Secret> secrets;
    private final EventRecorder events;

    /**
     * Pull secrets from this manager.
     *
     * @param secrets with which the pods are registered before
     * @param events told of what is missing
     */
    public ImagePullSecrets(Manager<Secret> secrets, EventRecorder events) {
        this.secrets = secrets;
        this.events = events;
    }

    /**
     * The Secrets that can be had of those that {@code pod} names, in its order. Blocks as long as {@link
     * Manager#getObject} does, once for each. Throws nothing because of a Secret.
     *
     * @param pod as the API server returned it, with metadata and spec; neither kept nor modified
     * @return shared by all who ask: must not be modified
     */
    public ImmutableList<Secret> of(Pod pod) {
        ImmutableList.Builder<Secret> found = ImmutableList.builder();
        List<String> missing = new ArrayList<>();
        for (LocalObjectReference reference : AbsentObject.orEmpty(pod.getSpec().getImagePullSecrets())) {
            String name = AbsentObject.orEmpty(reference.getName());
            if (!name.isEmpty()) {
                find(pod, name).ifPresentOrElse(found::add, () -> missing.add(name));
            }
        }
        if (!missing.isEmpty()) {
            String message = "Unable to retrieve some image pull secrets (" + String.join(", ", missing)
                    + "); attempting to pull the image may not succeed.";
            events.event(InvolvedObject.of(pod), EventRecorder.EventType.WARNING, REASON, message);
        }
        return found.build();
    }

    private Optional<Secret> find(Pod pod, String name) {
        String namespace = pod.getMetadata().getNamespace();
        try {
            return Optional.of(secrets.getObject(namespace, name));
        } catch (ObjectUnavailableException | IllegalArgumentException e) {
            // the event is for people; a pod is synced too often for a louder line
            log.debug(
                    "pod {}/{}: no pull secret {}: {}",
                    namespace,
                    pod.getMetadata().getName(),
                    name,
                    e.getMessage());
            return Optional.empty();
        }
    }
}
