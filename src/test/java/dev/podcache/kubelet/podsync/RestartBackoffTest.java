package dev.podcache.kubelet.podsync;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RestartBackoffTest {

    private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

    private final RestartBackoff backoff = new RestartBackoff(Duration.ofMinutes(5));
    private Instant now = START;

    private Duration left(String image, Instant ended) {
        return backoff.remaining("main", image, ended, now);
    }

    private void restart(String image, Instant ended) {
        backoff.restarted("main", image, ended, now);
    }

    @Test
    void firstRestart_isImmediate() {
        assertThat(left("nginx", now)).isZero();
        assertThat(backoff.pause("main", "nginx", now)).isZero();
    }

    @Test
    void restartsInARow_pauseDoublesUpToFiveMinutes() {
        List<Long> pauses = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            restart("nginx", now);
            pauses.add(backoff.pause("main", "nginx", now).toSeconds());
            now = now.plus(left("nginx", now));
        }

        assertThat(pauses).containsExactly(10L, 20L, 40L, 80L, 160L, 300L, 300L, 300L);
    }

    @Test
    void pause_countsFromTheEndOfTheContainer() {
        restart("nginx", now);
        Instant ended = now.plusSeconds(100);
        now = now.plusSeconds(104);

        assertThat(left("nginx", ended)).isEqualTo(Duration.ofSeconds(6));

        now = now.plusSeconds(60);
        assertThat(left("nginx", ended)).isZero();
    }

    @Test
    void ended_longBeforeItsStart_pauseCountsFromTheRestart() {
        restart("nginx", now);

        assertThat(left("nginx", now.minus(Duration.ofHours(1)))).isEqualTo(Duration.ofSeconds(10));

        now = now.plusSeconds(4);
        assertThat(left("nginx", START.minus(Duration.ofHours(1)))).isEqualTo(Duration.ofSeconds(6));
    }

    @Test
    void ranForTenMinutes_stillBacksOff() {
        restart("nginx", now);

        assertThat(backoff.pause("main", "nginx", now.plus(Duration.ofMinutes(10))))
                .isEqualTo(Duration.ofSeconds(10));
    }

    @Test
    void ranForMoreThanTenMinutes_startsOver() {
        restart("nginx", now);
        restart("nginx", now);
        Instant ended = now.plus(Duration.ofMinutes(10)).plusNanos(1);
        now = ended;

        assertThat(left("nginx", ended)).isZero();
        restart("nginx", ended);
        assertThat(backoff.pause("main", "nginx", ended)).isEqualTo(Duration.ofSeconds(10));
    }

    @ParameterizedTest
    @CsvSource({"1s, '1 1 1 1'", "7s, '7 7 7 7'", "10s, '10 10 10 10'", "25s, '10 20 25 25'", "300s, '10 20 40 80'"})
    void longestPause_isSet_boundsThePausesFromTheFirst(String longest, String pauses) {
        RestartBackoff bounded = new RestartBackoff(Duration.parse("PT" + longest));
        List<String> seen = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            bounded.restarted("main", "nginx", now, now);
            seen.add("" + bounded.pause("main", "nginx", now).toSeconds());
        }

        assertThat(String.join(" ", seen)).isEqualTo(pauses);
    }

    @Test
    void longestPause_isShort_containerIsStillUnstableForTenMinutes() {
        RestartBackoff bounded = new RestartBackoff(Duration.ofSeconds(1));
        bounded.restarted("main", "nginx", now, now);

        assertThat(bounded.pause("main", "nginx", now.plus(Duration.ofMinutes(10))))
                .isEqualTo(Duration.ofSeconds(1));
        assertThat(bounded.pause(
                        "main", "nginx", now.plus(Duration.ofMinutes(10)).plusNanos(1)))
                .isZero();
    }

    @Test
    void otherImage_startsOver() {
        restart("nginx", now);

        assertThat(left("nginx:2", now)).isZero();
    }

    @Test
    void otherContainer_hasABackoffOfItsOwn() {
        restart("nginx", now);

        assertThat(backoff.remaining("side", "nginx", now, now)).isZero();
    }
}
