package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.events.EventRecorder;
import dev.podcache.kubelet.podstatus.PodStatusManager;
import dev.podcache.kubelet.probe.ProbeNetwork;
import dev.podcache.kubelet.runtime.PodRuntime;
import dev.podcache.time.TaskThreads;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import java.util.Optional;
import java.util.function.Function;

/**
 * The collaborators of the workers, which do not close them.
 *
 * @param known updated by the workers; {@code statuses} must use the same instance
 * @param health tells which containers are started and ready, and which must be restarted
 * @param network sends the HTTP requests of lifecycle hooks; empty if no hook is to run, because the containers are
 *     not real
 * @param node returns the Node of a pod, for its addresses and allocatable resources; empty if unknown
 * @param threads run the syncs
 */
public record WorkerParts(
        PodRuntime runtime,
        PodConfiguration configuration,
        ContainerHealth health,
        Optional<ProbeNetwork> network,
        PodStatusManager statuses,
        EventRecorder events,
        KnownPods known,
        Function<Pod, Optional<Node>> node,
        SyncPeriods periods,
        PodListener listener,
        TaskThreads threads,
        Timekeeper timekeeper) {}
