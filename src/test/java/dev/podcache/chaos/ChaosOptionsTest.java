package dev.podcache.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ChaosOptionsTest {

    @Test
    void of_nothing_isTheShortRunOfTheUsualSeed() {
        assertThat(options("", "")).isEqualTo(new ChaosOptions("ChaosOptionsTest", 7, Duration.ZERO, false));
    }

    @Test
    void of_seed_isThatOne() {
        assertThat(options("", "42").seed()).isEqualTo(42);
        assertThat(options("30", "42"))
                .isEqualTo(new ChaosOptions("ChaosOptionsTest", 42, Duration.ofMinutes(30), true));
    }

    @Test
    void of_randomSeed_isAnotherEachTime() {
        assertThat(LongStream.range(0, 50)
                        .map(i -> options("", "random").seed())
                        .distinct()
                        .count())
                .isGreaterThan(10);
        assertThat(options("", "random").lengthy()).isFalse();
    }

    @Test
    void of_minutesAlone_hasARandomSeed() {
        assertThat(LongStream.range(0, 50)
                        .map(i -> options("1", "").seed())
                        .distinct()
                        .count())
                .isGreaterThan(10);
    }

    @Test
    void command_repeatsTheRun() {
        assertThat(options("", "42").command()).isEqualTo("mvn -q verify -Dtest=ChaosOptionsTest -Dchaos.seed=42");
        assertThat(options("1.5", "42").command()).contains("-Dchaos.minutes=1.5 -Dchaos.seed=42");
    }

    private static ChaosOptions options(String minutes, String seed) {
        return ChaosOptions.of(ChaosOptionsTest.class, 7, minutes, seed);
    }
}
