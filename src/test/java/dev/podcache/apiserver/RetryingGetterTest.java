package dev.podcache.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.TooManyRequests;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What is repeated. Pauses are the longest ones because the jitter is 0.
 *
 * <table>
 * <caption>After a failed attempt at time t of a budget of 10 s</caption>
 * <tr><th>reason</th><th>t below 1 s</th><th>t from 1 s on</th><th>next attempt would begin at 10 s or later</th></tr>
 * <tr><td>UNAVAILABLE, THROTTLED, TIMEOUT</td><td>again</td><td>again</td><td>fails with this
 * attempt's failure</td></tr>
 * <tr><td>FORBIDDEN</td><td>again</td><td>fails</td><td>fails</td></tr>
 * <tr><td>all others</td><td>fails</td><td>fails</td><td>fails</td></tr>
 * </table>
 */
class RetryingGetterTest {

    private static final ObjectKey DB = ObjectKey.of("shop", "db");
    private static final Duration BUDGET = Duration.ofSeconds(10);
    private static final Fetched<String> ANSWER = new Fetched<>("object", "1", 1);

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final ManualGetter server = new ManualGetter();
    private final RetryingGetter<String> getter = new RetryingGetter<>(server, time, () -> 0.0);

    /** Keeps each attempt, to be answered by hand. */
    private static final class ManualGetter implements ObjectGetter<String> {

        final List<CompletableFuture<Fetched<String>>> attempts = new ArrayList<>();
        final List<Duration> timeouts = new ArrayList<>();

        @Override
        public CompletableFuture<Fetched<String>> get(ObjectKey key, ReadSource source, Duration timeout) {
            CompletableFuture<Fetched<String>> attempt = new CompletableFuture<>();
            attempts.add(attempt);
            timeouts.add(timeout);
            return attempt;
        }

        void fail(FailureReason reason, @Nullable Duration retryAfter) {
            fail(new ApiServerException(reason, 0, retryAfter, "attempt " + attempts.size(), null));
        }

        void fail(Throwable failure) {
            attempts.get(attempts.size() - 1).completeExceptionally(failure);
        }
    }

    @Test
    void get_answer_isPassedOn() {
        CompletableFuture<Fetched<String>> result = getter.get(DB, ReadSource.QUORUM, BUDGET);
        server.attempts.get(0).complete(ANSWER);

        assertThat(result).isCompletedWithValue(ANSWER);
    }

    @ParameterizedTest
    @EnumSource(names = {"UNAVAILABLE", "THROTTLED", "TIMEOUT", "FORBIDDEN"})
    void get_failureThatMayPass_isRepeatedAfter100Millis(FailureReason reason) {
        CompletableFuture<Fetched<String>> result = getter.get(DB, ReadSource.QUORUM, BUDGET);
        server.fail(reason, null);
        time.advance(Duration.ofMillis(99));
        assertThat(server.attempts).hasSize(1);
        time.advance(Duration.ofMillis(1));
        assertThat(server.attempts).hasSize(2);
        server.attempts.get(1).complete(ANSWER);

        assertThat(result).isCompletedWithValue(ANSWER);
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"UNAVAILABLE", "THROTTLED", "TIMEOUT", "FORBIDDEN"})
    void get_failureThatIsAnAnswer_isFinal(FailureReason reason) {
        CompletableFuture<Fetched<String>> result = getter.get(DB, ReadSource.QUORUM, BUDGET);
        server.fail(reason, Duration.ofMillis(1));

        assertThat(failure(result).reason()).isEqualTo(reason);
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void get_forbiddenAfterASecond_isFinal() {
        CompletableFuture<Fetched<String>> result = getter.get(DB, ReadSource.QUORUM, BUDGET);
        time.advance(Duration.ofSeconds(1));
        server.fail(FailureReason.FORBIDDEN, null);

        assertThat(failure(result).reason()).isEqualTo(FailureReason.FORBIDDEN);
    }

    @Test
    void get_forbiddenAllTheTime_endsWithinASecond() {
        CompletableFuture<Fetched<String>> result = getter.get(DB, ReadSource.QUORUM, BUDGET);
        while (!result.isDone()) {
            server.fail(FailureReason.FORBIDDEN, null);
            time.advance(Duration.ofMillis(100));
        }

        // at 0, 100, 200, 400 and 800 ms; the next one would begin at 1600 ms
        assertThat(server.attempts).hasSize(5);
        assertThat(time.nanoTime()).isLessThan(Duration.ofSeconds(1).toNanos());
    }

    @ParameterizedTest
    @EnumSource
    void get_throttledForTwoSeconds_isNotRepeatedBefore(TooManyRequests said) {
        getter.get(DB, ReadSource.QUORUM, BUDGET);
        server.fail(said.answer());
        time.advance(Duration.ofMillis(1999));
        assertThat(server.attempts).hasSize(1);
        time.advance(Duration.ofMillis(1));

        assertThat(server.attempts).hasSize(2);
    }

    @Test
    void get_retryAfterBeyondTheBudget_failsAtOnceAndCarriesIt() {
        CompletableFuture<Fetched<String>> result = getter.get(DB, ReadSource.QUORUM, BUDGET);
        server.fail(FailureReason.THROTTLED, Duration.ofSeconds(30));

        assertThat(failure(result).retryAfter()).isEqualTo(Duration.ofSeconds(30));
    }

    /** Even with time left: the limit that loops without a deadline put on a long pause is not for a waiting caller. */
    @Test
    void get_retryAfterOfAnHourAndABudgetOfHalfAnHour_failsAtOnce() {
        CompletableFuture<Fetched<String>> result = getter.get(DB, ReadSource.QUORUM, Duration.ofMinutes(30));
        server.fail(FailureReason.THROTTLED, Duration.ofHours(1));

        assertThat(failure(result).retryAfter()).isEqualTo(Duration.ofHours(1));
    }

    @Test
    void get_nextAttemptAtTheDeadline_isNotMade() {
        CompletableFuture<Fetched<String>> result = getter.get(DB, ReadSource.QUORUM, BUDGET);
        time.advance(Duration.ofMillis(9900));
        server.fail(FailureReason.UNAVAILABLE, null);

        assertThat(failure(result)).hasMessage("attempt 1");
    }

    @Test
    void get_nextAttemptJustBeforeTheDeadline_getsWhatIsLeft() {
        getter.get(DB, ReadSource.QUORUM, BUDGET);
        time.advance(Duration.ofMillis(9899));
        server.fail(FailureReason.UNAVAILABLE, null);
        time.advance(Duration.ofMillis(100));

        assertThat(server.timeouts).containsExactly(BUDGET, Duration.ofMillis(1));
    }

    @Test
    void get_whateverTheClockShows_countsFromItsOwnBeginning() {
        time.advance(Duration.ofHours(1));
        getter.get(DB, ReadSource.QUORUM, BUDGET);
        server.fail(FailureReason.UNAVAILABLE, null);
        time.advance(Duration.ofMillis(100));

        assertThat(server.timeouts).containsExactly(BUDGET, BUDGET.minusMillis(100));
    }

    @Test
    void get_failures_endWithTheLastOne() {
        CompletableFuture<Fetched<String>> result = getter.get(DB, ReadSource.QUORUM, Duration.ofMillis(250));
        server.fail(FailureReason.UNAVAILABLE, null);
        time.advance(Duration.ofMillis(100));
        server.fail(FailureReason.TIMEOUT, null);

        assertThat(failure(result)).hasMessage("attempt 2");
    }

    @Test
    void get_failureWrappedByAStage_isUnwrapped() {
        CompletableFuture<Fetched<String>> result = getter.get(DB, ReadSource.QUORUM, BUDGET);
        server.fail(
                new CompletionException(new ApiServerException(FailureReason.UNAVAILABLE, 0, null, "wrapped", null)));
        time.advance(Duration.ofMillis(100));

        assertThat(server.attempts).hasSize(2);
        assertThat(result).isNotDone();
    }

    @Test
    void get_failureOfAnotherKind_isPassedOnAtOnce() {
        CompletableFuture<Fetched<String>> result = getter.get(DB, ReadSource.QUORUM, BUDGET);
        IllegalStateException bug = new IllegalStateException("a bug");
        server.fail(bug);

        assertThat(result).isCompletedExceptionally();
        assertThat(result.handle((value, failure) -> failure).join()).isSameAs(bug);
    }

    @Test
    void get_stageThatFailedWithoutCause_isPassedOnAsItIs() {
        CompletableFuture<Fetched<String>> result = getter.get(DB, ReadSource.QUORUM, BUDGET);
        CompletionException bare = new CompletionException(null);
        server.fail(bare);

        assertThat(result.handle((value, failure) -> failure).join()).isSameAs(bare);
    }

    @Test
    @SuppressWarnings("NullAway") // what no getter may do
    void get_attemptThatEndsWithNothing_fails() {
        CompletableFuture<Fetched<String>> result = getter.get(DB, ReadSource.QUORUM, BUDGET);
        server.attempts.get(0).complete(null);

        assertThat(result.handle((value, failure) -> failure).join())
                .hasMessage("the future completed with neither a value nor a failure");
    }

    @Test
    void getOnce_failureThatMayPass_isNotRepeated() {
        CompletableFuture<Fetched<String>> result = getter.getOnce(DB, ReadSource.CACHE, BUDGET);
        server.fail(FailureReason.UNAVAILABLE, null);
        time.advance(BUDGET);

        assertThat(result).isCompletedExceptionally();
        assertThat(server.attempts).hasSize(1);
    }

    private static ApiServerException failure(CompletableFuture<?> result) {
        assertThat(result).isCompletedExceptionally();
        Throwable failure = result.handle((value, thrown) -> thrown).join();
        assertThat(failure).isInstanceOf(ApiServerException.class);
        return (ApiServerException) failure;
    }
}
