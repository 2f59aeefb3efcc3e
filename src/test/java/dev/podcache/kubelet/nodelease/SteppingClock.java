package dev.podcache.kubelet.nodelease;

import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import java.time.Instant;

/** Hand-driven time whose time of day can be set, as by an administrator. */
final class SteppingClock extends ForwardingTimekeeper {

    private volatile Duration offset = Duration.ZERO;

    SteppingClock(ManualTimekeeper time) {
        super(time);
    }

    /** Sets the clock by that much, forward or back. */
    void step(Duration by) {
        offset = offset.plus(by);
    }

    @Override
    public Instant wallTime() {
        return super.wallTime().plus(offset);
    }
}
