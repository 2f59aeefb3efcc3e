package dev.podcache.kubelet.podstatus;

import dev.podcache.apiserver.Retries;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.DoubleSupplier;

/** Which pods wait after a failed report, and for how long. Not thread-safe. */
final class ReportPauses {

    private static final Retries RETRIES = new Retries(Duration.ofSeconds(1), Duration.ofSeconds(10));

    private final Timekeeper timekeeper;
    private final DoubleSupplier random;
    private final Map<String, ReportPause> byUid = new HashMap<>();

    private record ReportPause(int failures, long until, Timekeeper.Scheduled end) {}

    ReportPauses(Timekeeper timekeeper, DoubleSupplier random) {
        this.timekeeper = timekeeper;
        this.random = random;
    }

    boolean has(String uid) {
        ReportPause pause = byUid.get(uid);
        return pause != null && timekeeper.nanoTime() - pause.until() < 0;
    }

    /**
     * Begins a pause, longer with each failure in a row.
     *
     * @param failure why the report failed
     * @param then run when it is over, on the timer's thread
     * @return how many failures in a row there were
     */
    int begin(String uid, Throwable failure, Runnable then) {
        ReportPause before = byUid.get(uid);
        int failures = before == null ? 1 : before.failures() + 1;
        Duration pause = RETRIES.pause(failures, random.getAsDouble(), failure);
        long until = timekeeper.nanoTime() + pause.toNanos();
        byUid.put(uid, new ReportPause(failures, until, timekeeper.schedule(pause, then)));
        return failures;
    }

    /** The pod's failures are over. */
    void forget(String uid) {
        byUid.remove(uid);
    }

    void retain(Set<String> uids) {
        byUid.keySet().retainAll(uids);
    }

    void cancel() {
        byUid.values().forEach(pause -> pause.end().cancel());
        byUid.clear();
    }
}
