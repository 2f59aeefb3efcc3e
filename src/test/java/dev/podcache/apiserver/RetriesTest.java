package dev.podcache.apiserver;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.FailureReason;
import dev.podcache.testing.TooManyRequests;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The table of {@link Retries}, and its pauses; those are the longest ones where the jitter is 0. */
class RetriesTest {

    private static final Duration BUDGET = Duration.ofSeconds(10);
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration TWO_MINUTES = Duration.ofMinutes(2);
    private static final Duration YEAR = Duration.ofDays(365);

    /** Until when a get is repeated; what is not in here is missing in the table. */
    private static final Map<FailureReason, Duration> REPEATED = Map.ofEntries(
            entry(FailureReason.UNAVAILABLE, BUDGET),
            entry(FailureReason.TIMEOUT, BUDGET),
            entry(FailureReason.THROTTLED, BUDGET),
            entry(FailureReason.FORBIDDEN, Duration.ZERO),
            entry(FailureReason.UNAUTHORIZED, Duration.ZERO),
            entry(FailureReason.NOT_FOUND, Duration.ZERO),
            entry(FailureReason.ALREADY_EXISTS, Duration.ZERO),
            entry(FailureReason.CONFLICT, Duration.ZERO),
            entry(FailureReason.EXPIRED, Duration.ZERO),
            entry(FailureReason.REJECTED, Duration.ZERO),
            entry(FailureReason.UNREADABLE, Duration.ZERO),
            entry(FailureReason.INTERRUPTED, Duration.ZERO));

    private final Retries loop = new Retries(SECOND, Duration.ofSeconds(30));

    @ParameterizedTest
    @EnumSource
    void repeatedFor_anyReason_isAsInTheTable(FailureReason reason) {
        assertThat(Retries.repeatedFor(reason, BUDGET)).isEqualTo(REPEATED.get(reason));
    }

    @ParameterizedTest
    @EnumSource
    void repeatedFor_anyReason_isNeverLongerThanTheBudget(FailureReason reason) {
        Duration brief = Duration.ofMillis(300);

        assertThat(Retries.repeatedFor(reason, brief)).isLessThanOrEqualTo(brief);
    }

    @ParameterizedTest
    @EnumSource
    void mayPass_anyReason_onlyWhatIsNoAnswer(FailureReason reason) {
        assertThat(Retries.mayPass(reason)).isEqualTo(BUDGET.equals(REPEATED.get(reason)));
    }

    @Test
    void pause_nothingAsked_isTheOwn() {
        assertThat(loop.pause(1, 0, failure(null))).isEqualTo(SECOND);
        assertThat(loop.pause(4, 0.5, failure(null))).isEqualTo(Duration.ofSeconds(6));
        assertThat(loop.pause(40, 0, failure(null))).isEqualTo(Duration.ofSeconds(30));
    }

    @Test
    void pause_refused_isAsAfterAnyFailure() {
        ApiServerException refused = new ApiServerException(FailureReason.FORBIDDEN, 403, null, "403", null);

        assertThat(IntStream.rangeClosed(1, 4).mapToObj(failures -> loop.pause(failures, 0, refused)))
                .containsExactly(SECOND, Duration.ofSeconds(2), Duration.ofSeconds(4), Duration.ofSeconds(8));
    }

    @Test
    void pause_askedForLess_isTheOwn() {
        assertThat(loop.pause(3, 0, failure(Duration.ofSeconds(3)))).isEqualTo(Duration.ofSeconds(4));
    }

    @ParameterizedTest
    @EnumSource
    void pause_askedForMore_isThatHoweverItWasSaid(TooManyRequests said) {
        assertThat(loop.pause(1, 0, said.answer())).isEqualTo(Duration.ofSeconds(2));
        assertThat(Retries.asksForPause(said.answer())).isTrue();
    }

    @Test
    void pause_askedInAWrappedFailure_isObeyed() {
        assertThat(loop.pause(1, 0, new CompletionException(failure(BUDGET)))).isEqualTo(BUDGET);
    }

    @Test
    void pause_askedForAYear_isTwoMinutes() {
        assertThat(loop.pause(1, 0, failure(YEAR))).isEqualTo(TWO_MINUTES);
        assertThat(loop.pause(1, 0, failure(TWO_MINUTES))).isEqualTo(TWO_MINUTES);
    }

    @Test
    void pause_askedForMoreThanCounts_isNeverLessThanTheOwn() {
        assertThat(loop.askedAtMost(SECOND).pause(4, 0, failure(YEAR))).isEqualTo(Duration.ofSeconds(8));
    }

    @Test
    void askedAtMost_askedForMore_isThat() {
        assertThat(Retries.atOnce().askedAtMost(BUDGET).pause(1, 0, failure(YEAR)))
                .isEqualTo(BUDGET);
    }

    @Test
    void every_failures_firstAtRandomThenFull() {
        Retries every = Retries.every(BUDGET);

        assertThat(every.pause(1, 0.25, failure(null))).isEqualTo(Duration.ofMillis(2500));
        assertThat(every.pause(2, 0.25, failure(null))).isEqualTo(BUDGET);
    }

    @Test
    void atOnce_nothingAsked_isNoPause() {
        assertThat(Retries.atOnce().pause(7, 0.9, failure(null))).isZero();
    }

    @Test
    void pause_failureOfAnotherKind_asksForNothing() {
        assertThat(Retries.atOnce().pause(1, 0, new IllegalStateException("a bug")))
                .isZero();
        assertThat(Retries.atOnce().pause(1, 0, null)).isZero();
        assertThat(Retries.asksForPause(new IllegalStateException("a bug"))).isFalse();
        assertThat(Retries.asksForPause(failure(null))).isFalse();
    }

    private static ApiServerException failure(@Nullable Duration retryAfter) {
        return new ApiServerException(FailureReason.THROTTLED, 429, retryAfter, "429", null);
    }
}
