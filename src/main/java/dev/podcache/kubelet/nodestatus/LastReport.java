package dev.podcache.kubelet.nodestatus;

import java.time.Duration;
import java.util.function.DoubleSupplier;

/**
 * Remembers the last report, and decides when a report is due although nothing changed. Used only by the tasks of
 * {@link SerialTasks}.
 *
 * <p>After the first report, and after a report of a change, the next one is due after a random time between half and
 * one and a half times the frequency. So a change that affects all nodes of a cluster does not synchronize their
 * reports. After a report without a change, the next one is due after exactly the frequency.
 */
final class LastReport {

    private final long frequency; // nanoseconds
    private final DoubleSupplier random;

    private boolean reported;
    private long time; // nanoseconds
    private long delay; // nanoseconds after the frequency; may be negative
    private String podCidrs = "";

    /**
     * Creates an object without a last report.
     *
     * @param random uniform in [0, 1)
     */
    LastReport(Duration frequency, DoubleSupplier random) {
        this.frequency = frequency.toNanos();
        this.random = random;
    }

    /** Returns whether the Node's pod CIDRs have changed since the last report. False if it has none. */
    boolean differsIn(String podCidrs) {
        return !podCidrs.isEmpty() && !podCidrs.equals(this.podCidrs);
    }

    /** Returns whether a report is due at {@code now} although nothing changed. Always true before the first report. */
    boolean isDue(long now) {
        // adding frequency and delay could overflow
        return !reported || now - time - frequency >= delay;
    }

    /** Call before each try of a report. Each call draws the delay of the next report again. */
    void sending(boolean changed) {
        delay = changed || !reported ? (long) (frequency * (random.getAsDouble() - 0.5)) : 0;
    }

    /** Call when the server has accepted the report. */
    void sent(long now, String podCidrs) {
        reported = true;
        time = now;
        if (!podCidrs.isEmpty()) {
            this.podCidrs = podCidrs;
        }
    }

    /** Forgets the last report, because the Node was deleted or has just been registered. */
    void forget() {
        reported = false;
    }
}
