package dev.podcache.kubelet.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.manager.ChangeDetectionStrategy;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ObjectCachingTest {

    @ParameterizedTest
    @CsvSource({"PT0.25S, PT1M", "PT12S, PT1M", "PT13S, PT1M5S", "PT1M, PT5M", "PT10M, PT50M"})
    void idleAfter_anySyncFrequency_isFiveTimesItAndAtLeastAMinute(Duration syncFrequency, Duration expected) {
        assertThat(ObjectCaching.usual(ChangeDetectionStrategy.WATCH, syncFrequency)
                        .idleAfter())
                .isEqualTo(expected);
    }
}
