package dev.podcache.kubelet.podstatus;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.object.FailureReason;
import dev.podcache.pod.PodEnd;
import dev.podcache.time.ApiTime;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/**
 * Reports one status: GET, then PATCH if the status differs, then DELETE if the pod is marked for deletion and has
 * ended.
 */
final class PodStatusReport {

    // Follows syncPod of pkg/kubelet/status/status_manager.go of Kubernetes.

    private final ObjectApi<Pod> api;
    private final Timekeeper timekeeper;
    private final BooleanSupplier closed;

    /** The outcome of a successful report. */
    sealed interface Result {

        /** The server has the status. {@code answered} is its normalised answer. */
        record Reported(PodStatus answered) implements Result {}

        /** The pod of this UID no longer exists: this report deleted it, or its name belongs to another pod. */
        record Gone() implements Result {}
    }

    /** Creates a report that makes no further request once {@code closed} returns true. */
    PodStatusReport(ObjectApi<Pod> api, Timekeeper timekeeper, BooleanSupplier closed) {
        this.api = api;
        this.timekeeper = timekeeper;
        this.closed = closed;
    }

    /**
     * Starts the requests. The future fails if a request fails, with CONFLICT if another client changed what the node
     * writes between GET and PATCH, and with CancellationException if closed.
     *
     * @param uid the UID of the pod at the server: for a static pod, that of its mirror pod
     */
    CompletableFuture<Result> report(VersionedPodStatus wanted, String uid) {
        return api.get(wanted.key()).thenComposeAsync(server -> write(server, wanted, uid), timekeeper.workers());
    }

    private CompletableFuture<Result> write(Pod server, VersionedPodStatus wanted, String uid) {
        if (!server.getMetadata().getUid().equals(uid)) {
            return CompletableFuture.completedFuture(new Result.Gone());
        }
        PodStatus before = PodParts.status(server);
        StatusPatch patch = StatusPatch.between(uid, before, merged(before, wanted));
        if (patch.unchanged()) {
            return end(server, wanted);
        }
        requireOpen();
        return api.patchStatus(wanted.key(), patch.json())
                .thenComposeAsync(written -> written(written, patch, wanted), timekeeper.workers());
    }

    private PodStatus merged(PodStatus server, VersionedPodStatus wanted) {
        // a mirror pod has the phase of its static pod, whatever others write, and the history that an earlier agent
        // reported
        PodStatus ours = wanted.isStatic()
                ? StatusContinuity.withHistory(server, wanted.status())
                : PodStatusMerge.withEnd(server, wanted.status());
        return PodStatusMerge.merge(server, ours, !wanted.finished(), ApiTime.of(timekeeper.wallTime()));
    }

    private CompletableFuture<Result> written(Pod server, StatusPatch sent, VersionedPodStatus wanted) {
        PodStatus answered = PodParts.status(server);
        // a server may have dropped what was sent, as it would again; any other difference is what another client wrote
        PodStatus kept = PodStatusNormalizer.normalised(server, sent.applied(answered));
        if (!PodStatusEquality.equal(kept, merged(answered, wanted))) {
            throw ApiServerException.withoutAnswer(
                    FailureReason.CONFLICT,
                    "PATCH Pod " + wanted.key() + "/status",
                    "another client changed the status since it was read",
                    null);
        }
        return end(server, wanted);
    }

    private CompletableFuture<Result> end(Pod server, VersionedPodStatus wanted) {
        if (!isDeletable(server, wanted)) {
            return CompletableFuture.completedFuture(
                    new Result.Reported(PodStatusNormalizer.normalised(server, PodParts.status(server))));
        }
        requireOpen();
        return api.delete(wanted.key(), wanted.pod().uid()).thenApply(last -> new Result.Gone());
    }

    /** Returns whether the pod is marked for deletion and has ended, according to both the server and the node. */
    static boolean isDeletable(Pod pod, VersionedPodStatus known) {
        return !known.isStatic() && PodEnd.isDeleted(pod) && known.finished() && PodEnd.isTerminal(pod);
    }

    private void requireOpen() {
        if (closed.getAsBoolean()) {
            throw new CancellationException("closed");
        }
    }
}
