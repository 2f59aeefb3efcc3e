package dev.podcache.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.cli.demo.DemoSchedule.Act;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DemoScheduleTest {

    @ParameterizedTest
    @ValueSource(longs = {1, 5, 15, 60, 600})
    void begin_anyLength_actsAreInOrderAndWithinIt(long seconds) {
        DemoSchedule schedule = DemoSchedule.of(Duration.ofSeconds(seconds));

        List<Duration> begins = Arrays.stream(Act.values()).map(schedule::begin).toList();

        assertThat(begins).isSorted().allMatch(begin -> begin.compareTo(schedule.length()) <= 0);
    }

    @ParameterizedTest
    @ValueSource(longs = {6, 15, 60})
    void begin_enoughTime_waitsATtlForWhatTheTtlHides(long seconds) {
        DemoSchedule schedule = DemoSchedule.of(Duration.ofSeconds(seconds));
        Duration ttl = Duration.ofSeconds(schedule.ttlSeconds());

        assertThat(schedule.begin(Act.RETURN).minus(schedule.begin(Act.DELETION)))
                .isGreaterThan(ttl);
        assertThat(schedule.begin(Act.RECOVERY).minus(schedule.begin(Act.FAILURE)))
                .isGreaterThan(ttl);
    }

    @Test
    void begin_longDemo_failureLastsSomeSecondsOnly() {
        DemoSchedule schedule = DemoSchedule.of(Duration.ofMinutes(10));

        assertThat(schedule.begin(Act.RECOVERY).minus(schedule.begin(Act.FAILURE)))
                .isBetween(Duration.ofSeconds(3), Duration.ofSeconds(8));
    }

    @Test
    void begin_longDemo_scriptIsOverAfterAMinute() {
        assertThat(DemoSchedule.of(Duration.ofMinutes(10)).begin(Act.END)).isLessThanOrEqualTo(Duration.ofMinutes(1));
    }

    @Test
    void shares_ofAllActs_areTheWhole() {
        DemoSchedule schedule = DemoSchedule.of(Duration.ofSeconds(60));

        assertThat(schedule.begin(Act.END)).isEqualTo(Duration.ofSeconds(60));
    }
}
