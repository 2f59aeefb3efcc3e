package dev.podcache.kubelet.runtime;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.Optional;

/**
 * Runs the containers of pods: what a user of the node agent plugs in. Thread-safe.
 *
 * <p>Of one pod, known by its UID, one call at a time is made; calls for different pods come from different
 * threads. All may block. What a call throws is told in the pod's status, or logged where there is none, and the
 * call is made again with the next sync.
 *
 * <p>Each container is started once. Starting it again after it ended, as its pod's {@code restartPolicy} says, is the
 * runtime's own affair, and its statuses tell of it.
 */
public interface PodRuntime {

    /** What the node shows as its runtime, such as {@code containerd}. Always the same; must not block. */
    String type();

    /** The runtime's version, such as {@code 1.7.2}. Asked before every report of the node's status. */
    String version();

    /** What the pod's containers do now. Asked at every sync, so it should be quick. */
    PodState status(Pod pod);

    /**
     * Makes the volumes of a pod contain this, before its first container is started and, because Secrets and
     * ConfigMaps change, at every sync from then on.
     *
     * @param volumes by name: those that take their content from Secrets, ConfigMaps or the pod itself
     */
    void mount(Pod pod, ImmutableMap<String, ImmutableMap<String, VolumeFile>> volumes);

    /** Starts a container that {@link #status} does not know. Returns when it has been started, not when it ends. */
    void start(Pod pod, Container container, Launch launch);

    /**
     * Stops all containers of a pod. Returns when none of them runs any more, after which {@link
     * #status} tells how each ended.
     *
     * @param gracePeriod for the containers to end by themselves
     * @throws InterruptedException if the thread is interrupted; the call is made again when the pod is next looked at
     */
    void stop(Pod pod, Duration gracePeriod) throws InterruptedException;

    /** The pod is gone: forget it. Nothing of it runs. */
    void forget(Pod pod);

    /** Why nothing can be started at present, for the Ready condition of the node; empty if all is well. */
    Optional<String> problem();

    /**
     * What a container is started with.
     *
     * @param environment its variables, in order
     * @param pullSecrets for its image
     */
    record Launch(ImmutableMap<String, String> environment, ImmutableList<Secret> pullSecrets) {

        /** The numbers and nothing else: the values are secret. */
        @Override
        public String toString() {
            return "Launch[" + environment.size() + " variables, " + pullSecrets.size() + " pull secrets]";
        }
    }
}
