package dev.podcache.chaos;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.podcache.manager.ChangeDetectionStrategy;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** No bound is longer than the phase that it judges. */
class ChaosRulesTest {

    @Test
    void shorterThanCalm_boundsOfToday_are() {
        assertThat(Rules.cache().shorterThanCalm()).isNotNull();
        assertThat(Rules.watch(Rules.Transport.HTTP1).shorterThanCalm()).isNotNull();
        assertThat(Rules.watch(Rules.Transport.HTTP2).shorterThanCalm()).isNotNull();
    }

    @Test
    void shorterThanCalm_boundThatCalmDoesNotReach_isRefused() {
        Duration bound = Rules.convergesAfter(Duration.ZERO);
        Rules rules = new Rules(ChangeDetectionStrategy.CACHE, bound, bound, bound, bound);

        assertThatIllegalStateException().isThrownBy(rules::shorterThanCalm);
    }

    @Test
    void showing_faultThatMayBeOverBefore_isRefused() {
        ChaosFault fault =
                new ChaosFault(ChaosFault.Layer.NETWORK, "refused", 1_000, 2_000, ChaosFault.by(() -> {}, () -> {}));

        assertThat(fault.showing(Duration.ofMillis(999))).isEqualTo(fault);
        assertThatIllegalArgumentException().isThrownBy(() -> fault.showing(Duration.ofSeconds(1)));
    }

    @Test
    void convergesAfter_longTrouble_isBoundedByTheLongestPause() {
        assertThat(Rules.convergesAfter(Duration.ofMinutes(5))).isLessThan(Duration.ofSeconds(35));
        assertThat(Rules.convergesAfter(Duration.ofSeconds(1))).isLessThan(Duration.ofSeconds(5));
    }
}
