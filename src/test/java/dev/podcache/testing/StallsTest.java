package dev.podcache.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class StallsTest {

    private final AtomicLong now = new AtomicLong();
    private final Stalls stalls = new Stalls(now::get);

    @Test
    void between_standingStillUntilNow_counts() {
        stalls.step();
        long hour = Duration.ofHours(1).toNanos();

        assertThat(stalls.between(0, 2 * hour) - stalls.between(0, hour)).isEqualTo(hour);
        assertThat(stalls.between(hour, hour + 1)).isEqualTo(1);
    }

    @Test
    void step_late_isAStall() {
        long until = stalls.step().toNanos();
        now.set(until + Duration.ofSeconds(1).toNanos());
        stalls.step();

        assertThat(stalls.between(0, now.get())).isEqualTo(Duration.ofSeconds(1).toNanos());
    }

    @Test
    void step_hardlyLate_isNone() {
        long until = stalls.step().toNanos();
        now.set(until + Duration.ofMillis(99).toNanos());
        stalls.step();

        assertThat(stalls.between(0, now.get())).isZero();
    }

    @Test
    void between_countsOnlyWhatIsInside() {
        stalls.add(10, 20);
        stalls.add(30, 50);

        assertThat(stalls.between(0, 10)).isZero();
        assertThat(stalls.between(0, 100)).isEqualTo(30);
        assertThat(stalls.between(15, 40)).isEqualTo(15);
        assertThat(stalls.between(20, 30)).isZero();
    }

    @Test
    void hasRunAt_isLaterByTheStallsUntilThen() {
        stalls.add(10, 20);
        stalls.add(25, 50);
        stalls.add(90, 95);

        assertThat(stalls.hasRunAt(0, Duration.ofNanos(10), 200)).isEqualTo(10);
        assertThat(stalls.hasRunAt(0, Duration.ofNanos(14), 200)).isEqualTo(24);
        assertThat(stalls.hasRunAt(0, Duration.ofNanos(20), 200)).isEqualTo(55);
        assertThat(stalls.hasRunAt(15, Duration.ofNanos(1), 200)).isEqualTo(21);
    }
}
