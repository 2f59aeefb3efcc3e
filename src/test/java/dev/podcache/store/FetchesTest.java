package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Fetches that end when a test says so. */
class FetchesTest {

    private static final Secret SECRET = Secrets.of(DB, "v1");
    private static final Answer<Secret> PRESENT = new Answer.Present<>(0, SECRET, "1", 2, false);
    private static final Answer<Secret> ABSENT = new Answer.Absent<>(0);
    private final ApiServerException failure =
            new ApiServerException(FailureReason.FORBIDDEN, 403, Duration.ofSeconds(7), "GET was answered 403", null);

    private final List<String> reported = new ArrayList<>();
    private final List<Fetch.FetchOutcome<Secret>> outcomes = new ArrayList<>();
    private final ManualTimekeeper timekeeper = ManualTimekeeper.passingWhileWaiting();
    private final CompletableFuture<Fetched<Secret>> response = new CompletableFuture<>();
    private final Fetches<Secret> fetches = fetches();
    private final Fetch<Secret> fetch = new Fetch<>(1, PRESENT);

    @Test
    void start_answered_bringsTheAnswer() {
        fetches.start(DB, fetch, outcomes::add);
        assertThat(outcomes).isEmpty();
        response.complete(new Fetched<>(SECRET, "1", 2));

        assertThat(outcomes).hasSize(1).allMatch(Fetch.FetchOutcome::isPresent);
    }

    @Test
    void start_adapterFailsWithAnythingElse_isAFailure() {
        IllegalStateException bug = new IllegalStateException("a bug");
        fetches.start(DB, fetch, outcomes::add);
        response.completeExceptionally(bug);

        assertThat(outcomes)
                .extracting(Fetch.FetchOutcome::failure)
                .singleElement()
                .satisfies(failure -> assertThat(failure)
                        .hasMessageContaining("the adapter failed unexpectedly")
                        .hasCause(bug));
    }

    @Test
    void close_endsTheFetchesUnderWay() {
        fetches.start(DB, fetch, outcomes::add);
        assertThat(fetch.outcome).isNotDone();
        fetches.close();

        assertThat(outcomeOf(fetch).isClosed()).isTrue();
    }

    @Test
    void close_afterTheEnd_leavesItsOutcome() {
        fetches.start(DB, fetch, outcomes::add);
        response.complete(new Fetched<>(SECRET, "1", 2));
        fetches.close();

        assertThat(fetch.outcome).as("not under way any more").isNotDone();
    }

    @Test
    void start_closed_endsAtOnce() {
        fetches.close();
        fetches.start(DB, fetch, outcomes::add);

        assertThat(outcomeOf(fetch).isClosed()).isTrue();
    }

    @Test
    void conclude_present_isTheObject() {
        assertThat(fetches.conclude(DB, null, Fetch.FetchOutcome.answered(PRESENT)))
                .isSameAs(SECRET);
        assertThat(reported).isEmpty();
    }

    @Test
    void conclude_absent_isNotFoundForSure() {
        assertThatThrownBy(() -> fetches.conclude(DB, PRESENT, Fetch.FetchOutcome.answered(ABSENT)))
                .isInstanceOf(NotFound.class)
                .hasNoCause();
    }

    @Test
    void conclude_closed_isClosed() {
        assertThatThrownBy(() -> fetches.conclude(DB, PRESENT, Fetch.FetchOutcome.closed()))
                .isInstanceOf(Closed.class);
    }

    @Test
    void conclude_failedButKnown_isWhatIsKnownAndReported() {
        assertThat(fetches.conclude(DB, PRESENT, Fetch.FetchOutcome.failed(failure)))
                .isSameAs(SECRET);
        assertThat(reported).containsExactly("stale default/db CACHE");
    }

    @Test
    void conclude_failedAndKnownToBeAbsent_isNotFoundThatSaysWhyItIsNotSure() {
        assertThatThrownBy(() -> fetches.conclude(DB, ABSENT, Fetch.FetchOutcome.failed(failure)))
                .isInstanceOf(NotFound.class)
                .hasCause(failure);
        assertThat(reported).as("no object was served").isEmpty();
    }

    @Test
    void conclude_failedAndNothingKnown_failsWithTheFacts() {
        assertThatThrownBy(() -> fetches.conclude(DB, null, Fetch.FetchOutcome.failed(failure)))
                .isInstanceOfSatisfying(FetchFailed.class, e -> {
                    assertThat(e.reason()).isEqualTo(FailureReason.FORBIDDEN);
                    assertThat(e.httpCode()).hasValue(403);
                    assertThat(e.retryAfter()).contains(Duration.ofSeconds(7));
                })
                .hasCause(failure);
    }

    @Test
    void serveStale_noFailureYet_isATimeout() {
        assertThatThrownBy(() -> fetches.serveStale(DB, null, null))
                .isInstanceOfSatisfying(
                        FetchFailed.class, e -> assertThat(e.reason()).isEqualTo(FailureReason.TIMEOUT))
                .cause()
                .hasMessageContaining("GET Secret default/db")
                .hasMessageContaining("the request continues");
    }

    private static Fetch.FetchOutcome<Secret> outcomeOf(Fetch<Secret> fetch) {
        assertThat(fetch.outcome).isDone();
        return fetch.outcome.join();
    }

    private Fetches<Secret> fetches() {
        StoreOptions options = new StoreOptions(
                timekeeper, Duration.ofSeconds(10), PayloadBudget.unlimited(timekeeper), new PodcacheMetrics() {
                    @Override
                    public void staleServed(ObjectKind<?> kind, ObjectKey key, String strategy) {
                        reported.add("stale " + key + " " + strategy);
                    }
                });
        return new Fetches<>(
                ObjectKind.SECRET, "CACHE", (key, freshness, timeout) -> response, timekeeper::nanoTime, options);
    }
}
