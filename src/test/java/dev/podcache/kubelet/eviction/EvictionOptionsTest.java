package dev.podcache.kubelet.eviction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.base.Splitter;
import com.google.common.collect.Maps;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The soft thresholds and minimum reclaims of upstream's TestParseThresholdConfig. */
class EvictionOptionsTest {

    private static final EvictionOptions NONE = EvictionOptions.defaults().withHard(EvictionThresholds.NONE);

    private static final String DISKS =
            "nodefs.available<100Mi nodefs.inodesFree<101Mi imagefs.available<150Mi imagefs.inodesFree<151Mi";
    private static final String SOFT_DISKS =
            "nodefs.available<200Mi nodefs.inodesFree<201Mi imagefs.available<300Mi imagefs.inodesFree<301Mi";
    private static final String DISK_RECLAIM =
            "nodefs.available<1Gi nodefs.inodesFree<2Gi imagefs.available<3Gi imagefs.inodesFree<4Gi";

    private static EvictionThresholds memory(String value) {
        return EvictionThresholds.parse(Map.of("memory.available", value));
    }

    private static Map<String, String> bySignal(String values) {
        return Splitter.on(' ').omitEmptyStrings().withKeyValueSeparator('<').split(values);
    }

    /** Hard thresholds, soft ones for half a minute each, and minimum reclaims. */
    private static EvictionOptions options(String hard, String soft, String reclaim) {
        Map<String, String> softBySignal = bySignal(soft);
        return NONE.withHard(EvictionThresholds.parse(bySignal(hard)))
                .withSoft(
                        EvictionThresholds.parse(softBySignal),
                        Maps.transformValues(softBySignal, value -> Duration.ofSeconds(30)))
                .withMinimumReclaim(bySignal(reclaim));
    }

    /** Thresholds, each with its minimum reclaim. */
    private static List<String> described(List<EvictionThreshold> thresholds) {
        return thresholds.stream()
                .map(threshold -> threshold
                        + threshold
                                .minimumReclaim()
                                .map(least -> " and " + least)
                                .orElse(""))
                .toList();
    }

    /** Also TestAddAllocatableThresholds: only the hard threshold of memory counts for the memory of all pods, too. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "memory.available<150Mi | memory.available<300Mi | memory.available<0 | memory.available<150Mi and 0, memory.available<300Mi for 30 s and 0, allocatableMemory.available<150Mi and 0",
                "memory.available<10% | memory.available<30% | memory.available<5% | memory.available<10% and 5%, memory.available<30% for 30 s and 5%, allocatableMemory.available<10% and 5%",
                "'' | memory.available<150Mi | memory.available<0 | memory.available<150Mi for 30 s and 0",
                "imagefs.available<150Mi nodefs.available<100Mi | imagefs.available<300Mi nodefs.available<200Mi | imagefs.available<2Gi nodefs.available<1Gi | nodefs.available<100Mi and 1Gi, imagefs.available<150Mi and 2Gi, nodefs.available<200Mi for 30 s and 1Gi, imagefs.available<300Mi for 30 s and 2Gi",
                "imagefs.available<15% nodefs.available<10.5% | imagefs.available<30% nodefs.available<20.5% | imagefs.available<10% nodefs.available<5% | nodefs.available<10.5% and 5%, imagefs.available<15% and 10%, nodefs.available<20.5% for 30 s and 5%, imagefs.available<30% for 30 s and 10%",
                "imagefs.inodesFree<150Mi nodefs.inodesFree<100Mi | imagefs.inodesFree<300Mi nodefs.inodesFree<200Mi | imagefs.inodesFree<2Gi nodefs.inodesFree<1Gi | nodefs.inodesFree<100Mi and 1Gi, imagefs.inodesFree<150Mi and 2Gi, nodefs.inodesFree<200Mi for 30 s and 1Gi, imagefs.inodesFree<300Mi for 30 s and 2Gi"
            })
    void thresholds_hardAndSoftWithReclaim_areThoseAndTheHardOneForAllPods(
            String hard, String soft, String reclaim, String expected) {
        assertThat(String.join(", ", described(options(hard, soft, reclaim).thresholds())))
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0%", "100%"})
    void thresholds_disabledOrNone_isNone(String disabled) {
        assertThat(NONE.thresholds()).isEmpty();
        assertThat(NONE.withHard(memory(disabled))
                        .withSoft(memory(disabled), Map.of())
                        .thresholds())
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "none", "system-reserved"})
    void thresholds_podsAreNotEnforced_noneCountsForAllPods(String enforced) {
        List<String> values = enforced.isEmpty() ? List.of() : List.of(enforced);
        EvictionOptions options = NONE.withHard(memory("1Gi")).withEnforceNodeAllocatable(values);

        assertThat(described(options.thresholds())).containsExactly("memory.available<1Gi");
        assertThat(described(options.withEnforceNodeAllocatable(List.of("pods")).thresholds()))
                .hasSize(2);
        assertThat(options.fields()).containsEntry("enforceNodeAllocatable", values);
    }

    @ParameterizedTest
    @CsvSource({"pod, but one is \"pod\"", "none pods, must be none alone"})
    void withEnforceNodeAllocatable_illegal_isRefused(String values, String message) {
        assertThatThrownBy(() -> NONE.withEnforceNodeAllocatable(List.of(values.split(" "))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    /** TestAddContainerFsThresholds. */
    @ParameterizedTest
    @CsvSource({
        "SHARED, 100Mi, 200Mi, 1Gi, 101Mi, 201Mi, 2Gi",
        "OWN_IMAGES, 150Mi, 300Mi, 3Gi, 151Mi, 301Mi, 4Gi",
        "SPLIT, 100Mi, 200Mi, 1Gi, 101Mi, 201Mi, 2Gi"
    })
    void thresholds_ofTheContainersFileSystem_areThoseOfTheOneThatTheyAreOn(
            StorageLayout layout,
            String hard,
            String soft,
            String reclaim,
            String hardInodes,
            String softInodes,
            String inodeReclaim) {
        assertThat(ofContainers(options(DISKS, SOFT_DISKS, DISK_RECLAIM), layout))
                .containsExactly(
                        "containerfs.available<" + hard + " and " + reclaim,
                        "containerfs.available<" + soft + " for 30 s and " + reclaim,
                        "containerfs.inodesFree<" + hardInodes + " and " + inodeReclaim,
                        "containerfs.inodesFree<" + softInodes + " for 30 s and " + inodeReclaim);
    }

    @Test
    @ExpectedWarnings({
        "found containerfs.available among the eviction thresholds",
        "found containerfs.inodesFree among the eviction thresholds"
    })
    @ExtendWith(NoLeaks.class)
    void thresholds_ofTheContainersFileSystemConfigured_areIgnored() {
        String own = " containerfs.available<500Mi containerfs.inodesFree<500Mi";
        EvictionOptions configured = options(DISKS + own, SOFT_DISKS + own, DISK_RECLAIM + own);
        for (StorageLayout layout : StorageLayout.values()) {
            assertThat(ofContainers(configured, layout))
                    .isEqualTo(ofContainers(options(DISKS, SOFT_DISKS, DISK_RECLAIM), layout));
        }
    }

    private static List<String> ofContainers(EvictionOptions options, StorageLayout layout) {
        return described(new EvictionPolicy(options).thresholds(layout)).stream()
                .filter(threshold -> threshold.startsWith("containerfs"))
                .toList();
    }

    @Test
    void withSoft_withoutGracePeriod_isRefused() {
        assertThatThrownBy(() -> NONE.withSoft(memory("1Gi"), Map.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(
                        "grace period must be specified for the soft eviction threshold memory.available");
    }

    @Test
    void withSoft_negativeGracePeriod_isRefused() {
        assertThatThrownBy(() -> NONE.withSoft(memory("1Gi"), Map.of("memory.available", Duration.ofSeconds(-1))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("must be a positive value");
    }

    @ParameterizedTest
    @CsvSource({
        "memory.available, -300Mi, negative eviction minimum reclaim specified for memory.available",
        "memory.available, -15%, eviction percentage minimum reclaim memory.available must be positive",
        "memory.available, lots, is not a quantity for the minimum reclaim of memory.available",
        "mem.available, 1Gi, unsupported eviction signal \"mem.available\""
    })
    void withMinimumReclaim_illegal_isRefused(String signal, String value, String message) {
        assertThatThrownBy(() -> NONE.withMinimumReclaim(Map.of(signal, value)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    @Test
    void withPressureTransition_negative_isRefused() {
        assertThatThrownBy(() -> NONE.withPressureTransition(Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("-1s");
    }
}
