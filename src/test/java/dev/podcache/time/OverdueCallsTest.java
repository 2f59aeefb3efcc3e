package dev.podcache.time;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class OverdueCallsTest {

    private static final Duration LIMIT = Duration.ofSeconds(15);

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private int changes;
    private final OverdueCalls calls = new OverdueCalls("pods()", LIMIT, timekeeper, () -> changes++);

    @Test
    void problem_callReturnsInTime_isNone() {
        Timekeeper.Scheduled call = calls.begin();
        timekeeper.advance(LIMIT.minusMillis(1));
        assertThat(calls.problem()).isEmpty();

        call.cancel();
        timekeeper.advance(LIMIT);

        assertThat(calls.problem()).isEmpty();
        assertThat(changes).isZero();
        assertThat(timekeeper.scheduledTasks()).isZero();
    }

    @Test
    void problem_callHangs_isSaidOnceUntilItReturns() {
        Timekeeper.Scheduled call = calls.begin();

        timekeeper.advance(LIMIT);
        assertThat(calls.problem()).contains("pods() has not returned for 15 s");
        timekeeper.advance(LIMIT);
        assertThat(changes).isEqualTo(1);

        call.cancel();
        call.cancel();
        assertThat(calls.problem()).isEmpty();
        assertThat(changes).isEqualTo(2);
    }

    @Test
    void problem_laterCallReturnsWhileAnEarlierHangs_stays() {
        Timekeeper.Scheduled first = calls.begin();
        timekeeper.advance(Duration.ofSeconds(10));
        Timekeeper.Scheduled second = calls.begin();
        timekeeper.advance(Duration.ofSeconds(5));
        assertThat(calls.problem()).isPresent();

        second.cancel();
        assertThat(calls.problem()).isPresent();
        Timekeeper.Scheduled third = calls.begin();
        timekeeper.advance(LIMIT);
        first.cancel();
        assertThat(calls.problem()).isPresent();
        assertThat(changes).isEqualTo(1);

        third.cancel();
        assertThat(calls.problem()).isEmpty();
        assertThat(changes).isEqualTo(2);
    }
}
