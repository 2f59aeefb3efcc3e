package dev.podcache.store;

import static dev.podcache.store.StoreFixture.DB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.store.Fetches.Fetch;
import dev.podcache.store.Fetches.FetchOutcome;
import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.TooManyRequests;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Which requests of a fetch are repeated. Pauses are the longest ones because the jitter is 0.
 *
 * <table>
 * <caption>After a failed attempt at time t of a read timeout of 10 s</caption>
 * <tr><th>reason</th><th>t below 1 s</th><th>t from 1 s on</th><th>next attempt would begin at 10 s or later</th></tr>
 * <tr><td>UNAVAILABLE, THROTTLED, TIMEOUT</td><td>again</td><td>again</td><td>fails with this
 * attempt's failure</td></tr>
 * <tr><td>FORBIDDEN</td><td>again, as EarlyRefusals says</td><td>fails</td><td>fails</td></tr>
 * <tr><td>all others</td><td>fails</td><td>fails</td><td>fails</td></tr>
 * </table>
 */
class FetchRetriesTest {

    private static final Duration READ_TIMEOUT = Duration.ofSeconds(10);
    private static final Fetched<Secret> ANSWER = new Fetched<>(Secrets.of(DB, "v1"), "1", 1);

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final RefusedTimers timers = new RefusedTimers(time);
    private final ManualGetter server = new ManualGetter();

    private static final class RefusedTimers extends ForwardingTimekeeper {

        private boolean refused;
        private boolean firesAtOnce;
        private boolean clockThrows;

        RefusedTimers(ManualTimekeeper time) {
            super(time);
        }

        @Override
        public long nanoTime() {
            if (clockThrows) {
                clockThrows = false;
                throw new InternalError("no time");
            }
            return super.nanoTime();
        }

        @Override
        public Scheduled schedule(Duration delay, Runnable task) {
            if (refused) {
                throw new InternalError("no timer");
            }
            if (firesAtOnce) {
                firesAtOnce = false;
                task.run();
                return () -> {};
            }
            return super.schedule(delay, task);
        }
    }

    /** Keeps each attempt, to be answered by hand. */
    private static final class ManualGetter implements ObjectGetter<Secret> {

        final List<CompletableFuture<Fetched<Secret>>> attempts = new ArrayList<>();
        final List<Duration> timeouts = new ArrayList<>();
        final List<ReadSource> sources = new ArrayList<>();
        int failsAtOnce; // the number of an attempt; 0 for none

        @Override
        public CompletableFuture<Fetched<Secret>> get(ObjectKey key, ReadSource source, Duration timeout) {
            CompletableFuture<Fetched<Secret>> attempt = new CompletableFuture<>();
            attempts.add(attempt);
            timeouts.add(timeout);
            sources.add(source);
            if (attempts.size() == failsAtOnce) {
                fail(FailureReason.UNAVAILABLE, null);
            }
            return attempt;
        }

        void answer() {
            attempts.get(attempts.size() - 1).complete(ANSWER);
        }

        void fail(FailureReason reason, @Nullable Duration retryAfter) {
            fail(new ApiServerException(reason, 0, retryAfter, "attempt " + attempts.size(), null));
        }

        void fail(Throwable failure) {
            attempts.get(attempts.size() - 1).completeExceptionally(failure);
        }
    }

    private Fetch<Secret> begin(Fetch<Secret> fetch, Duration readTimeout) {
        StoreOptions options =
                new StoreOptions(timers, readTimeout, PayloadBudget.unlimited(timers), PodcacheMetrics.NONE);
        begin(fetches(options), fetch);
        return fetch;
    }

    private Fetches<Secret> fetches(StoreOptions options) {
        return new Fetches<>(ObjectKind.SECRET, "CACHE", server, time::nanoTime, options, () -> 0.0);
    }

    private static void begin(Fetches<Secret> fetches, Fetch<Secret> fetch) {
        fetches.start(DB, fetch, fetch.outcome::complete);
    }

    private Fetch<Secret> firstRead() {
        return begin(Fetch.latest(1), READ_TIMEOUT);
    }

    @Test
    void answer_isPassedOn() {
        Fetch<Secret> fetch = firstRead();
        server.answer();

        requireAnswered(fetch);
        assertThat(server.sources).containsExactly(ReadSource.QUORUM);
    }

    @ParameterizedTest
    @EnumSource(names = {"UNAVAILABLE", "THROTTLED", "TIMEOUT"})
    void failureThatMayPass_isRepeatedAfter100Millis(FailureReason reason) {
        Fetch<Secret> fetch = firstRead();
        server.fail(reason, null);
        time.advance(Duration.ofMillis(99));
        assertThat(server.attempts).hasSize(1);
        time.advance(Duration.ofMillis(1));
        assertThat(server.sources).containsExactly(ReadSource.QUORUM, ReadSource.QUORUM);
        server.answer();

        requireAnswered(fetch);
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"UNAVAILABLE", "THROTTLED", "TIMEOUT", "FORBIDDEN", "NOT_FOUND"})
    void failureThatIsAnAnswer_isFinal(FailureReason reason) {
        Fetch<Secret> fetch = firstRead();
        server.fail(reason, Duration.ofMillis(1));

        assertThat(failure(fetch).reason()).isEqualTo(reason);
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void notFound_isAnAnswer() {
        Fetch<Secret> fetch = firstRead();
        server.fail(FailureReason.NOT_FOUND, Duration.ofMillis(1));

        assertThat(outcome(fetch).answer()).isInstanceOf(Answer.Absent.class);
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void forbiddenAfterASecond_isFinal() {
        Fetch<Secret> fetch = firstRead();
        time.advance(Duration.ofSeconds(1));
        server.fail(FailureReason.FORBIDDEN, null);

        assertThat(failure(fetch).reason()).isEqualTo(FailureReason.FORBIDDEN);
    }

    @Test
    void forbiddenAllTheTime_endsWithinASecond() {
        Fetch<Secret> fetch = firstRead();
        refuseUntilItEnds(fetch);

        // at 0, 50, 150, 350, 750 and 1000 ms
        assertThat(server.attempts).hasSize(6);
        assertThat(time.nanoTime()).isEqualTo(Duration.ofSeconds(1).toNanos());
    }

    @Test
    void forbiddenFetch_thatMayBeRefusedForLonger_endsThen() {
        Fetch<Secret> fetch = begin(new Fetch<>(1, null, 0, Duration.ofMillis(400)), READ_TIMEOUT);
        refuseUntilItEnds(fetch);

        // at 0, 50, 150, 350 and 400 ms
        assertThat(server.attempts).hasSize(5);
        assertThat(time.nanoTime()).isEqualTo(Duration.ofMillis(400).toNanos());
    }

    @Test
    void forbiddenFetch_ofAnObjectThatWasReadBefore_endsAtOnce() {
        Fetch<Secret> fetch = begin(new Fetch<>(1, null, 0, Duration.ZERO), READ_TIMEOUT);
        server.fail(FailureReason.FORBIDDEN, null);

        assertThat(failure(fetch).reason()).isEqualTo(FailureReason.FORBIDDEN);
        assertThat(time.scheduledTasks()).isZero();
    }

    private void refuseUntilItEnds(Fetch<Secret> fetch) {
        server.fail(FailureReason.FORBIDDEN, null);
        while (!fetch.outcome.isDone()) {
            time.advance(Duration.ofMillis(50));
            server.fail(FailureReason.FORBIDDEN, null);
        }
    }

    /** The server's own wish counts for a refusal too. */
    @Test
    void forbiddenWithRetryAfter_isNotRepeatedBefore() {
        Fetch<Secret> fetch = firstRead();
        server.fail(FailureReason.FORBIDDEN, Duration.ofMillis(600));
        time.advance(Duration.ofMillis(599));
        assertThat(server.attempts).hasSize(1);
        time.advance(Duration.ofMillis(1));
        assertThat(server.attempts).hasSize(2);
        server.fail(FailureReason.FORBIDDEN, Duration.ofMillis(600));

        assertThat(failure(fetch).reason()).isEqualTo(FailureReason.FORBIDDEN);
    }

    @ParameterizedTest
    @EnumSource
    void throttledForTwoSeconds_isNotRepeatedBefore(TooManyRequests said) {
        Fetch<Secret> unused = firstRead();
        server.fail(said.answer());
        time.advance(Duration.ofMillis(1999));
        assertThat(server.attempts).hasSize(1);
        time.advance(Duration.ofMillis(1));

        assertThat(server.attempts).hasSize(2);
    }

    @Test
    void retryAfterBeyondTheReadTimeout_failsAtOnceAndCarriesIt() {
        Fetch<Secret> fetch = firstRead();
        server.fail(FailureReason.THROTTLED, Duration.ofSeconds(30));

        assertThat(failure(fetch).retryAfter()).isEqualTo(Duration.ofSeconds(30));
    }

    /** Even with time left: the limit that loops without a deadline put on a long pause is not for a waiting caller. */
    @Test
    void retryAfterOfAnHourAndAReadTimeoutOfHalfAnHour_failsAtOnce() {
        Fetch<Secret> fetch = begin(Fetch.latest(1), Duration.ofMinutes(30));
        server.fail(FailureReason.THROTTLED, Duration.ofHours(1));

        assertThat(failure(fetch).retryAfter()).isEqualTo(Duration.ofHours(1));
    }

    @Test
    void nextAttemptAtTheDeadline_isNotMade() {
        Fetch<Secret> fetch = firstRead();
        time.advance(Duration.ofMillis(9900));
        server.fail(FailureReason.UNAVAILABLE, null);

        assertThat(failure(fetch)).hasMessage("attempt 1");
    }

    @Test
    void nextAttemptJustBeforeTheDeadline_getsWhatIsLeft() {
        Fetch<Secret> unused = firstRead();
        time.advance(Duration.ofMillis(9899));
        server.fail(FailureReason.UNAVAILABLE, null);
        time.advance(Duration.ofMillis(100));

        assertThat(server.timeouts).containsExactly(READ_TIMEOUT, Duration.ofMillis(1));
    }

    @Test
    void whateverTheClockShows_countsFromItsOwnBeginning() {
        time.advance(Duration.ofHours(1));
        Fetch<Secret> unused = firstRead();
        server.fail(FailureReason.UNAVAILABLE, null);
        time.advance(Duration.ofMillis(100));

        assertThat(server.timeouts).containsExactly(READ_TIMEOUT, READ_TIMEOUT.minusMillis(100));
    }

    @Test
    void failures_endWithTheLastOne() {
        Fetch<Secret> fetch = begin(Fetch.latest(1), Duration.ofMillis(250));
        server.fail(FailureReason.UNAVAILABLE, null);
        time.advance(Duration.ofMillis(100));
        server.fail(FailureReason.TIMEOUT, null);

        assertThat(failure(fetch)).hasMessage("attempt 2");
    }

    @Test
    void failureWrappedByAStage_isUnwrapped() {
        Fetch<Secret> fetch = firstRead();
        server.fail(
                new CompletionException(new ApiServerException(FailureReason.UNAVAILABLE, 0, null, "wrapped", null)));
        time.advance(Duration.ofMillis(100));

        assertThat(server.attempts).hasSize(2);
        assertThat(fetch.outcome).isNotDone();
    }

    @Test
    void failureOfAnotherKind_isNotRepeatedAndIsTheCause() {
        Fetch<Secret> fetch = firstRead();
        IllegalStateException bug = new IllegalStateException("a bug");
        server.fail(bug);

        assertThat(failure(fetch)).hasMessageContaining("failed unexpectedly").hasCause(bug);
    }

    @Test
    void stageThatFailedWithoutCause_isTheCauseAsItIs() {
        Fetch<Secret> fetch = firstRead();
        CompletionException bare = new CompletionException(null);
        server.fail(bare);

        assertThat(failure(fetch).getCause()).isSameAs(bare);
    }

    @Test
    @SuppressWarnings("NullAway") // what no getter may do
    void attemptThatEndsWithNothing_fails() {
        Fetch<Secret> fetch = firstRead();
        server.attempts.get(0).complete(null);

        assertThat(failure(fetch)).hasRootCauseMessage("the future completed with neither a value nor a failure");
    }

    @Test
    void noTimerForTheNextAttempt_failsWithTheLastFailure() {
        Fetch<Secret> fetch = firstRead();
        timers.refused = true;
        server.fail(FailureReason.UNAVAILABLE, null);

        assertThat(failure(fetch)).hasMessage("attempt 1");
    }

    @Test
    void noTimeForTheNextAttempt_failsWithTheLastFailure() {
        Fetch<Secret> fetch = firstRead();
        timers.clockThrows = true;
        server.fail(FailureReason.UNAVAILABLE, null);

        assertThat(failure(fetch)).hasMessage("attempt 1");
    }

    /** The server may go on, because other caches use it. */
    @Test
    void close_duringAPause_leavesNoTimer() {
        Fetches<Secret> fetches = fetches(StoreOptions.defaults(time));
        Fetch<Secret> fetch = Fetch.latest(1);
        begin(fetches, fetch);
        server.fail(FailureReason.UNAVAILABLE, null);
        fetches.close();

        assertThat(outcome(fetch).isClosed()).isTrue();
        assertThat(time.scheduledTasks()).isZero();
    }

    /** A timer may fire before it is known here, and then the next one is known before it. */
    @Test
    void close_afterATimerThatFiredAtOnce_isFollowedByNoAttempt() {
        timers.firesAtOnce = true;
        server.failsAtOnce = 2;
        Fetches<Secret> fetches = fetches(StoreOptions.defaults(timers));
        begin(fetches, Fetch.latest(1));
        server.fail(FailureReason.UNAVAILABLE, null);
        assertThat(server.attempts).hasSize(2);
        fetches.close();

        time.advance(READ_TIMEOUT);

        assertThat(server.attempts).hasSize(2);
    }

    @Test
    void close_duringAnAttempt_isFollowedByNoOther() {
        Fetches<Secret> fetches = fetches(StoreOptions.defaults(time));
        begin(fetches, Fetch.latest(1));
        fetches.close();
        server.fail(FailureReason.UNAVAILABLE, null);
        time.advance(READ_TIMEOUT);

        assertThat(server.attempts).hasSize(1);
    }

    @Test
    void close_duringTheReadOfTheServersCache_isFollowedByNoQuorumRead() {
        Fetches<Secret> fetches = fetches(StoreOptions.defaults(time));
        begin(fetches, new Fetch<>(1, Answer.present(ObjectKind.SECRET, ANSWER, new Answer.SharedPayloads(), 0)));
        fetches.close();
        server.fail(FailureReason.NOT_FOUND, null);

        assertThat(server.sources).containsExactly(ReadSource.CACHE);
    }

    @Test
    void start_afterClose_sendsNothing() {
        Fetches<Secret> fetches = fetches(StoreOptions.defaults(time));
        fetches.close();
        Fetch<Secret> fetch = Fetch.latest(1);
        begin(fetches, fetch);

        assertThat(outcome(fetch).isClosed()).isTrue();
        assertThat(server.attempts).isEmpty();
    }

    @Test
    void presentAndFailureThatMayPass_isNotRepeated() {
        Fetch<Secret> fetch = begin(
                new Fetch<>(1, Answer.present(ObjectKind.SECRET, ANSWER, new Answer.SharedPayloads(), 0)),
                READ_TIMEOUT);
        server.fail(FailureReason.UNAVAILABLE, null);
        time.advance(READ_TIMEOUT);

        assertThat(failure(fetch)).hasMessage("attempt 1");
        assertThat(server.sources).containsExactly(ReadSource.CACHE);
    }

    @Test
    void absentAndFailureThatMayPass_isNotRepeated() {
        Fetch<Secret> fetch = begin(new Fetch<>(1, new Answer.Absent<>(0)), READ_TIMEOUT);
        server.fail(FailureReason.UNAVAILABLE, null);
        time.advance(READ_TIMEOUT);

        assertThat(failure(fetch)).hasMessage("attempt 1");
        assertThat(server.sources).containsExactly(ReadSource.QUORUM);
    }

    private static void requireAnswered(Fetch<Secret> fetch) {
        assertThat(outcome(fetch).answer())
                .isInstanceOfSatisfying(
                        Answer.Present.class,
                        present -> assertThat(present.object).isSameAs(ANSWER.object()));
    }

    private static ApiServerException failure(Fetch<Secret> fetch) {
        return Objects.requireNonNull(outcome(fetch).failure(), "the failure");
    }

    private static FetchOutcome<Secret> outcome(Fetch<Secret> fetch) {
        assertThat(fetch.outcome).isCompleted();
        return fetch.outcome.join();
    }
}
