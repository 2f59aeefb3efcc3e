package dev.podcache.chaos;

import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Supplier;

/** The system's time, but for the time of day, which an administrator sets. */
final class SteppedClock extends ForwardingTimekeeper {

    private final Supplier<Duration> step;

    /** Ahead by {@code step}, which changes. */
    SteppedClock(Supplier<Duration> step) {
        super(Timekeeper.system());
        this.step = step;
    }

    @Override
    public Instant wallTime() {
        return super.wallTime().plus(step.get());
    }
}
