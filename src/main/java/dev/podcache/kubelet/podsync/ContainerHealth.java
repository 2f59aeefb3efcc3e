package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.object.PodKey;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.Optional;

/** What is known of the health of running containers, apart from their state. Thread-safe; no method blocks. */
public interface ContainerHealth {

    /** All running containers are started, ready and healthy. */
    ContainerHealth UNPROBED = new Unprobed();

    /**
     * Takes over what a sync of a pod sees. Called before the other methods; one call at a time for a pod.
     *
     * @param pod as last seen at the API server; must not be modified afterwards
     * @param state the states of all containers that were ever started, and the pod's addresses
     */
    void observe(Pod pod, PodState state);

    /** Returns whether a running container has started: its startup probe has succeeded, or it has none. */
    boolean isStarted(PodKey pod, Container container, String containerId);

    /** Returns whether a running container that has started is ready: its readiness probe succeeds, or it has none. */
    boolean isReady(PodKey pod, Container container, String containerId);

    /** Ends the liveness and startup probes of a pod that is about to be stopped, whatever the reason. Idempotent. */
    void ending(PodKey pod);

    /** Discards what is known of a pod of which no container runs any more. Idempotent. */
    void ended(PodKey pod);

    /** Returns why a running container must be stopped; empty if it need not. */
    Optional<Unhealthy> unhealthy(PodKey pod, Container container, String containerId);

    /** Implements {@link #UNPROBED}. */
    record Unprobed() implements ContainerHealth {

        @Override
        public void observe(Pod pod, PodState state) {}

        @Override
        public boolean isStarted(PodKey pod, Container container, String containerId) {
            return true;
        }

        @Override
        public boolean isReady(PodKey pod, Container container, String containerId) {
            return true;
        }

        @Override
        public Optional<Unhealthy> unhealthy(PodKey pod, Container container, String containerId) {
            return Optional.empty();
        }

        @Override
        public void ending(PodKey pod) {}

        @Override
        public void ended(PodKey pod) {}
    }

    /**
     * The failure of a probe.
     *
     * @param probe {@code liveness} or {@code startup}
     * @param gracePeriod the grace period of the probe; empty for the pod's
     */
    record Unhealthy(String probe, Optional<Duration> gracePeriod) {}
}
