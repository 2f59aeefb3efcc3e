package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.TooManyRequests;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Strategy CACHE when refreshes fail or are slow: what is known is served meanwhile, and the server is spared. */
@ExtendWith(NoLeaks.class)
class TtlRefreshTest {

    private final TtlFixture f = new TtlFixture();

    @AfterEach
    void close() {
        f.close();
    }

    @Test
    void refreshFailed_getsAreAnsweredAtOnceUntilOnePauseIsOver() {
        f.refreshFails();
        f.failNext(100, FailureReason.UNAVAILABLE, 503, null);

        for (int i = 0; i < 50; i++) {
            assertThat(f.get()).isEqualTo("v1");
        }
        f.requireGets(2);
        f.timekeeper.advance(Duration.ofSeconds(1));
        assertThat(f.get()).isEqualTo("v1");
        f.requireGets(3);
    }

    @Test
    void refreshFails_pausesGrowUpTo30Seconds() {
        f.refreshFails();
        f.failNext(1000, FailureReason.UNAVAILABLE, 503, null);
        int before = f.server.gets(DB);

        for (int second = 0; second < 3600; second++) {
            f.timekeeper.advance(Duration.ofSeconds(1));
            assertThat(f.get()).isEqualTo("v1");
        }

        // pauses of 15 to 30 s, but for the first few
        assertThat(f.server.gets(DB) - before).isBetween(3600 / 30, 3600 / 15 + 10);
    }

    @Test
    void refreshFailedWithRetryAfter_isNotRepeatedBefore() {
        f.seen("v1");
        f.timekeeper.advance(Duration.ofSeconds(60));
        f.failNext(1, FailureReason.THROTTLED, 429, Duration.ofSeconds(120));
        f.get();
        f.timekeeper.advance(Duration.ofSeconds(119));
        f.get();
        f.requireGets(2);

        f.timekeeper.advance(Duration.ofSeconds(1));
        f.get();
        f.requireGets(3);
    }

    @ParameterizedTest
    @EnumSource
    void refreshThrottledForTwoSeconds_isNotRepeatedBefore(TooManyRequests said) {
        f.seen("v1");
        f.timekeeper.advance(Duration.ofSeconds(60));
        f.server.failNext(1, said.answer());
        f.get();
        f.timekeeper.advance(Duration.ofMillis(1999));
        f.get();
        f.requireGets(2);

        f.timekeeper.advance(Duration.ofMillis(1));
        f.get();
        f.requireGets(3);
    }

    /** More nanoseconds than a long can count. */
    @Test
    void refreshFailedWithRetryAfterOfCenturies_isRepeatedAfterTwoMinutes() {
        f.seen("v1");
        f.timekeeper.advance(Duration.ofSeconds(60));
        f.failNext(1, FailureReason.THROTTLED, 429, Duration.ofSeconds(9_999_999_999L));
        f.get();
        f.timekeeper.advance(Duration.ofMinutes(2));
        f.get();

        f.requireGets(3);
    }

    @Test
    void refreshFailedWithARetryAfterBeyondAllTime_servesWhatIsKnown() {
        f.seen("v1");
        f.timekeeper.advance(Duration.ofSeconds(60));
        f.failNext(1, FailureReason.THROTTLED, 429, Duration.ofSeconds(Long.MAX_VALUE));

        assertThat(TtlFixture.broughtBy(f.getBehind(DB))).isEqualTo("v1");
    }

    @Test
    void refreshSucceedsAgain_getsWaitForRefreshesAgain() {
        f.refreshFails();
        f.timekeeper.advance(Duration.ofSeconds(2));
        f.get();
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
        f.update(DB, "v2");
        f.timekeeper.advance(Duration.ofSeconds(60));

        assertThat(f.get()).isEqualTo("v2");
    }

    @Test
    void refreshTooSlow_servesWhatIsKnownAfterASecond_andTheFetchGoesOn() throws Exception {
        f.seen("v1");
        f.update(DB, "v2");
        f.timekeeper.advance(Duration.ofSeconds(60));
        var held = f.server.hold(DB);

        CompletableFuture<String> get = f.getBehind(DB);
        held.awaitArrived();
        f.timekeeper.awaitWaiters(1);
        f.timekeeper.advance(Duration.ofSeconds(1));
        assertThat(TtlFixture.broughtBy(get)).isEqualTo("v1");
        // from here on nobody waits for it
        assertThat(f.get()).isEqualTo("v1");

        held.release();
        assertThat(f.get()).isEqualTo("v2");
        f.requireGets(2);
    }

    @Test
    void interrupted_failsWithItsStatusSet_andTheFetchGoesOn() throws Exception {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        var held = f.server.hold(DB);

        Thread.currentThread().interrupt();
        assertThatThrownBy(f::get)
                .isInstanceOfSatisfying(
                        FetchFailed.class, e -> assertThat(e.reason()).isEqualTo(FailureReason.INTERRUPTED))
                .hasCauseInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).isTrue();

        held.release();
        assertThat(f.get()).isEqualTo("v1");
        f.requireGets(1);
    }

    @Test
    void interrupted_answeredAtOnce_isServed() {
        try (TtlFixture impatient = new TtlFixture(ManualTimekeeper.passingWhileWaiting())) {
            impatient.create(DB, "v1");
            impatient.store.addReference(DB, POD);
            Thread.currentThread().interrupt();

            assertThat(impatient.get()).isEqualTo("v1");
            assertThat(Thread.interrupted()).as("not even asked").isTrue();
        }
    }
}
