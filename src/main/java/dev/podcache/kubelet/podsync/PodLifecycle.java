package dev.podcache.kubelet.podsync;

import dev.podcache.kubelet.podconfig.PodPlacement;
import dev.podcache.kubelet.podstatus.PodObservation;
import dev.podcache.kubelet.podstatus.PodStatuses;
import dev.podcache.kubelet.runtime.PodState;
import dev.podcache.pod.PodEnd;
import dev.podcache.pod.PodReferences;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The lifecycle of one pod. The first sync registers the pod with the managers. Once the pod is marked for deletion or
 * has ended, it is stopped, unregistered and reported as finished. Once the API server no longer has it, it is
 * forgotten. Not thread-safe.
 *
 * <p>Follows {@code SyncPod}, {@code SyncTerminatingPod} and {@code SyncTerminatedPod} of the kubelet's {@code
 * kubelet.go}, with two differences. A pod that is already marked for deletion after a restart stays registered until
 * it has stopped, so that its volumes remain readable. An event is recorded only if the previous sync did not record
 * it.
 */
final class PodLifecycle {

    private static final Duration DEFAULT_GRACE = Duration.ofSeconds(30);

    private final PodWorkers.Parts parts;
    private List<PodWarning> lastWarnings = List.of();
    private boolean ended;

    PodLifecycle(PodWorkers.Parts parts) {
        this.parts = parts;
    }

    /** Implements {@link PodWorker.PodSync#sync}, but throws any failure. */
    Optional<Duration> sync(Pod pod, boolean gone) throws IOException, InterruptedException {
        if (gone) {
            forget(pod);
            return Optional.empty();
        }
        if (ended) {
            // the pod may have been marked for deletion after it ended
            parts.statuses().terminatePod(pod);
            return Optional.empty();
        }
        if (PodEnd.isDue(pod)) {
            end(pod);
            return Optional.empty();
        }
        return syncRunning(pod);
    }

    private Optional<Duration> syncRunning(Pod pod) throws IOException, InterruptedException {
        parts.configuration().register(pod);
        PodAttempt attempt = new PodAttempt(pod, parts.runtime(), parts.configuration(), placement(pod));
        attempt.run();
        PodStatus status = PodStatuses.of(pod, attempt.observe());
        report(pod, status);
        recordNew(attempt.warnings(), pod);
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

    private void end(Pod pod) throws IOException, InterruptedException {
        // a pod that was already marked for deletion at a restart may need its volumes until it has stopped
        parts.configuration().register(pod);
        // the hollow runtime learns of a pod by a status
        parts.runtime().status(pod);
        parts.runtime().stop(PodReferences.key(pod), gracePeriod(pod));
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

    private void forget(Pod pod) throws IOException, InterruptedException {
        if (!ended) {
            parts.runtime().stop(PodReferences.key(pod), gracePeriod(pod));
            parts.configuration().unregister(pod);
            ended = true;
            parts.listener().ended(pod);
        }
        parts.runtime().forget(PodReferences.key(pod));
        parts.statuses().forget(pod.getMetadata().getUid());
        // the pod may reappear in a list from a server that lags behind
        ended = false;
        lastWarnings = List.of();
    }

    private void report(Pod pod, PodStatus status) {
        parts.statuses().setPodStatus(pod, status);
        parts.listener().synced(pod, status);
    }

    private void recordNew(List<PodWarning> warnings, Pod pod) {
        for (PodWarning warning : warnings) {
            if (!lastWarnings.contains(warning)) {
                warning.emit(pod, parts.events());
            }
        }
        lastWarnings = warnings;
    }

    private PodPlacement placement(Pod pod) {
        Node node = parts.node().get().orElseGet(Node::new);
        PodPlacement placement =
                PodPlacement.on(node, parts.runtime().status(pod).podIps());
        boolean hostNetwork = Boolean.TRUE.equals(pod.getSpec().getHostNetwork());
        return hostNetwork ? PodPlacement.on(node, placement.hostIps()) : placement;
    }

    private static Duration gracePeriod(Pod pod) {
        Long deletion = pod.getMetadata().getDeletionGracePeriodSeconds();
        Long specified = pod.getSpec() == null ? null : pod.getSpec().getTerminationGracePeriodSeconds();
        Long seconds = deletion != null ? deletion : specified;
        return seconds == null ? DEFAULT_GRACE : Duration.ofSeconds(Math.max(0, seconds));
    }
}
