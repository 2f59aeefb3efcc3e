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
        assertThat(gate.tryEnter(this)).isNull();
        assertThat(gate.tryEnter(this)).isNull();
    }

    @Test
    void enter_afterAFailure_saysWhyUntilThePauseIsOver() {
        gate.tryEnter(this);
        gate.failed(this, refused);

        assertThat(gate.tryEnter(this)).isSameAs(refused);
        time.advance(Duration.ofMillis(499));
        assertThat(gate.tryEnter(this)).isSameAs(refused);
        time.advance(Duration.ofMillis(1));
        assertThat(gate.tryEnter(this)).isNull();
    }

    @Test
    void enter_whileSomebodyDials_isNotForOthers() {
        fail();

        assertThat(gate.tryEnter(this)).isNull();
        assertThat(gate.isDialling()).isTrue();
        assertThat(gate.tryEnter(this)).isSameAs(refused);
    }

    @Test
    void failed_ofSeveralThatDialled_countsOnce() {
        gate.tryEnter(this);
        gate.tryEnter(this);
        gate.failed(this, refused);
        time.advance(Duration.ofMillis(400));
        gate.failed(this, new ConnectException("later"));

        time.advance(Duration.ofMillis(100));
        assertThat(gate.tryEnter(this)).isNull();
    }

    /** Otherwise the one who dials now would be joined by another. */
    @Test
    void failed_ofALateDial_isNotThatOfTheOneWhoDialsNow() {
        gate.tryEnter("late");
        fail();
        assertThat(gate.tryEnter("now")).isNull();

        gate.failed("late", new ConnectException("late"));
        gate.abandoned("late");

        assertThat(gate.isDialling()).isTrue();
        time.advance(Duration.ofSeconds(1));
        assertThat(gate.tryEnter("another")).isSameAs(refused);
        gate.failed("now", refused);
        assertThat(gate.isDialling()).isFalse();
    }

    @Test
    void reached_letsEverybodyInAndTellsThem() {
        AtomicInteger notifications = new AtomicInteger();
        fail();
        gate.observe(notifications::incrementAndGet);
        gate.tryEnter(this);
        gate.reached();

        assertThat(notifications).hasValue(1);
        assertThat(gate.tryEnter(this)).isNull();
        assertThat(gate.tryEnter(this)).isNull();
    }

    @Test
    void abandoned_letsAnotherDial() {
        fail();
        gate.tryEnter(this);
        gate.abandoned(this);

        assertThat(gate.isDialling()).isFalse();
        assertThat(gate.tryEnter(this)).isNull();
    }

    @Test
    void serverIsAwayForLong_isDialledTwiceASecondInTheFirstMinute_thenAtLeastEveryTenSeconds() {
        gate.tryEnter(this);
        gate.failed(this, refused);

        assertThat(dials(Duration.ofMinutes(1))).isBetween(110, 120);
        dials(Duration.ofMinutes(1));
        assertThat(dials(Duration.ofMinutes(10))).isEqualTo(60);
    }

    private void fail() {
        gate.tryEnter(this);
        gate.failed(this, refused);
        time.advance(Duration.ofMillis(500));
    }

    private int dials(Duration during) {
        Duration step = Duration.ofMillis(10);
        int dials = 0;
        for (Duration past = Duration.ZERO; past.compareTo(during) < 0; past = past.plus(step)) {
            time.advance(step);
            if (gate.tryEnter(this) == null) {
                dials++;
                gate.failed(this, refused);
            }
        }
        return dials;
    }
}
