package dev.podcache.kubelet.nodelease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Any sequence of clock steps. */
class RenewTimesProperties {

    @Property
    void next_anySteps_alwaysIncreasesInWholeMicroseconds(
            @ForAll @Size(max = 30) List<@IntRange(min = -100_000, max = 100_000) Integer> stepsInMillis,
            @ForAll @IntRange(max = 20_000_000) int passedNanos) {
        ManualTimekeeper time = new ManualTimekeeper();
        SteppingClock clock = new SteppingClock(time);
        RenewTimes times = new RenewTimes(clock);
        Instant last = times.next(null);
        for (int step : stepsInMillis) {
            clock.step(Duration.ofMillis(step));
            time.advance(Duration.ofNanos(passedNanos));
            Instant next = times.next(null);

            assertThat(next).isAfter(last).isAfterOrEqualTo(clock.wallTime().truncatedTo(ChronoUnit.MICROS));
            assertThat(next).isEqualTo(next.truncatedTo(ChronoUnit.MICROS));
            last = next;
        }
    }
}
