package dev.podcache.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.RefusingTimers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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

    @Test
    void retainedTwice_runsOnceInEachPeriod_untilItIsReleasedTwice() {
        int[] runs = {0};
        RefCountedTicker used = new RefCountedTicker(time, PERIOD, () -> runs[0]++);
        assertThat(used.retain()).isTrue();
        assertThat(used.retain()).isFalse();
        time.advance(PERIOD.multipliedBy(3));
        assertThat(runs[0]).isEqualTo(3);

        used.release();
        time.advance(PERIOD);
        assertThat(runs[0]).isEqualTo(4);
        used.release();
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    @ExpectedWarnings("a timer could not be set")
    void repeatThatCannotBeSetOnce_isSetAgain() {
        int[] runs = {0};
        RefusingTimers timers = new RefusingTimers(time);
        RefCountedTicker used = new RefCountedTicker(timers, PERIOD, () -> runs[0]++);
        used.retain();
        timers.refusals = 1;
        time.advance(PERIOD.multipliedBy(2));

        assertThat(runs[0]).isEqualTo(2);
    }

    @Test
    @ExpectedWarnings("a timer could not be set")
    void repeatThatCannotBeSet_nextUserStartsItAgain() {
        int[] runs = {0};
        RefusingTimers timers = new RefusingTimers(time);
        RefCountedTicker used = new RefCountedTicker(timers, PERIOD, () -> runs[0]++);
        used.retain();
        timers.refusals = 4;
        assertThatThrownBy(() -> time.advance(PERIOD)).hasMessage("no room for a timer");
        assertThatThrownBy(used::retain).hasMessage("no room for a timer");

        assertThat(used.retain()).isTrue();
        assertThat(used.retain()).isFalse();
        time.advance(PERIOD);

        assertThat(runs[0]).isEqualTo(2);
        used.release();
        used.release();
        assertThat(time.scheduledTasks()).isOne();
        used.release();
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    @ExpectedWarnings("a timer could not be set")
    void retain_withoutTimer_isNoUse() {
        RefusingTimers timers = new RefusingTimers(time);
        RefCountedTicker used = new RefCountedTicker(timers, PERIOD, () -> {});
        timers.refusals = 2;
        assertThatThrownBy(used::retain).hasMessage("no room for a timer");

        assertThat(used.retain()).isTrue();
        assertThat(time.scheduledTasks()).isOne();
        used.release();
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void retainedWhileAnOldRunIsBeginning_theOldOneIsNotContinued() {
        List<Runnable> tasks = new ArrayList<>();
        RefCountedTicker used = new RefCountedTicker(
                new ForwardingTimekeeper(time) {
                    /** Too late to cancel. */
                    @Override
                    public Scheduled schedule(Duration delay, Runnable task) {
                        tasks.add(task);
                        return () -> {};
                    }
                },
                PERIOD,
                () -> {});
        used.retain();
        used.release();
        used.retain();

        tasks.get(0).run();

        assertThat(tasks).as("begun by retain(), none by the old one").hasSize(2);
    }
}
