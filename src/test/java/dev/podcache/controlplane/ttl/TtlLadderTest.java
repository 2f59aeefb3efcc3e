package dev.podcache.controlplane.ttl;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TtlLadderTest {

    /** TestDesiredTTL, and the limits of the other steps. */
    @ParameterizedTest
    @CsvSource({
        "add, 0, 0, 0",
        "add, 99, 0, 0",
        "add, 100, 0, 15",
        "delete, 101, 1, 15",
        "delete, 91, 1, 15",
        "add, 91, 1, 15",
        "delete, 90, 1, 0",
        "add, 500, 1, 30",
        "delete, 450, 2, 15",
        "add, 1000, 2, 60",
        "add, 2000, 3, 300",
        "delete, 1800, 4, 60",
        "add, 10000, 4, 300"
    })
    void oneNodeMoreOrLess_movesByAStepAtMost(String change, int before, int step, int seconds) {
        TtlLadder ladder = TtlLadder.of(before, step);

        TtlLadder after = change.equals("add") ? ladder.nodeAdded() : ladder.nodeRemoved();

        assertThat(after.seconds()).isEqualTo(seconds);
        assertThat(after.nodes()).isEqualTo(before + (change.equals("add") ? 1 : -1));
    }

    @Test
    void noNodes_cannotBecomeFewer() {
        assertThat(TtlLadder.EMPTY.nodeRemoved().nodes()).isZero();
    }
}
