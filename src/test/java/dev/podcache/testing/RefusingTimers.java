package dev.podcache.testing;

import dev.podcache.time.Timekeeper;
import java.time.Duration;

/** A {@link Timekeeper} that throws instead of setting a timer, as often as requested, as one without memory does. */
public final class RefusingTimers extends ForwardingTimekeeper {

    /** How many of the next timers are refused. */
    public int refusals;

    /** Creates one that refuses none yet. */
    public RefusingTimers(Timekeeper time) {
        super(time);
    }

    @Override
    public Scheduled schedule(Duration delay, Runnable task) {
        if (refusals > 0) {
            refusals--;
            throw new InternalError("no room for a timer");
        }
        return super.schedule(delay, task);
    }
}
