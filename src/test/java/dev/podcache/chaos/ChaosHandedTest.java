package dev.podcache.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.Reference;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ChaosHandedTest {

    private final Handed handed = new Handed();

    @Test
    void reachable_objectsThatNothingHolds_areNone() {
        for (int i = 0; i < 10; i++) {
            handed.add(new byte[1_000]);
        }

        assertThat(handed.reachable(Duration.ofMinutes(1))).isZero();
    }

    @Test
    void reachable_objectThatSomethingHolds_countsOnce() {
        byte[] held = new byte[1_000];
        try {
            handed.add(held);
            handed.add(held);
            handed.add(new byte[1_000]);

            assertThat(handed.reachable(Duration.ofMillis(200))).isEqualTo(1);
        } finally {
            Reference.reachabilityFence(held);
        }
    }
}
