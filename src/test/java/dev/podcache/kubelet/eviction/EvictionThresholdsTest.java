package dev.podcache.kubelet.eviction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.base.Splitter;
import com.google.common.collect.ImmutableMap;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The thresholds of upstream's TestParseThresholdConfig, and TestParsePercentage. */
class EvictionThresholdsTest {

    private static EvictionThresholds parse(String evictionHard) {
        return EvictionThresholds.parse(
                Splitter.on(' ').omitEmptyStrings().withKeyValueSeparator('<').split(evictionHard));
    }

    @ParameterizedTest
    @CsvSource({
        "'', {}",
        "memory.available<150Mi, {memory.available=150Mi}",
        "memory.available<10%, {memory.available=10%}",
        "imagefs.available<150Mi nodefs.available<100Mi, '{nodefs.available=100Mi, imagefs.available=150Mi}'",
        "imagefs.available<15% nodefs.available<10.5%, '{nodefs.available=10.5%, imagefs.available=15%}'",
        "imagefs.inodesFree<150Mi nodefs.inodesFree<100Mi, '{nodefs.inodesFree=100Mi, imagefs.inodesFree=150Mi}'",
        "memory.available<0%, {memory.available=off}",
        "memory.available<100%, {memory.available=off}",
        "memory.available<0.0%, {memory.available=0.0%}",
        "memory.available<100.0%, {memory.available=100.0%}",
        "pid.available<1k, {pid.available=1k}"
    })
    void parse_valid_hasThoseThresholds(String evictionHard, String expected) {
        assertThat(parse(evictionHard)).hasToString(expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "mem.available<150Mi | unsupported eviction signal \"mem.available\": use one of memory.available, nodefs.available,",
                "memory.available<150Mi invalid.foo<150Mi | unsupported eviction signal \"invalid.foo\"",
                "memory.available<-150Mi | eviction threshold memory.available must be positive, but is -150Mi",
                "memory.available<0 | eviction threshold memory.available must be positive, but is 0",
                "memory.available<-15% | eviction percentage threshold memory.available must be at least 0% and at most 100%, but is -15%",
                "memory.available<150% | eviction percentage threshold memory.available must be at least 0% and at most 100%, but is 150%",
                "memory.available<100.1% | eviction percentage threshold memory.available must be at least 0% and at most 100%, but is 100.1%",
                "memory.available<lots | \"lots\" is not a quantity for the eviction threshold memory.available: write",
                "memory.available<NaN% | \"NaN%\" is not a percentage: write"
            })
    void parse_invalid_isRefusedWithTheValueAndTheRule(String evictionHard, String message) {
        assertThatThrownBy(() -> parse(evictionHard))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith(message);
    }

    @ParameterizedTest
    @CsvSource({"25.5%, 0.255", "10.5%, 0.105", "5%, 0.05", "0.0%, 0", ".5%, 0.005"})
    void parsePercentage_number_isThatPartInSinglePrecision(String text, float expected) {
        assertThat(ThresholdValue.parsePercentage(text)).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"blah", "foo%", "12%345", "12", "%", "1f%", "0x10%", "١%", " 1%"})
    void parsePercentage_noNumber_isRefused(String text) {
        assertThatThrownBy(() -> ThresholdValue.parsePercentage(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("\"" + text + "\" is not a percentage");
    }

    /** 0.05 as a 32-bit float is slightly too large, as in upstream's nodes. */
    @ParameterizedTest
    @CsvSource({"5%, 10737418240, 536870920", "10%, 1000, 100", "100Mi, 10737418240, 104857600", "0.5, 7, 1"})
    void of_capacity_isTheLeastThatMustBeLeft(String text, long capacity, long expected) {
        ThresholdValue threshold =
                ThresholdValue.parse(EvictionSignal.MEMORY_AVAILABLE, text).orElseThrow();
        assertThat(threshold.of(capacity)).isEqualTo(expected);
    }

    /** TestCompareThresholdValue. */
    @ParameterizedTest
    @CsvSource({
        "123, 123, true",
        "123, 456, false",
        "123, 10%, false",
        "10%, 10%, true",
        "20%, 10%, false",
        "1Ki, 1024, true"
    })
    void equals_otherValue_ifTheAmountOrTheShareIsTheSame(String first, String second, boolean expected) {
        EvictionSignal signal = EvictionSignal.MEMORY_AVAILABLE;
        ThresholdValue one = ThresholdValue.parse(signal, first).orElseThrow();
        ThresholdValue other = ThresholdValue.parse(signal, second).orElseThrow();
        assertThat(one.equals(other)).isEqualTo(expected);
        assertThat(other.equals(one)).isEqualTo(expected);
    }

    @Test
    @ExpectedWarnings("found containerfs.available among the eviction thresholds")
    @ExtendWith(NoLeaks.class)
    void parse_thresholdThatFollowsAnother_isIgnored() {
        assertThat(parse("containerfs.available<10% pid.available<1k")).hasToString("{pid.available=1k}");
    }

    @Test
    void defaults_always_areTheKubeletsOnLinux() {
        assertThat(EvictionThresholds.defaults())
                .hasToString("{memory.available=100Mi, nodefs.available=10%, nodefs.inodesFree=5%, "
                        + "imagefs.available=15%, imagefs.inodesFree=5%}");
    }

    @Test
    void mergedWithDefaults_someConfigured_onlyTheOthersAreDefaults() {
        EvictionThresholds merged = EvictionThresholds.parse(
                        ImmutableMap.of("memory.available", "1Gi", "imagefs.available", "0%"))
                .mergedWithDefaults();
        assertThat(merged)
                .hasToString("{memory.available=1Gi, nodefs.available=10%, nodefs.inodesFree=5%, "
                        + "imagefs.available=off, imagefs.inodesFree=5%}");
    }
}
