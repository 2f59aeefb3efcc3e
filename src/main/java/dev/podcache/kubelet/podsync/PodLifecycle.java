package dev.podcache.kubelet.podsync;

import com.google.common.collect.ImmutableList;
import dev.podcache.kubelet.podconfig.PodPlacement;
import dev.podcache.kubelet.podstatus.PodObservation;
import dev.podcache.kubelet.podstatus.PodStatuses;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.pod.PodEnd;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Duration;
import java.util.Optional;

/**
 * What one pod goes through: synced, from its first sync registered with the managers; when it is deleted or
 * has run to its end, stopped, unregistered and reported as finished; when the API server has it no more,
 * forgotten. One call at a time.
 *
 * <p>Follows {@code SyncPod}, {@code SyncTerminatingPod} and {@code SyncTerminatedPod} of the kubelet's {@code
 * kubelet.go}, with two differences: a pod that is found being deleted after a restart is registered until it has
 * stopped, so that its volumes can be had; and an event is recorded when what it tells is new, not at every attempt.
 */
final class PodLifecycle {

    private static final Duration DEFAULT_GRACE = Duration.ofSeconds(30);

    private final PodWorkers.Parts parts;
    private ImmutableList<PodWarning> told = ImmutableList.of();
    private boolean ended;

    PodLifecycle(PodWorkers.Parts parts) {
        this.parts = parts;
    }

    /** See {@link PodWorker.PodTurns#take}, but throws what goes wrong. */
    Optional<Duration> take(Pod pod, boolean gone) throws InterruptedException {
        return gone ? forget(pod) : advance(pod);
    }

    private Optional<Duration> advance(Pod pod) throws InterruptedException {
        if (ended) {
            // it may be asked to go only now
            parts.statuses().terminatePod(pod);
            return Optional.empty();
        }
        if (PodEnd.isDue(pod)) {
            end(pod);
            return Optional.empty();
        }
        return sync(pod);
    }

    private Optional<Duration> sync(Pod pod) throws InterruptedException {
        parts.configuration().register(pod);
        PodAttempt attempt = new PodAttempt(pod, parts.runtime(), parts.configuration(), placement(pod));
        attempt.run();
        PodStatus status = PodStatuses.of(pod, attempt.observe());
        report(pod, status);
        complain(pod, attempt.complaints());
        if (PodEnd.isTerminal(status.getPhase())) {
            end(pod);
            return Optional.empty();
        }
        if (attempt.failed()) {
            return Optional.of(parts.periods().failed());
        }
        return Optional.of(
                attempt.lacksConfig()
                        ? parts.periods().waiting()
                        : parts.periods().settled());
    }

    private void end(Pod pod) throws InterruptedException {
        // found being deleted: until it has stopped, its volumes may be wanted
        parts.configuration().register(pod);
        parts.runtime().stop(pod, gracePeriod(pod));
        PodState status = parts.runtime().status(pod);
        PodPlacement placement = placement(pod);
        PodObservation last = PodObservation.of(status.containers(), status.initContainers())
                .at(placement.hostIps(), placement.podIps())
                .afterTheEnd();
        report(pod, PodStatuses.of(pod, last));
        parts.configuration().unregister(pod);
        parts.statuses().terminatePod(pod);
        ended = true;
        parts.listener().ended(pod);
    }

    private Optional<Duration> forget(Pod pod) throws InterruptedException {
        if (!ended) {
            parts.runtime().stop(pod, gracePeriod(pod));
            parts.configuration().unregister(pod);
            ended = true;
            parts.listener().ended(pod);
        }
        parts.runtime().forget(pod);
        parts.statuses().forget(pod.getMetadata().getUid());
        // it may turn up again
        ended = false;
        told = ImmutableList.of();
        return Optional.empty();
    }

    private void report(Pod pod, PodStatus status) {
        parts.statuses().setPodStatus(pod, status);
        parts.listener().synced(pod, status);
    }

    private void complain(Pod pod, ImmutableList<PodWarning> complaints) {
        for (PodWarning complaint : complaints) {
            if (!told.contains(complaint)) {
                complaint.tell(pod, parts.events());
            }
        }
        told = complaints;
    }

    private PodPlacement placement(Pod pod) {
        Node node = parts.node().get().orElseGet(Node::new);
        ImmutableList<String> own = parts.runtime().status(pod).podIps();
        PodPlacement placement = PodPlacement.on(node, own);
        boolean hostNetwork = Boolean.TRUE.equals(pod.getSpec().getHostNetwork());
        return hostNetwork ? PodPlacement.on(node, placement.hostIps()) : placement;
    }

    private static Duration gracePeriod(Pod pod) {
        Long deletion = pod.getMetadata().getDeletionGracePeriodSeconds();
        Long usual = pod.getSpec() == null ? null : pod.getSpec().getTerminationGracePeriodSeconds();
        Long seconds = deletion != null ? deletion : usual;
        return seconds == null ? DEFAULT_GRACE : Duration.ofSeconds(Math.max(0, seconds));
    }
}
