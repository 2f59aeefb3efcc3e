package dev.podcache.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SimulatedTimekeeperTest {

    private static final int TIMERS = 1_000;

    private final SimulatedTimekeeper time = new SimulatedTimekeeper();
    private final List<Integer> run = new ArrayList<>();

    private List<Timekeeper.Scheduled> scheduleMany() {
        List<Timekeeper.Scheduled> scheduled = new ArrayList<>();
        for (int i = 0; i < TIMERS; i++) {
            int number = i;
            // later numbers are due earlier, two at a time
            scheduled.add(time.schedule(Duration.ofSeconds(TIMERS - i / 2), () -> run.add(number)));
        }
        return scheduled;
    }

    @Test
    void pass_manyTimers_runWhenDue_inTheirOrder() {
        scheduleMany();

        time.pass(Duration.ofSeconds(TIMERS));

        assertThat(run).hasSize(TIMERS).startsWith(998, 999, 996, 997).endsWith(0, 1);
        assertThat(time.timers()).isZero();
        assertThat(time.nanoTime()).isEqualTo(Duration.ofSeconds(TIMERS).toNanos());
    }

    @Test
    void cancel_mostTimers_theOthersRun() {
        List<Timekeeper.Scheduled> scheduled = scheduleMany();
        for (int i = 0; i < TIMERS; i++) {
            if (i % 10 != 0) {
                scheduled.get(i).cancel();
                scheduled.get(i).cancel();
            }
        }
        assertThat(time.timers()).isEqualTo(TIMERS / 10);

        time.pass(Duration.ofSeconds(TIMERS));
        scheduled.get(0).cancel();

        assertThat(run).hasSize(TIMERS / 10).startsWith(990, 980).endsWith(10, 0);
        assertThat(time.timers()).isZero();
    }

    @Test
    void close_cancelledLater_hasNoTimers() {
        Timekeeper.Scheduled one = time.schedule(Duration.ofSeconds(1), () -> run.add(1));
        time.close();
        one.cancel();
        time.pass(Duration.ofSeconds(2));

        assertThat(run).isEmpty();
        assertThat(time.timers()).isZero();
    }
}
