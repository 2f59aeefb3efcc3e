package dev.podcache.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class StallsTest {

    private final Stalls stalls = new Stalls(new RunTime());

    @Test
    void between_standingStillUntilNow_counts() {
        stalls.step();
        long hour = Duration.ofHours(1).toNanos();

        assertThat(stalls.between(0, 2 * hour) - stalls.between(0, hour)).isEqualTo(hour);
        assertThat(stalls.between(hour, hour + 1)).isEqualTo(1);
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
}
