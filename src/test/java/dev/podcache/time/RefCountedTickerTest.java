package dev.podcache.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RefCountedTickerTest {

    private static final Duration PERIOD = Duration.ofSeconds(1);

    private final ManualTimekeeper time = new ManualTimekeeper();

    @Test
    void task_thatThrewOnce_runsAgainAfterThePeriod() {
        int[] runs = {0};
        RefCountedTicker used = new RefCountedTicker(time, PERIOD, () -> {
            runs[0]++;
            if (runs[0] == 1) {
                throw new IllegalStateException("the first run");
            }
        });
        used.retain();
        assertThatThrownBy(() -> time.advance(PERIOD)).hasMessage("the first run");

        time.advance(PERIOD);

        assertThat(runs[0]).isEqualTo(2);
        used.release();
        assertThat(time.scheduledTasks()).isZero();
    }
}
