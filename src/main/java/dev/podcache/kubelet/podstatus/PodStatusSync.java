package dev.podcache.kubelet.podstatus;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ObjectApi;
import dev.podcache.object.FailureReason;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reports what is newer in a {@link PodStatusCache} than at the server. Thread-safe. */
final class PodStatusSync implements AutoCloseable {

    /*
     * A turn looks for pods whose status is newer than the one last reported, and begins a report of each, up to
     * IN_FLIGHT at once and never two of one pod. It waits for none of them: each that ends frees its place and asks
     * for the next turn. Turns are asked for by wakeUp(): at most one is pending, however often they are asked for, so
     * that a pod that changed thrice is reported once. They run one at a time, on the timer's thread.
     *
     * A full pass, every 10 s, makes pods due that no new version has: by forgetting what was reported of them.
     *
     * A pod whose report failed pauses, alone, and asks for a turn when that is over. Being told that there is another
     * pod by that name only now, by a refused UID, is a failure like any other: the next GET says for sure, and nothing
     * is lost if the conflict had another cause.
     */

    static final Duration FULL_PASS = Duration.ofSeconds(10);
    static final int IN_FLIGHT = 8;

    private static final Logger log = LoggerFactory.getLogger(PodStatusManager.class);

    private final PodStatusCache cache;
    private final Timekeeper timekeeper;
    private final PodStatusReport reports;

    private final Map<String, ReportedVersion> reported = new HashMap<>(); // guarded by this
    private final Set<String> underWay = new HashSet<>(); // guarded by this
    private final ReportPauses pauses; // guarded by this
    private boolean started; // guarded by this
    private boolean woken; // guarded by this
    private boolean closed; // guarded by this
    private Timekeeper.@Nullable Scheduled fullPass; // guarded by this

    /** What the server answered to a version; null if it had no such pod any more. */
    private record ReportedVersion(long version, @Nullable PodStatus answered) {}

    /** Does nothing until started. */
    PodStatusSync(ObjectApi<Pod> api, PodStatusCache cache, Timekeeper timekeeper, DoubleSupplier random) {
        this.cache = cache;
        this.timekeeper = timekeeper;
        this.reports = new PodStatusReport(api, timekeeper, this::isClosed);
        this.pauses = new ReportPauses(timekeeper, random);
    }

    /** Begins with what is there. Idempotent; without effect once closed. */
    void start() {
        synchronized (this) {
            if (started || closed) {
                return;
            }
            started = true;
            fullPass = timekeeper.schedule(FULL_PASS, this::fullPass);
        }
        wakeUp();
    }

    /** Asks for a turn. Returns at once. */
    synchronized void wakeUp() {
        if (started && !closed && !woken) {
            woken = true;
            timekeeper.schedule(Duration.ZERO, this::turn);
        }
    }

    /** Begins no further request. What is under way is left to end. Idempotent. */
    @Override
    public synchronized void close() {
        closed = true;
        if (fullPass != null) {
            fullPass.cancel();
        }
        pauses.cancel();
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    private void turn() {
        synchronized (this) {
            woken = false;
        }
        for (VersionedPodStatus status : cache.all()) {
            if (begins(status)) {
                begin(status);
            }
        }
    }

    /** Takes a place for a report of {@code status}, if one is due and there is a place. */
    private synchronized boolean begins(VersionedPodStatus status) {
        String uid = status.pod().uid();
        boolean due = !closed && !underWay.contains(uid) && !pauses.has(uid) && isBehindLocked(status);
        return due && underWay.size() < IN_FLIGHT && underWay.add(uid);
    }

    private boolean isBehindLocked(VersionedPodStatus status) {
        ReportedVersion last = reported.get(status.pod().uid());
        return last == null || last.version() < status.version();
    }

    private void begin(VersionedPodStatus status) {
        CompletableFuture<PodStatusReport.Result> report;
        try {
            report = reports.report(status);
        } catch (RuntimeException e) {
            report = CompletableFuture.failedFuture(e);
        }
        report.whenComplete((result, thrown) -> {
            if (result != null) {
                ended(status, result);
            } else {
                failed(status, Objects.requireNonNull(thrown));
            }
            wakeUp();
        });
    }

    private void ended(VersionedPodStatus status, PodStatusReport.Result result) {
        String uid = status.pod().uid();
        if (result instanceof PodStatusReport.Result.Reported done) {
            remember(status, done.answered());
        } else {
            cache.remove(uid);
            synchronized (this) {
                underWay.remove(uid);
                pauses.forget(uid);
                reported.remove(uid);
            }
        }
    }

    private synchronized void remember(VersionedPodStatus status, @Nullable PodStatus answered) {
        String uid = status.pod().uid();
        underWay.remove(uid);
        pauses.forget(uid);
        reported.put(uid, new ReportedVersion(status.version(), answered));
    }

    private void failed(VersionedPodStatus status, Throwable thrown) {
        Throwable cause = ApiServerException.causeOf(thrown);
        if (cause instanceof ApiServerException refused && refused.reason() == FailureReason.NOT_FOUND) {
            // it will not come back; the status stays for whoever asks, until it is told to be an orphan
            remember(status, null);
            return;
        }
        int failures;
        synchronized (this) {
            underWay.remove(status.pod().uid());
            if (closed) {
                return;
            }
            failures = pauses.begin(status.pod().uid(), cause, this::wakeUp);
        }
        if (!(cause instanceof ApiServerException)) {
            log.error("reporting the status of pod {} failed; this is a bug in Podcache", status.pod(), cause);
        } else if (failures == 1) {
            // an outage is told once for each pod
            log.warn("the status of pod {} is not reported yet: {}", status.pod(), cause.getMessage());
        } else {
            log.debug("the status of pod {} is still not reported: {}", status.pod(), cause.getMessage());
        }
    }

    private void fullPass() {
        try {
            List<VersionedPodStatus> all = cache.all();
            forgetOrphans(all);
            List<VersionedPodStatus> differing = new ArrayList<>();
            for (VersionedPodStatus status : all) {
                if (differs(status)) {
                    differing.add(status);
                }
            }
            synchronized (this) {
                differing.forEach(status -> reported.remove(status.pod().uid()));
            }
        } catch (RuntimeException e) {
            log.error("a full pass over the statuses of pods failed; the next one comes all the same", e);
        } finally {
            synchronized (this) {
                if (!closed) {
                    fullPass = timekeeper.schedule(FULL_PASS, this::fullPass);
                }
            }
            wakeUp();
        }
    }

    private synchronized void forgetOrphans(List<VersionedPodStatus> all) {
        Set<String> uids = new HashSet<>();
        all.forEach(status -> uids.add(status.pod().uid()));
        reported.keySet().retainAll(uids);
        pauses.retain(uids);
    }

    /**
     * Whether the pod as we know it from elsewhere shows that the server does not have what was
     * reported, or must be deleted.
     */
    private boolean differs(VersionedPodStatus status) {
        ReportedVersion last;
        synchronized (this) {
            last = reported.get(status.pod().uid());
        }
        if (last == null || last.answered() == null) {
            return false;
        }
        Pod pod = cache.known(status.pod().uid());
        if (pod == null) {
            return false;
        }
        if (PodStatusReport.isDeletable(pod, status)) {
            return true;
        }
        PodStatus there = PodStatusNormalizer.normalised(pod, PodParts.status(pod));
        // a server may answer with less than it was sent, such as one that does not know a new
        // field: asking again would not help
        return !PodStatusEquality.equal(there, status.status()) && !PodStatusEquality.equal(there, last.answered());
    }
}
