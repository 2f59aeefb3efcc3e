package dev.podcache.kubelet.runtime;

import com.google.common.collect.ImmutableMap;
import dev.podcache.object.PodKey;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;

/**
 * Runs whole pods: each as a job of a scheduler, a virtual machine or a task of a cloud. Users of the node agent implement it
 * instead of {@link PodRuntime}, and give it to the agent in the same way. Implementations must be thread-safe.
 *
 * <p>The provider decides what happens within a pod: the order of its containers, restarts, probes, hooks, images. The agent
 * reads the configuration, tells of pods that come, change and go, admits and evicts them, and reports what {@link #status}
 * shows: a container is ready if the provider says so. When a pod changes by itself, the provider says {@link
 * RuntimeEvents#changed}; without that, the agent asks at the next sync, 1 to 1.5 min after the one before.
 *
 * <p>What {@link PodRuntime} says of {@link #type}, {@link #listen}, {@link #health}, {@link #pods}, of threads,
 * interrupts, hanging calls and optional capabilities holds here, too. The agent never calls what works on single
 * containers, nor {@link ImagePull}.
 */
public interface PodProvider extends PodRuntime {

    /**
     * What a pod is run with. Immutable.
     *
     * @param launches by the names of init containers, containers and ephemeral containers, in the order of the spec
     * @param volumes the files by path, for each volume whose content comes from Secrets, ConfigMaps, tokens or the pod
     *     itself
     */
    record PodSetup(Map<String, Launch> launches, Map<String, Map<String, VolumeFile>> volumes) {

        public PodSetup {
            launches = ImmutableMap.copyOf(launches);
            volumes = ImmutableMap.copyOf(volumes);
        }

        /** Shows no content. */
        @Override
        public String toString() {
            return "PodSetup[" + launches.size() + " containers, " + volumes.size() + " volumes]";
        }
    }

    /**
     * Begins to run a pod. Returns when the provider will run it; from then on {@link #status} and {@link #pods} show it. Called
     * once all objects that the pod needs were read, and not again after it returned, unless the pod was deleted.
     *
     * @throws IOException if the pod cannot be run now: its status shows the message, and the call is repeated, at first after
     *     10 s, at last every 5 minutes
     * @throws InterruptedException if the thread is interrupted; then the pod must not run
     */
    void create(Pod pod, PodSetup setup) throws IOException, InterruptedException;

    /**
     * Takes over a changed pod or setup: the pod's labels, annotations or spec, or the content of a Secret or ConfigMap.
     * Called for a pod that was created, and once after a start of the agent, when the provider may have the same already. What
     * Kubernetes does not apply to a running pod, such as changed variables, may be left for the next restart of a container.
     *
     * @throws IOException if it could not be taken over; the call is repeated
     * @throws InterruptedException if the thread is interrupted
     */
    void update(Pod pod, PodSetup setup) throws IOException, InterruptedException;

    /**
     * Stops a pod, and frees what it has. Returns when nothing of it runs. Has no effect on an unknown pod. Called when the pod is
     * to end, and again once it no longer exists. {@link #status} may show the ends of its containers in between; a pod that it
     * does not show has ended for an unknown reason.
     *
     * @param gracePeriod the time that the containers have to end by themselves
     * @throws InterruptedException if the thread is interrupted, because the grace period was shortened or the agent is
     *     closed; this agent or the next one repeats the call
     */
    void delete(PodKey pod, Duration gracePeriod) throws IOException, InterruptedException;

    /**
     * Returns the state of a pod; {@link PodState#NONE} if it is unknown. A container that is not shown is waiting to start. The
     * addresses of the pod, and of each container the state, readiness, restart count and last state are reported as they are
     * shown. A pod whose containers have all ended is over if its restart policy says so.
     */
    @Override
    PodState status(Pod pod);

    /** Discards what {@link #status} still shows of a pod that no longer exists. Default: nothing. */
    @Override
    default void forget(PodKey pod) throws IOException {}

    /** Is {@link #delete}. */
    @Override
    default void stopPod(PodKey pod, Duration gracePeriod) throws IOException, InterruptedException {
        delete(pod, gracePeriod);
    }

    /** Never called: the setup has the volumes. */
    @Override
    default void mount(Pod pod, Map<String, Map<String, VolumeFile>> volumes) {
        throw new UnsupportedOperationException("a provider runs whole pods");
    }

    /** Never called. */
    @Override
    default void startContainer(Pod pod, Container container, Launch launch) {
        throw new UnsupportedOperationException("a provider runs whole pods");
    }

    /** Never called. */
    @Override
    default void stopContainer(PodKey pod, String container, Duration gracePeriod) {
        throw new UnsupportedOperationException("a provider runs whole pods");
    }
}
