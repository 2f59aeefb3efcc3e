package dev.podcache.kubelet.nodestatus;

import java.time.Duration;
import java.util.function.DoubleSupplier;

/**
 * What was reported last, and so whether it is time for a report that says nothing new. Used in a turn only.
 *
 * <p>After a report of a change, and after the first one, the next is due after half to one and a half times the
 * frequency, at random: a change that meets all nodes of a cluster does not make them report together from then on.
 * After a report that was merely due the next is due after exactly the frequency.
 */
final class LastReport {

    private final long frequency;
    private final DoubleSupplier random;

    private boolean reported;
    private long time;
    private long delay;
    private String podCidrs = "";

    /**
     * Nothing was reported yet.
     *
     * @param random uniform in [0, 1)
     */
    LastReport(Duration frequency, DoubleSupplier random) {
        this.frequency = frequency.toNanos();
        this.random = random;
    }

    /** Whether the Node was given other addresses for its pods since the last report; none at all is no news. */
    boolean differsIn(String podCidrs) {
        return !podCidrs.isEmpty() && !podCidrs.equals(this.podCidrs);
    }

    /** Whether one is due at {@code now}, even if there is nothing new: always, if there was none yet. */
    boolean isOverdue(long now) {
        // not the sum of the two, which a frequency of centuries would have overflow
        return !reported || now - time - frequency >= delay;
    }

    /** A report is about to be tried. If that fails, a new try draws a new delay. */
    void sending(boolean changed) {
        delay = changed || !reported ? (long) (frequency * (random.getAsDouble() - 0.5)) : 0;
    }

    /** The report has been accepted. */
    void sent(long now, String podCidrs) {
        reported = true;
        time = now;
        if (!podCidrs.isEmpty()) {
            this.podCidrs = podCidrs;
        }
    }

    /** The next report is like a first one: the Node that has the ones before is gone, or has just been registered. */
    void forget() {
        reported = false;
    }
}
