package dev.podcache.kubelet.nodelease;

import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import java.time.Instant;

/** Hand-driven time with a wall clock that can be set, as an administrator does. */
final class SteppingClock extends ForwardingTimekeeper {

    private volatile Duration offset = Duration.ZERO;

    SteppingClock(ManualTimekeeper time) {
        super(time);
    }

    /** Moves the wall clock by {@code by}, forward or back. */
    void step(Duration by) {
        offset = offset.plus(by);
    }

    @Override
    public Instant wallTime() {
        return super.wallTime().plus(offset);
    }
}
