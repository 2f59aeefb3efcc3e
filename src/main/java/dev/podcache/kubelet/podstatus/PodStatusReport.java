package dev.podcache.kubelet.podstatus;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.pod.PodEnd;
import dev.podcache.time.ApiTime;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/** The requests that report one status: GET, PATCH if anything differs, DELETE if the pod is over. */
final class PodStatusReport {

    // After syncPod of pkg/kubelet/status/status_manager.go of Kubernetes.

    private final ObjectApi<Pod> api;
    private final Timekeeper timekeeper;
    private final BooleanSupplier closed;

    /** What a report came to. */
    sealed interface Result {

        /** The server has the status, as {@code answered} and normalised. */
        record Reported(PodStatus answered) implements Result {}

        /** There is no such pod any more: it was deleted by this report, or another has its name. */
        record Over() implements Result {}
    }

    /** Makes no further request as soon as {@code closed} says so. */
    PodStatusReport(ObjectApi<Pod> api, Timekeeper timekeeper, BooleanSupplier closed) {
        this.api = api;
        this.timekeeper = timekeeper;
        this.closed = closed;
    }

    /** Begins at once; ends exceptionally with what a request failed with, or if closed. */
    CompletableFuture<Result> report(VersionedPodStatus wanted) {
        return api.get(wanted.key()).thenComposeAsync(server -> write(server, wanted), timekeeper.workers());
    }

    private CompletableFuture<Result> write(Pod server, VersionedPodStatus wanted) {
        if (!server.getMetadata().getUid().equals(wanted.pod().uid())) {
            return CompletableFuture.completedFuture(new Result.Over());
        }
        PodStatus before = PodParts.status(server);
        PodStatus merged =
                PodStatusMerge.merge(before, wanted.status(), !wanted.finished(), ApiTime.of(timekeeper.wallTime()));
        StatusPatch patch = StatusPatch.between(wanted.pod().uid(), before, merged);
        if (patch.unchanged()) {
            return end(server, wanted);
        }
        requireOpen();
        return api.patchStatus(wanted.key(), patch.json())
                .thenComposeAsync(written -> end(written, wanted), timekeeper.workers());
    }

    private CompletableFuture<Result> end(Pod server, VersionedPodStatus wanted) {
        if (!isDeletable(server, wanted)) {
            return CompletableFuture.completedFuture(
                    new Result.Reported(PodStatusNormalizer.normalised(server, PodParts.status(server))));
        }
        requireOpen();
        return api.delete(wanted.key(), wanted.pod().uid()).thenApply(last -> new Result.Over());
    }

    /** Whether the pod was asked to end, and has: both the server and the node say so. */
    static boolean isDeletable(Pod pod, VersionedPodStatus known) {
        return PodEnd.isDeleted(pod) && known.finished() && PodEnd.isTerminal(pod);
    }

    private void requireOpen() {
        if (closed.getAsBoolean()) {
            throw new CancellationException("closed");
        }
    }
}
