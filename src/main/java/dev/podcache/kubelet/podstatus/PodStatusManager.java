package dev.podcache.kubelet.podstatus;

import dev.podcache.apiserver.ObjectApi;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;

/**
 * Keeps the newest status of each pod of a node and reports it to the API server. Thread-safe; no method blocks or
 * makes a request on the caller's thread.
 *
 * <p>Guarantees:
 *
 * <ul>
 * <li>The statuses of a pod are reported in order, never an older one after a newer one. Statuses that are replaced
 * before their report are skipped.
 * <li>Only the pod with the UID that the status was set for is patched or deleted, even if another pod has its name.
 * <li>Conditions that others write are preserved. Succeeded and Failed are not reported before {@link #terminatePod}.
 * <li>A status without changes makes no request. The exception is a pod that is marked for deletion, for which each
 * status makes a GET.
 * </ul>
 *
 * <p>A report is a GET, a PATCH if the status differs, and a DELETE if the pod is marked for deletion and has ended.
 * The GET precedes every PATCH, even if a watch already delivered the pod. The PATCH contains only differences, so a
 * PATCH from an outdated state would not restore what others changed since, such as a Ready that the node lifecycle
 * controller set to False. At most eight pods of a node are reported at a time, each with one request at a time, so that a
 * slow answer delays only its own pod: 110 pods take 220 requests in 14 rounds.
 *
 * <p>A failed report is repeated after a pause that affects only its pod: at first at most 1 s, then doubled up to
 * 10 s, or as long as the server requests (Retry-After). A report also fails if its PATCH is answered with a status that
 * another client has changed since the GET. Every 10 s, a full pass compares the pods at the API server with their
 * reported statuses, and repeats the reports that others have overwritten.
 *
 * <p>The status of a static pod is reported for its mirror pod, as {@link PodLookup#atServer} finds it, again for each
 * new mirror pod, and not while there is none. A mirror pod is never deleted.
 *
 * <p>Follows the kubelet's {@code pkg/kubelet/status/status_manager.go}, except for concurrent reports, pauses, and
 * statuses after the end of a pod.
 */
public final class PodStatusManager implements AutoCloseable {

    private static final int MOST_REPORTS = 8;

    private final PodStatusCache cache;
    private final PodStatusSync sync;

    /**
     * Creates a manager, which reports nothing until {@link #start}.
     *
     * @param api the API for pods; not closed by the manager
     * @param known finds the pods as the API server last reported them, such as from a watch. The full pass compares them
     *     with the reported statuses
     * @param timekeeper the clock and timers; not closed by the manager
     * @param random uniform in [0, 1), for jitter
     */
    public PodStatusManager(ObjectApi<Pod> api, PodLookup known, Timekeeper timekeeper, DoubleSupplier random) {
        this(api, known, timekeeper, random, MOST_REPORTS);
    }

    /**
     * Creates a manager for the pods of many nodes, which reports nothing until {@link #start}.
     *
     * @param mostReports how many pods are reported at a time at most
     */
    public PodStatusManager(
            ObjectApi<Pod> api, PodLookup known, Timekeeper timekeeper, DoubleSupplier random, int mostReports) {
        this.cache = new PodStatusCache(
                Objects.requireNonNull(known, "known"), Objects.requireNonNull(timekeeper, "timekeeper"));
        this.sync = new PodStatusSync(
                Objects.requireNonNull(api, "api"),
                cache,
                timekeeper,
                Objects.requireNonNull(random, "random"),
                mostReports);
    }

    /** Starts to report, beginning with the statuses that were already set. Idempotent; without effect once closed. */
    public void start() {
        sync.start();
    }

    /**
     * Sets the status of a pod. Keeps the previous start time, and the transition times of the node's conditions whose
     * status is unchanged; sets the others to the current time. Truncates times to seconds, and termination messages to
     * 12288 bytes divided by the number of containers in the spec. Of {@code podIP} and {@code podIPs}, sets the one that is
     * missing from the other; if both are set and differ, {@code podIP} counts.
     *
     * <p>Rejects, with a warning in the log, a status that reverts an end: of a container that has terminated and must
     * not restart under the pod's restart policy, or of a pod that has Succeeded or Failed.
     *
     * @param pod the pod as the API server returned it, with its spec; not modified
     * @param status the whole status, as {@link PodStatuses#of} returns it; copied
     * @throws IllegalArgumentException if the pod has no namespace, name or uid
     */
    public void setPodStatus(Pod pod, PodStatus status) {
        Objects.requireNonNull(pod, "pod");
        Objects.requireNonNull(status, "status");
        reportIf(cache.set(pod, status), pod.getMetadata().getUid());
    }

    /** Returns whether a status of the pod was set and not forgotten. */
    public boolean hasStatus(String uid) {
        return cache.get(Objects.requireNonNull(uid, "uid")) != null;
    }

    /** Returns the pod at the API server that shows the pod with this UID: {@link PodLookup#atServer}. */
    public Optional<Pod> atServer(String uid) {
        return Optional.ofNullable(cache.atServer(Objects.requireNonNull(uid, "uid")));
    }

    /** Returns a copy of a pod's newest status; empty if none was set, or if the pod was deleted or forgotten. */
    public Optional<PodStatus> getPodStatus(String uid) {
        return Optional.ofNullable(cache.get(Objects.requireNonNull(uid, "uid")))
                .map(newest -> PodParts.copy(newest.status()));
    }

    /**
     * Adds the condition {@code podcache.dev/RuntimeResponding} with status False to a pod. The next {@link
     * #setPodStatus} sets it to True.
     *
     * @param pod the pod as the API server returned it, with its spec; not modified
     * @param call the call of the runtime that does not return, for the condition's message
     */
    public void setRuntimeProblem(Pod pod, String call) {
        reportIf(
                cache.setHanging(pod, Objects.requireNonNull(call, "call")),
                pod.getMetadata().getUid());
    }

    /**
     * Changes which containers of a pod have started and are ready, in the newest status, and the conditions that
     * depend on it. Has no effect if the pod has no status, or has ended.
     *
     * @param pod the pod as the API server returned it, with its spec; not modified
     * @param health sets it in the status of a container that runs; may be called several times
     */
    public void setHealth(Pod pod, Consumer<ContainerStatus> health) {
        reportIf(
                cache.setHealth(pod, Objects.requireNonNull(health, "health")),
                pod.getMetadata().getUid());
    }

    /**
     * Marks a pod as ended: none of its containers runs or will run again. Sets the phase to Failed unless it is
     * already Succeeded, and the exit code of containers without a known end to 137. Reports that status, and then
     * deletes the pod from the API server if it is marked for deletion, now or later. Release all resources of the pod
     * before this call.
     *
     * @param pod the pod as the API server returned it, with its spec; not modified
     * @throws IllegalArgumentException if the pod has no namespace, name or uid
     */
    public void terminatePod(Pod pod) {
        reportIf(cache.terminate(pod), pod.getMetadata().getUid());
    }

    /** Reports the statuses of static pods whose mirror pods have appeared since. */
    public void mirrorPodsChanged() {
        sync.reportAll();
    }

    /** Discards the status of a pod that the API server no longer has. Makes no request. */
    public void forget(String uid) {
        cache.remove(Objects.requireNonNull(uid, "uid"));
    }

    /** Stops reporting. Reports in flight make no further request. Statuses remain readable. Idempotent. */
    @Override
    public void close() {
        sync.close();
    }

    private void reportIf(boolean changed, String uid) {
        if (changed) {
            sync.report(uid);
        }
    }
}
