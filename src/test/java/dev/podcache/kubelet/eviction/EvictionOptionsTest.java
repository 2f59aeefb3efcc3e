package dev.podcache.kubelet.eviction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The soft thresholds and minimum reclaims of upstream's TestParseThresholdConfig. */
class EvictionOptionsTest {

    private static final EvictionOptions NONE = EvictionOptions.defaults().withHard(EvictionThresholds.NONE);

    private static EvictionThresholds memory(String value) {
        return EvictionThresholds.parse(Map.of("memory.available", value));
    }

    @Test
    void thresholds_hardAndSoftWithReclaim_areThoseAndTheHardOneForAllPods() {
        EvictionOptions options = NONE.withHard(memory("150Mi"))
                .withSoft(memory("300Mi"), Map.of("memory.available", Duration.ofSeconds(30)))
                .withMinimumReclaim(Map.of("memory.available", "0"));
        assertThat(options.thresholds())
                .extracting(EvictionThreshold::toString)
                .containsExactly(
                        "memory.available<150Mi",
                        "memory.available<300Mi for 30 s",
                        "allocatableMemory.available<150Mi");
        assertThat(options.thresholds())
                .allMatch(threshold -> threshold.minimumReclaim().isPresent());
    }

    @Test
    void thresholds_disabledOrNone_isNone() {
        assertThat(NONE.thresholds()).isEmpty();
        assertThat(NONE.withHard(memory("0%"))
                        .withSoft(memory("100%"), Map.of())
                        .thresholds())
                .isEmpty();
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
                .hasMessageContaining("PT-1S");
    }
}
