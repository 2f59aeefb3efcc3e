package dev.podcache.kubelet.podstatus;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.object.FailureReason;
import dev.podcache.pod.PodEnd;
import dev.podcache.time.Pause;
import dev.podcache.time.PeriodicLoop;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reports the statuses of a {@link PodStatusCache} that are newer than the server's. Thread-safe. */
final class PodStatusSync implements AutoCloseable {

    /*
     * `due` has the UIDs of pods whose status may be newer than the last reported version. A pod is due when its status
     * changes, when its report completed (a newer status may have come meanwhile), when its pause ends, and when a full
     * pass finds that its status at the server differs. A scan takes due pods, in this order, and starts a report for each
     * that needs one: at most `mostReports` at a time, and one for a pod. It does not wait for the reports. At most one scan
     * is pending, so that a pod that changed three times is reported once. Scans run one at a time, on the timer thread.
     *
     * A full pass, every 10 s, forgets the reported version of pods whose status at the server differs from it, and of
     * pods that the server said are gone and that the watch shows anew.
     *
     * A failed report pauses only its own pod. A conflict on the UID, because another pod has taken the name since the
     * GET, counts as a failure: the GET of the next attempt decides, and nothing is lost if the conflict had another cause.
     */

    static final Duration FULL_PASS = Duration.ofSeconds(10);

    private static final Logger log = LoggerFactory.getLogger(PodStatusManager.class);

    private final PodStatusCache cache;
    private final Timekeeper timekeeper;
    private final PodStatusReport reports;
    private final int mostReports;
    private final PeriodicLoop fullPasses;

    private final Map<String, ReportedVersion> reported = new HashMap<>(); // guarded by this
    private final Set<String> due = new LinkedHashSet<>(); // guarded by this
    private final Set<String> inFlight = new HashSet<>(); // guarded by this
    private final ReportPauses pauses; // guarded by this
    private boolean started; // guarded by this
    private boolean scanPending; // guarded by this
    private boolean closed; // guarded by this

    /** Creates a sync that does nothing until {@link #start}, and then reports {@code mostReports} pods at a time. */
    PodStatusSync(
            ObjectApi<Pod> api, PodStatusCache cache, Timekeeper timekeeper, DoubleSupplier random, int mostReports) {
        this.cache = cache;
        this.mostReports = mostReports;
        this.timekeeper = timekeeper;
        this.reports = new PodStatusReport(api, timekeeper, this::isClosed);
        this.pauses = new ReportPauses(timekeeper, random);
        this.fullPasses = new PeriodicLoop(this::fullPass, FULL_PASS, timekeeper, () -> 0);
    }

    /** Starts to report, beginning with the cached statuses. Idempotent; without effect once closed. */
    void start() {
        synchronized (this) {
            if (started || closed) {
                return;
            }
            started = true;
        }
        fullPasses.start();
    }

    /** Reports every status that is newer than the server's. Never blocks. */
    void reportAll() {
        cache.all().forEach(status -> report(status.pod().uid()));
    }

    /** Reports the status of a pod if it is newer than the server's. Never blocks. */
    synchronized void report(String uid) {
        if (!closed) {
            due.add(uid);
            requestScan();
        }
    }

    private synchronized void requestScan() {
        if (started && !closed && !scanPending) {
            Pause.schedule(timekeeper, Duration.ZERO, this::scan);
            scanPending = true;
        }
    }

    /** Starts no further request; requests in flight complete. Idempotent. */
    @Override
    public void close() {
        fullPasses.close();
        synchronized (this) {
            closed = true;
            pauses.cancel();
        }
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    private void scan() {
        synchronized (this) {
            scanPending = false;
        }
        for (String uid = nextDue(); uid != null; uid = nextDue()) {
            try {
                VersionedPodStatus status = cache.get(uid);
                String serverUid = status == null ? null : serverUid(status);
                if (status != null && serverUid != null && reserve(status, serverUid)) {
                    startReport(status, serverUid);
                }
            } catch (RuntimeException | Error e) {
                notReported(uid, e);
            }
        }
    }

    private static void notReported(String uid, Throwable failure) {
        try {
            log.error("the status of pod {} was not reported; the next full pass tries again", uid, failure);
        } catch (Throwable notLogged) {
            // no memory, or a log that fails: the other pods are reported all the same
        }
    }

    /** Takes the next due pod; null if there is none, or no place for a further report. */
    private synchronized @Nullable String nextDue() {
        if (closed || inFlight.size() >= mostReports) {
            return null;
        }
        Iterator<String> first = due.iterator();
        if (!first.hasNext()) {
            return null;
        }
        String uid = first.next();
        first.remove();
        return uid;
    }

    /** Returns the UID of the pod at the server, or null if it is a static pod that has no mirror pod yet. */
    private @Nullable String serverUid(VersionedPodStatus status) {
        if (!status.isStatic()) {
            return status.pod().uid();
        }
        Pod mirror = cache.atServer(status.pod().uid());
        return mirror == null ? null : mirror.getMetadata().getUid();
    }

    /** Reserves a place for a report if {@code status} needs one, and returns whether it did. */
    private synchronized boolean reserve(VersionedPodStatus status, String serverUid) {
        String uid = status.pod().uid();
        ReportedVersion last = reported.get(uid);
        boolean behind = last == null || last.isBehind(status, serverUid);
        return behind && !closed && !pauses.isPausing(uid) && inFlight.add(uid);
    }

    private void startReport(VersionedPodStatus status, String serverUid) {
        CompletableFuture<PodStatusReport.Result> report;
        try {
            report = reports.report(status, serverUid);
        } catch (RuntimeException | Error e) {
            report = failed(e, status.pod().uid());
        }
        report.whenComplete((result, thrown) -> {
            boolean handled = false;
            try {
                if (result != null) {
                    completed(status, serverUid, result);
                } else {
                    failed(status, serverUid, Objects.requireNonNull(thrown));
                }
                handled = true;
            } catch (RuntimeException | Error e) {
                notReported(status.pod().uid(), e);
            } finally {
                if (handled) {
                    report(status.pod().uid());
                } else {
                    release(status.pod().uid());
                }
            }
        });
    }

    private CompletableFuture<PodStatusReport.Result> failed(Throwable failure, String uid) {
        boolean made = false;
        try {
            CompletableFuture<PodStatusReport.Result> failed = CompletableFuture.failedFuture(failure);
            made = true;
            return failed;
        } finally {
            if (!made) {
                release(uid);
            }
        }
    }

    /** Frees the place of a report whose end could not be handled. */
    private synchronized void release(String uid) {
        inFlight.remove(uid);
    }

    private void completed(VersionedPodStatus status, String serverUid, PodStatusReport.Result result) {
        String uid = status.pod().uid();
        if (result instanceof PodStatusReport.Result.Reported success) {
            remember(uid, ReportedVersion.answered(status, serverUid, success.answered()));
        } else if (status.isStatic()) {
            // the next mirror pod gets the status
            remember(uid, ReportedVersion.gone(status, serverUid, cache.atServer(uid)));
        } else {
            cache.remove(uid);
            synchronized (this) {
                inFlight.remove(uid);
                pauses.forget(uid);
                reported.remove(uid);
            }
        }
    }

    private synchronized void remember(String uid, ReportedVersion version) {
        inFlight.remove(uid);
        pauses.forget(uid);
        reported.put(uid, version);
    }

    private void failed(VersionedPodStatus status, String serverUid, Throwable thrown) {
        Throwable cause = ApiServerException.causeOf(thrown);
        FailureReason refusal = cause instanceof ApiServerException refused ? refused.reason() : null;
        String uid = status.pod().uid();
        // the Node authorizer refuses requests about a pod that is no longer on the node
        boolean isForbidden = refusal == FailureReason.FORBIDDEN;
        boolean isNotFound = refusal == FailureReason.NOT_FOUND;
        Pod shown = isForbidden || isNotFound ? cache.atServer(uid) : null;
        if (isNotFound || (isForbidden && shown == null)) {
            // the pod no longer exists; its status remains readable until PodStatusManager.forget. If the watch, which
            // may lag behind the server, shows another state of it, a full pass tries again
            remember(uid, ReportedVersion.gone(status, serverUid, shown));
            return;
        }
        // the watch may say only later that the pod is gone
        boolean isExpected = shown != null && PodEnd.isDeleted(shown);
        int failures;
        synchronized (this) {
            inFlight.remove(uid);
            if (closed) {
                return;
            }
            failures = pauses.start(uid, cause, () -> report(uid));
        }
        if (!(cause instanceof ApiServerException)) {
            log.error(
                    "report of the status of pod {} failed because of a bug in Podcache; retrying",
                    status.pod(),
                    cause);
        } else if (failures == (isExpected ? 2 : 1)) {
            // an outage causes one warning for each pod
            log.warn("report of the status of pod {} failed; retrying: {}", status.pod(), cause.getMessage());
        } else {
            log.debug("report of the status of pod {} failed again; retrying: {}", status.pod(), cause.getMessage());
        }
    }

    private CompletableFuture<@Nullable Void> fullPass() {
        try {
            List<VersionedPodStatus> all = cache.all();
            forgetOrphans(all);
            List<VersionedPodStatus> changed =
                    all.stream().filter(this::differs).toList();
            synchronized (this) {
                changed.forEach(status -> reported.remove(status.pod().uid()));
            }
        } catch (RuntimeException | Error e) {
            log.error(
                    "full pass over the statuses of pods failed; the next one runs in {} s", FULL_PASS.toSeconds(), e);
        } finally {
            reportAll();
        }
        return CompletableFuture.completedFuture(null);
    }

    private synchronized void forgetOrphans(List<VersionedPodStatus> all) {
        Set<String> uids = new HashSet<>();
        all.forEach(status -> uids.add(status.pod().uid()));
        reported.keySet().retainAll(uids);
        pauses.retain(uids);
    }

    /**
     * Returns whether the pod, as the API server last reported it, lacks the reported status or is still to be deleted,
     * or is shown anew.
     */
    private boolean differs(VersionedPodStatus status) {
        ReportedVersion last;
        synchronized (this) {
            last = reported.get(status.pod().uid());
        }
        if (last == null) {
            return false;
        }
        Pod pod = cache.atServer(status.pod().uid());
        return pod != null && last.differsAt(pod, status);
    }
}
