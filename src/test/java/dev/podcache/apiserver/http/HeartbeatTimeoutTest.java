package dev.podcache.apiserver.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How long heartbeats may take. */
class HeartbeatTimeoutTest {

    @ParameterizedTest
    @CsvSource({
        "PT40S, PT3S, PT6S, PT10S, PT10S",
        "PT36S, PT3S, PT6S, PT9S, PT9S",
        "PT12S, PT1S, PT2S, PT3S, PT3S",
        "PT600S, PT3S, PT6S, PT12S, PT24S"
    })
    void missed_inARow_doublesUpToAQuarterOfTheLease(
            Duration lease, Duration first, Duration second, Duration third, Duration fourth) {
        HeartbeatTimeout timeout = new HeartbeatTimeout(lease);

        assertThat(timeout.now()).isEqualTo(first);
        timeout.missed();
        assertThat(timeout.now()).isEqualTo(second);
        timeout.missed();
        assertThat(timeout.now()).isEqualTo(third);
        timeout.missed();
        assertThat(timeout.now()).isEqualTo(fourth);
    }

    @ParameterizedTest
    @CsvSource({"PT0.1S, PT3S", "PT2.9S, PT3S", "PT3S, PT10S", "PT4S, PT10S"})
    void answered_returnsToTheBeginningOnlyIfThatWasInTimeForIt(Duration after, Duration expected) {
        HeartbeatTimeout timeout = new HeartbeatTimeout(Duration.ofSeconds(40));
        timeout.missed();
        timeout.missed();

        timeout.answered(after);

        assertThat(timeout.now()).isEqualTo(expected);
    }

    @Test
    void leaseThatLastsNoTime_isRefused() {
        assertThatThrownBy(() -> new HeartbeatTimeout(Duration.ZERO))
                .hasMessage("the lease duration must be at least 1s, but is 0s");
    }
}
