package dev.podcache.kubelet.podstatus;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.Objects;
import java.util.Optional;
import java.util.function.DoubleSupplier;
import java.util.function.Function;

/**
 * Keeps the newest status of each pod of our node and brings the API server to agree with it. Thread-safe; no method
 * blocks or makes a request on the caller's thread.
 *
 * <p>What it promises:
 *
 * <ul>
 * <li>The server is sent the newest status of a pod, in order, and never one older than it was sent before. Statuses
 * between two reports are skipped.
 * <li>Only the pod with the UID that the status was set for is written to or deleted, whatever has its name by then.
 * <li>Conditions of others stay as the server has them. Succeeded and Failed are held back until {@link #terminatePod}.
 * <li>A status that says nothing new makes no request, unless the pod is being deleted: then each makes a GET.
 * </ul>
 *
 * <p>A report is a GET of the latest state, a PATCH if that differs, and a DELETE if the pod was asked to end and has.
 * The GET comes before every PATCH even if a watch has brought the pod: a patch is the difference to what is there, so
 * one made from an older state would leave out what somebody changed since, such as a Ready that the node lifecycle
 * controller took away. Eight pods are reported at once, so a pod that waits for its answer holds up one place of
 * eight, and no more than eight requests are under way: 110 pods are 220 requests in 14 rounds.
 *
 * <p>A report that fails is repeated after a pause of its pod alone, first at most 1 s, doubling up to 10 s, or after
 * what the server asks for (Retry-After). Every 10 s a full pass compares what the pods look like from outside with
 * what was reported, and reports again where somebody else has changed it.
 *
 * <p>For pods that come from the API server; the mirror pods of static pods are not treated apart. Follows the
 * kubelet's {@code pkg/kubelet/status/status_manager.go}, except for what is said here of several at once,
 * pauses, and a status after the end.
 */
public final class PodStatusManager implements AutoCloseable {

    private final PodStatusCache cache;
    private final PodStatusSync sync;

    /**
     * A manager that reports nothing yet.
     *
     * @param api not closed with it
     * @param known the pod with that UID as the API server last showed it, such as by a watch; must not block. Asked
     *     for the comparison with what was reported, and for the spec of a pod whose container changed
     * @param timekeeper not closed with it
     * @param random uniform in [0, 1), for jitter
     */
    public PodStatusManager(
            ObjectApi<Pod> api, Function<String, Optional<Pod>> known, Timekeeper timekeeper, DoubleSupplier random) {
        this.cache = new PodStatusCache(
                Objects.requireNonNull(known, "known"), Objects.requireNonNull(timekeeper, "timekeeper"));
        this.sync = new PodStatusSync(
                Objects.requireNonNull(api, "api"), cache, timekeeper, Objects.requireNonNull(random, "random"));
    }

    /** Begins to report, with the statuses that were set already. Idempotent; without effect once closed. */
    public void start() {
        sync.start();
    }

    /**
     * Takes the pod's new status. The start time and the transition times of the node's conditions are kept from the
     * status before where they still hold, else set to now. Times are cut to seconds, and termination messages to 12288
     * bytes over all containers of the spec.
     *
     * <p>A status that undoes an end is not taken, with a warning in the log: a container that has terminated and is
     * not to be started again under the pod's restart policy, or a pod that has Succeeded or Failed.
     *
     * @param pod as the API server returned it, with its spec. Not modified
     * @param status the whole status, as {@link PodStatuses#of} makes it. Copied
     * @throws IllegalArgumentException if the pod has no namespace, name or uid
     */
    public void setPodStatus(Pod pod, PodStatus status) {
        Objects.requireNonNull(status, "status");
        wakeIf(cache.set(pod, status));
    }

    /** A copy of the newest status of the pod with that UID: empty if none was set, or it was removed. */
    public Optional<PodStatus> getPodStatus(String uid) {
        return Optional.ofNullable(cache.get(Objects.requireNonNull(uid, "uid")))
                .map(known -> PodParts.copy(known.status()));
    }

    /**
     * Notes whether a container is ready, and what follows for the pod. Ignored if the pod is not known, has no status
     * yet, or has no such container.
     *
     * @param uid of the pod
     * @param containerId as the container's status has it
     */
    public void setContainerReadiness(String uid, String containerId, boolean ready) {
        wakeIf(cache.setReady(
                Objects.requireNonNull(uid, "uid"), Objects.requireNonNull(containerId, "containerId"), ready));
    }

    /** Notes whether a container has started. Ignored where {@link #setContainerReadiness} is. */
    public void setContainerStartup(String uid, String containerId, boolean started) {
        wakeIf(cache.setStarted(
                Objects.requireNonNull(uid, "uid"), Objects.requireNonNull(containerId, "containerId"), started));
    }

    /**
     * Notes that nothing of the pod runs any more, for good: its phase becomes Failed unless it is Succeeded already,
     * containers of which no end is known have ended with code 137. That is reported, and if the pod was asked to end,
     * now or later, it is deleted from the API server, so everything that belongs to it must be given back by then.
     *
     * @param pod as the API server returned it, with its spec. Not modified
     * @throws IllegalArgumentException if the pod has no namespace, name or uid
     */
    public void terminatePod(Pod pod) {
        wakeIf(cache.terminate(pod));
    }

    /** Forgets the pod with that UID, without any request: to be called when the API server has it no more. */
    public void forget(String uid) {
        cache.remove(Objects.requireNonNull(uid, "uid"));
    }

    /** Ends the reporting: what is under way makes no further request. Statuses can still be read. Idempotent. */
    @Override
    public void close() {
        sync.close();
    }

    private void wakeIf(boolean news) {
        if (news) {
            sync.wakeUp();
        }
    }
}
