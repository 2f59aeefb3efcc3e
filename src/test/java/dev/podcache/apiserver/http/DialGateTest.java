package dev.podcache.apiserver.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.ManualTimekeeper;
import java.net.ConnectException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class DialGateTest {

    private final ConnectException refused = new ConnectException("refused");

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final DialGate gate = new DialGate(time, () -> 0);

    @Test
    void enter_reachable_letsEverybodyIn() {
        assertThat(gate.enter()).isNull();
        assertThat(gate.enter()).isNull();
    }

    @Test
    void enter_afterAFailure_saysWhyUntilThePauseIsOver() {
        gate.enter();
        gate.failed(refused);

        assertThat(gate.enter()).isSameAs(refused);
        time.advance(Duration.ofMillis(499));
        assertThat(gate.enter()).isSameAs(refused);
        time.advance(Duration.ofMillis(1));
        assertThat(gate.enter()).isNull();
    }

    @Test
    void enter_whileSomebodyDials_isNotForOthers() {
        fail();

        assertThat(gate.enter()).isNull();
        assertThat(gate.isProbed()).isTrue();
        assertThat(gate.enter()).isSameAs(refused);
    }

    @Test
    void failed_ofSeveralThatDialled_countsOnce() {
        gate.enter();
        gate.enter();
        gate.failed(refused);
        time.advance(Duration.ofMillis(400));
        gate.failed(new ConnectException("later"));

        time.advance(Duration.ofMillis(100));
        assertThat(gate.enter()).isNull();
    }

    @Test
    void reached_letsEverybodyInAndTellsThem() {
        AtomicInteger told = new AtomicInteger();
        fail();
        gate.observe(told::incrementAndGet);
        gate.enter();
        gate.reached();

        assertThat(told).hasValue(1);
        assertThat(gate.enter()).isNull();
        assertThat(gate.enter()).isNull();
    }

    @Test
    void givenUp_letsAnotherDial() {
        fail();
        gate.enter();
        gate.givenUp();

        assertThat(gate.isProbed()).isFalse();
        assertThat(gate.enter()).isNull();
    }

    @Test
    void serverIsAwayForLong_isDialledTwiceASecondInTheFirstMinute_thenAtLeastEveryTenSeconds() {
        gate.enter();
        gate.failed(refused);

        assertThat(dials(Duration.ofMinutes(1))).isBetween(110, 120);
        dials(Duration.ofMinutes(1));
        assertThat(dials(Duration.ofMinutes(10))).isEqualTo(60);
    }

    private void fail() {
        gate.enter();
        gate.failed(refused);
        time.advance(Duration.ofMillis(500));
    }

    private int dials(Duration during) {
        Duration step = Duration.ofMillis(10);
        int dials = 0;
        for (Duration past = Duration.ZERO; past.compareTo(during) < 0; past = past.plus(step)) {
            time.advance(step);
            if (gate.enter() == null) {
                dials++;
                gate.failed(refused);
            }
        }
        return dials;
    }
}
