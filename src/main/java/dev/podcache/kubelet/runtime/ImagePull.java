package dev.podcache.kubelet.runtime;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Implemented by a {@link PodRuntime} that pulls images as a step of its own, before it starts a container. Then the pod's
 * status and events tell of pulls as a kubelet's do, and a pull may take as long as it needs. A runtime without this
 * interface pulls in {@link PodRuntime#startContainer}, if it pulls at all. Implementations must be
 * thread-safe.
 */
@FunctionalInterface
public interface ImagePull {

    /**
     * Pulls the image of a container. Called before each start of the container if its {@code imagePullPolicy} is Always, and
     * if it is IfNotPresent and {@link #isPresent} says no. Calls for one pod are sequential. If the call throws, it is
     * repeated after 10 s, then after twice as long each time, at most 5 minutes.
     *
     * @param pullSecrets the Secrets to pull with that are available, in the order of the pod's spec; unmodifiable. They are
     *     shared and must not be modified
     * @throws ImagePullException if the image could not be pulled
     * @throws InterruptedException if the thread is interrupted, because the pod is to end, the {@link #deadline} has passed or
     *     the agent is closed
     */
    void pull(Pod pod, Container container, List<Secret> pullSecrets) throws ImagePullException, InterruptedException;

    /**
     * Returns whether the image of a container is on this machine and the pod may use it. Called before each start of a
     * container whose policy is IfNotPresent or Never. The default knows no image: it says no, so that {@link #pull} is called
     * and may return at once; only for the policy Never it says yes, so that the start decides.
     *
     * @throws IOException if that is not known; then the container waits with reason {@code ImageInspectError}
     * @throws InterruptedException if the thread is interrupted
     */
    default boolean isPresent(Pod pod, Container container) throws IOException, InterruptedException {
        return "Never".equals(container.getImagePullPolicy());
    }

    /** Returns how long one pull may take before it is interrupted and counts as failed. By default, there is no limit. */
    default Optional<Duration> deadline() {
        return Optional.empty();
    }
}
