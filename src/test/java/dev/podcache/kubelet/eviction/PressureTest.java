package dev.podcache.kubelet.eviction;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.host.HostFacts.Supply;
import dev.podcache.kubelet.nodestatus.FakeHost;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith(NoLeaks.class)
class PressureTest {

    private static final EvictionThresholds THRESHOLDS = EvictionThresholds.parse(ImmutableMap.of(
            "memory.available", "20%", "nodefs.available", "30%", "nodefs.inodesFree", "5%", "pid.available", "100"));

    private final FakeHost host = new FakeHost();
    private final ManualTimekeeper time = new ManualTimekeeper();

    private Pressure pressure(PressureType type, Duration period) {
        return new Pressure(type, THRESHOLDS, host, new Pressure.Transition(period, time));
    }

    private static Optional<Supply> ofAThousand(long available) {
        return Optional.of(new Supply(1000, available));
    }

    /** The hard thresholds of upstream's TestPercentageThresholdsMet. */
    @ParameterizedTest
    @CsvSource({"100, 100, true, true", "300, 400, false, false", "300, 100, false, true", "100, 400, true, false"})
    void getAsBoolean_availableOfAThousand_isUnderPressureBelowThePercentage(
            long memory, long disk, boolean memoryPressure, boolean diskPressure) {
        host.memory = ofAThousand(memory);
        host.bytes = ofAThousand(disk);
        assertThat(pressure(PressureType.MEMORY, Duration.ZERO).getAsBoolean()).isEqualTo(memoryPressure);
        assertThat(pressure(PressureType.DISK, Duration.ZERO).getAsBoolean()).isEqualTo(diskPressure);
    }

    @ParameterizedTest
    @CsvSource({"99, true", "100, false", "101, false"})
    void getAsBoolean_atTheThreshold_isNotBelowIt(long available, boolean expected) {
        host.processIds = ofAThousand(available);
        assertThat(pressure(PressureType.PID, Duration.ZERO).getAsBoolean()).isEqualTo(expected);
    }

    @Test
    void getAsBoolean_fewInodes_isDiskPressure() {
        host.inodes = ofAThousand(49);
        assertThat(pressure(PressureType.DISK, Duration.ZERO).getAsBoolean()).isTrue();
    }

    /** Upstream's TestNodeConditionsObservedSince: last observed one minute ago. */
    @ParameterizedTest
    @CsvSource({"PT2M, true", "PT30S, false", "PT1M, false"})
    void getAsBoolean_aMinuteAfterTheLastCrossing_lastsForThePeriod(Duration period, boolean expected) {
        Pressure pressure = pressure(PressureType.MEMORY, period);
        host.memory = ofAThousand(100);
        assertThat(pressure.getAsBoolean()).isTrue();
        host.memory = ofAThousand(900);
        time.advance(Duration.ofMinutes(1));
        assertThat(pressure.getAsBoolean()).isEqualTo(expected);
    }

    /** Upstream's TestNodeConditionsLastObservedAt: the period restarts when the threshold is met again. */
    @Test
    void getAsBoolean_crossedAgain_lastsFromTheLastCrossing() {
        Pressure pressure = pressure(PressureType.MEMORY, Duration.ofMinutes(5));
        host.memory = ofAThousand(100);
        assertThat(pressure.getAsBoolean()).isTrue();
        time.advance(Duration.ofMinutes(4));
        assertThat(pressure.getAsBoolean()).isTrue();
        host.memory = ofAThousand(900);
        time.advance(Duration.ofSeconds(299));
        assertThat(pressure.getAsBoolean()).isTrue();
        time.advance(Duration.ofSeconds(1));
        assertThat(pressure.getAsBoolean()).isFalse();
    }

    @Test
    @ExpectedWarnings("pid.available cannot be read on this machine; its eviction threshold 100 is ignored")
    void getAsBoolean_aFactThatCannotBeRead_isIgnoredWithOneWarning() {
        host.processIds = Optional.empty();
        Pressure pressure = pressure(PressureType.PID, Duration.ZERO);
        assertThat(pressure.getAsBoolean()).isFalse();
        assertThat(pressure.getAsBoolean()).isFalse();
    }

    @Test
    void getAsBoolean_noThreshold_readsNothingAndIsFalse() {
        host.bytes = Optional.empty();
        host.inodes = Optional.empty();
        Pressure pressure = new Pressure(
                PressureType.DISK,
                EvictionThresholds.parse(ImmutableMap.of("nodefs.available", "0%")),
                host,
                new Pressure.Transition(Duration.ZERO, time));
        assertThat(pressure.getAsBoolean()).isFalse();
    }
}
