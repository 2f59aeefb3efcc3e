package dev.podcache.kubelet.runtime;

import com.google.common.collect.ImmutableMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Runs the containers of pods. Users of the node agent implement it. Implementations must be thread-safe.
 *
 * <p>A pod is identified by its UID. The agent makes one call at a time for a pod; calls for different pods come from
 * different threads. All methods may block, except {@link #type}. If a call throws, the next sync of the pod repeats
 * it. The pod's status shows the exception; if the status has no field for it, the log does.
 *
 * <p>The agent starts each container once. The runtime restarts a container that ended, as the pod's {@code
 * restartPolicy} requires, and shows that in {@link #status}.
 */
public interface PodRuntime {

    /** Returns the name of the runtime in the Node's status, such as {@code containerd}. Constant; must not block. */
    String type();

    /** Returns the version of the runtime, such as {@code 1.7.2}. Called before every report of the Node's status. */
    String version();

    /** Returns the current state of a pod's containers. Called several times in each sync, so it should be fast. */
    PodState status(Pod pod);

    /**
     * Writes the content of a pod's volumes. Called before the pod's first container is started, and again at every
     * later sync, because Secrets and ConfigMaps change.
     *
     * @param volumes the files by path, for each volume whose content comes from Secrets, ConfigMaps or the pod itself.
     *     The keys are volume names in the order of the pod's spec; both maps are unmodifiable
     */
    void mount(Pod pod, Map<String, Map<String, VolumeFile>> volumes);

    /**
     * Starts a container that {@link #status} does not contain. Returns when it has started; does not await its end.
     */
    void start(Pod pod, Container container, Launch launch);

    /**
     * Stops all containers of a pod. Returns when none of them runs any more; from then on {@link #status} shows how
     * each of them ended.
     *
     * @param gracePeriod the time that the containers have to end by themselves
     * @throws InterruptedException if the thread is interrupted; the pod's next sync repeats the call
     */
    void stop(Pod pod, Duration gracePeriod) throws InterruptedException;

    /** Discards the state of a pod that no longer exists and of which no container runs. */
    void forget(Pod pod);

    /** Returns why no container can be started now, for the Node's Ready condition; empty if the runtime is ready. */
    Optional<String> problem();

    /**
     * The configuration that a container is started with. Immutable.
     *
     * @param environment the environment variables in the order of their definition; copied, unmodifiable
     * @param pullSecrets the Secrets to pull the image with, in the order of the pod's spec; copied, unmodifiable
     */
    record Launch(Map<String, String> environment, List<Secret> pullSecrets) {

        public Launch {
            environment = ImmutableMap.copyOf(environment);
            pullSecrets = List.copyOf(pullSecrets);
        }

        /** Returns the number of variables and pull secrets. Contains no values, because they are secret. */
        @Override
        public String toString() {
            return "Launch[" + environment.size() + " variables, " + pullSecrets.size() + " pull secrets]";
        }
    }
}
