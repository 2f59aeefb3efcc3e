package dev.podcache.kubelet.eviction;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableMap;
import dev.podcache.kubelet.eviction.ThresholdTracker.Assessment;
import dev.podcache.kubelet.host.HostFacts.Supply;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The functions of upstream's helpers_test.go about thresholds and conditions. */
class ThresholdTrackerTest {

    private static final long MINUTE = Duration.ofMinutes(1).toNanos();

    private static EvictionThreshold threshold(EvictionSignal signal, String value, Duration grace, String reclaim) {
        return new EvictionThreshold(
                signal,
                ThresholdValue.parse(signal, value).orElseThrow(),
                grace,
                reclaim.isEmpty() ? Optional.empty() : Optional.of(ThresholdValue.parseReclaim(signal, reclaim)));
    }

    private static EvictionThreshold memory(String value, Duration grace) {
        return threshold(EvictionSignal.MEMORY_AVAILABLE, value, grace, "");
    }

    private static Measurement memory(String available) {
        return supplies(ImmutableMap.of(EvictionSignal.MEMORY_AVAILABLE, supply(available)));
    }

    private static Supply supply(String available) {
        return new Supply(MeasuredPods.bytes("4Gi"), MeasuredPods.bytes(available));
    }

    private static Measurement supplies(Map<EvictionSignal, Supply> supplies) {
        return Measurement.of(supplies, List.of(), StorageLayout.SHARED);
    }

    /** TestThresholdsMet: 1Gi with a minimum reclaim of 500Mi. */
    @ParameterizedTest
    @CsvSource({
        "500Mi, true, true",
        "2Gi, false, false",
        "1075Mi, false, true",
        "1Gi, false, true",
        "1524Mi, false, false"
    })
    void isMet_aGibibyteWanted_ifLessIsAvailable(String available, boolean met, boolean unresolved) {
        EvictionThreshold threshold = threshold(EvictionSignal.MEMORY_AVAILABLE, "1Gi", Duration.ZERO, "500Mi");
        assertThat(threshold.isMet(supply(available))).isEqualTo(met);
        assertThat(threshold.isUnresolved(supply(available))).isEqualTo(unresolved);
    }

    /** TestPercentageThresholdsMet: memory 20 % with a minimum reclaim of 5 %, disk 30 %, of a thousand. */
    @ParameterizedTest
    @CsvSource({"100, 100, true, true", "300, 400, false, false", "300, 100, false, true", "100, 400, true, false"})
    void assess_availableOfAThousand_isPressureBelowThePercentage(
            long memory, long disk, boolean memoryPressure, boolean diskPressure) {
        List<EvictionThreshold> thresholds = List.of(
                threshold(EvictionSignal.MEMORY_AVAILABLE, "20%", Duration.ZERO, "5%"),
                threshold(EvictionSignal.NODE_FS_AVAILABLE, "30%", Duration.ZERO, ""));
        Measurement measured = supplies(ImmutableMap.of(
                EvictionSignal.MEMORY_AVAILABLE, new Supply(1000, memory),
                EvictionSignal.NODE_FS_AVAILABLE, new Supply(1000, disk)));
        Assessment assessed = new ThresholdTracker(Duration.ofMinutes(5)).assess(thresholds, measured, 0);
        assertThat(assessed.pressures().contains(PressureType.MEMORY)).isEqualTo(memoryPressure);
        assertThat(assessed.pressures().contains(PressureType.DISK)).isEqualTo(diskPressure);
    }

    /** TestPercentageThresholdsMet, the rows that enforce the minimum reclaim. */
    @ParameterizedTest
    @CsvSource({"225, true", "250, false", "300, false"})
    void isUnresolved_percentages_ifLessThanBothIsAvailable(long available, boolean expected) {
        EvictionThreshold threshold = threshold(EvictionSignal.MEMORY_AVAILABLE, "20%", Duration.ZERO, "5%");
        assertThat(threshold.isUnresolved(new Supply(1000, available))).isEqualTo(expected);
    }

    /** TestNodeConditionsObservedSince: last observed one minute ago. */
    @ParameterizedTest
    @CsvSource({"PT2M, true", "PT30S, false", "PT1M, false"})
    void assess_aMinuteAfterTheLastCrossing_pressureLastsForThePeriod(Duration period, boolean expected) {
        ThresholdTracker tracker = new ThresholdTracker(period);
        List<EvictionThreshold> thresholds = List.of(memory("1Gi", Duration.ZERO));
        tracker.assess(thresholds, memory("500Mi"), 0);
        assertThat(tracker.assess(thresholds, memory("2Gi"), MINUTE).pressures().contains(PressureType.MEMORY))
                .isEqualTo(expected);
    }

    /** TestNodeConditionsLastObservedAt: the period restarts when the threshold is met again. */
    @Test
    void assess_crossedAgain_pressureLastsFromTheLastCrossing() {
        ThresholdTracker tracker = new ThresholdTracker(Duration.ofMinutes(5));
        List<EvictionThreshold> thresholds = List.of(memory("1Gi", Duration.ZERO));
        tracker.assess(thresholds, memory("500Mi"), 0);
        tracker.assess(thresholds, memory("500Mi"), 4 * MINUTE);
        assertThat(tracker.assess(thresholds, memory("2Gi"), 9 * MINUTE - 1).pressures())
                .containsExactly(PressureType.MEMORY);
        assertThat(tracker.assess(thresholds, memory("2Gi"), 9 * MINUTE).pressures())
                .isEmpty();
    }

    /** TestThresholdsMetGracePeriod: hard 1Gi, soft 2Gi for a minute. */
    @Test
    void assess_hardAndSoft_areDueAfterTheirGracePeriods() {
        EvictionThreshold hard = memory("1Gi", Duration.ZERO);
        EvictionThreshold soft = memory("2Gi", Duration.ofMinutes(1));
        List<EvictionThreshold> thresholds = List.of(hard, soft);
        ThresholdTracker tracker = new ThresholdTracker(Duration.ofMinutes(5));
        assertThat(tracker.assess(thresholds, memory("3Gi"), 0).due()).isEmpty();
        assertThat(tracker.assess(thresholds, memory("1500Mi"), MINUTE).due()).isEmpty();
        assertThat(tracker.assess(thresholds, memory("500Mi"), MINUTE).due()).containsExactly(hard);
        assertThat(tracker.assess(thresholds, memory("1500Mi"), 3 * MINUTE).due())
                .containsExactly(soft);
    }

    @Test
    void assess_softEndsInBetween_startsItsGracePeriodAgain() {
        EvictionThreshold soft = memory("2Gi", Duration.ofMinutes(1));
        ThresholdTracker tracker = new ThresholdTracker(Duration.ofMinutes(5));
        tracker.assess(List.of(soft), memory("1Gi"), 0);
        tracker.assess(List.of(soft), memory("2Gi"), MINUTE / 2);
        tracker.assess(List.of(soft), memory("1Gi"), MINUTE);
        assertThat(tracker.assess(List.of(soft), memory("1Gi"), 2 * MINUTE - 1).due())
                .isEmpty();
        assertThat(tracker.assess(List.of(soft), memory("1Gi"), 2 * MINUTE).due())
                .containsExactly(soft);
    }

    /** TestSortByEvictionPriority. */
    @Test
    void assess_severalDue_thoseOfMemoryAreFirst() {
        List<EvictionThreshold> thresholds = List.of(
                threshold(EvictionSignal.NODE_FS_AVAILABLE, "1Gi", Duration.ZERO, ""),
                threshold(EvictionSignal.PID_AVAILABLE, "1Gi", Duration.ZERO, ""),
                threshold(EvictionSignal.ALLOCATABLE_MEMORY_AVAILABLE, "1Gi", Duration.ZERO, ""),
                threshold(EvictionSignal.MEMORY_AVAILABLE, "1Gi", Duration.ZERO, ""));
        Supply low = supply("1Mi");
        Assessment assessed = new ThresholdTracker(Duration.ofMinutes(5))
                .assess(
                        thresholds,
                        supplies(ImmutableMap.of(
                                EvictionSignal.NODE_FS_AVAILABLE, low,
                                EvictionSignal.PID_AVAILABLE, low,
                                EvictionSignal.ALLOCATABLE_MEMORY_AVAILABLE, low,
                                EvictionSignal.MEMORY_AVAILABLE, low)),
                        0);
        assertThat(assessed.due())
                .extracting(EvictionThreshold::signal)
                .containsExactly(
                        EvictionSignal.ALLOCATABLE_MEMORY_AVAILABLE,
                        EvictionSignal.MEMORY_AVAILABLE,
                        EvictionSignal.NODE_FS_AVAILABLE,
                        EvictionSignal.PID_AVAILABLE);
    }

    /** TestGetReclaimableThreshold; TestNodeConditions for each signal. */
    @ParameterizedTest
    @EnumSource(EvictionSignal.class)
    void assess_oneSignalIsShort_isThatPressureAndHasAResourceToReclaim(EvictionSignal signal) {
        Assessment assessed = new ThresholdTracker(Duration.ofMinutes(5))
                .assess(
                        List.of(threshold(signal, "150Mi", Duration.ZERO, "0")),
                        supplies(ImmutableMap.of(signal, supply("149Mi"))),
                        0);
        assertThat(assessed.pressures()).containsExactly(signal.pressure());
        assertThat(assessed.due())
                .singleElement()
                .extracting(due -> due.signal().resource())
                .isIn("memory", "ephemeral-storage", "inodes", "pids");
    }

    @Test
    void assess_noThresholds_isNoPressureAndNothingDue() {
        Assessment assessed = new ThresholdTracker(Duration.ofMinutes(5)).assess(List.of(), supplies(Map.of()), MINUTE);
        assertThat(assessed.pressures()).isEmpty();
        assertThat(assessed.due()).isEmpty();
    }

    @Test
    void assess_notMeasured_isIgnored() {
        assertThat(new ThresholdTracker(Duration.ofMinutes(5))
                        .assess(List.of(memory("1Gi", Duration.ZERO)), supplies(Map.of()), 0)
                        .due())
                .isEmpty();
    }
}
