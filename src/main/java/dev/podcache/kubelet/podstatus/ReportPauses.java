package dev.podcache.kubelet.podstatus;

import dev.podcache.apiserver.Retries;
import dev.podcache.time.Durations;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.DoubleSupplier;

/** Tracks the back-off of pods whose status report failed. Not thread-safe. */
final class ReportPauses {

    private static final Retries RETRIES = new Retries(Duration.ofSeconds(1), Duration.ofSeconds(10));

    private final Timekeeper timekeeper;
    private final DoubleSupplier random;
    private final Map<String, ReportPause> byUid = new HashMap<>();

    /** A pause until {@code end}, in the timekeeper's nanoseconds, and the timer that ends it. */
    private record ReportPause(int failures, long end, Timekeeper.Scheduled timer) {}

    ReportPauses(Timekeeper timekeeper, DoubleSupplier random) {
        this.timekeeper = timekeeper;
        this.random = random;
    }

    boolean isPausing(String uid) {
        ReportPause pause = byUid.get(uid);
        return pause != null && timekeeper.nanoTime() - pause.end() < 0;
    }

    /**
     * Starts a pause, which grows with the number of consecutive failures.
     *
     * @param failure why the report failed
     * @param task run at the end of the pause, on the timer thread
     * @return the number of consecutive failures
     */
    int start(String uid, Throwable failure, Runnable task) {
        ReportPause previous = byUid.get(uid);
        int failures = previous == null ? 1 : previous.failures() + 1;
        Duration length = RETRIES.pause(failures, random.getAsDouble(), failure);
        long end = timekeeper.nanoTime() + Durations.nanos(length);
        byUid.put(uid, new ReportPause(failures, end, timekeeper.schedule(length, task)));
        return failures;
    }

    /** Resets the failures of a pod. */
    void forget(String uid) {
        byUid.remove(uid);
    }

    void retain(Set<String> uids) {
        byUid.keySet().retainAll(uids);
    }

    void cancel() {
        byUid.values().forEach(pause -> pause.timer().cancel());
        byUid.clear();
    }
}
