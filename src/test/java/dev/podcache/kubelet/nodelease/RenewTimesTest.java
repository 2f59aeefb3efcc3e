package dev.podcache.kubelet.nodelease;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;

/** Single steps of the clock. */
class RenewTimesTest {

    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final SteppingClock clock = new SteppingClock(time);
    private final RenewTimes times = new RenewTimes(clock);

    @Test
    void next_clockThatGoesOn_isTheClockInMicroseconds() {
        time.advance(Duration.ofNanos(1_234_567));

        assertThat(times.next(null)).isEqualTo("2026-01-01T00:00:00.001234Z");
    }

    @Test
    void next_noTimePassed_isAMicrosecondLater() {
        times.next(null);

        assertThat(times.next(null)).isEqualTo(START.plusNanos(1000));
    }

    @Test
    void next_clockSteppedForward_follows() {
        times.next(null);
        clock.step(Duration.ofHours(1));

        assertThat(times.next(null)).isEqualTo(START.plusSeconds(3600));
    }

    @Test
    void next_clockSteppedBack_goesOnAtHalfThePace() {
        times.next(null);
        clock.step(Duration.ofHours(-1));
        time.advance(Duration.ofSeconds(10));

        assertThat(times.next(null)).isEqualTo(START.plusSeconds(5));
    }

    @Test
    void next_clockSteppedBackLongAgo_isTheClockAgain() {
        times.next(null);
        clock.step(Duration.ofMinutes(-1));
        for (int i = 0; i < 13; i++) {
            time.advance(Duration.ofSeconds(10));
            times.next(null);
        }

        assertThat(times.next(null)).isEqualTo(clock.wallTime().plusNanos(1000));
    }

    @Test
    void next_leaseOfTheFuture_isJustAfterIt() {
        Lease ahead = new LeaseBuilder()
                .withNewSpec()
                .withRenewTime(START.plusSeconds(600).atZone(ZoneOffset.UTC))
                .endSpec()
                .build();

        assertThat(times.next(ahead)).isEqualTo(START.plusSeconds(600).plusNanos(1000));
    }
}
