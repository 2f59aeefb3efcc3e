package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.RetryingGetter;
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

/** Flights that land when a test says so. */
class FlightsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(1);
    private static final Secret SECRET = Secrets.of(DB, "v1");
    private static final Answer<Secret> PRESENT = new Answer.Present<>(0, SECRET, "1", 2, false);
    private static final Answer<Secret> ABSENT = new Answer.Absent<>(0);
    private final ApiServerException failure =
            new ApiServerException(FailureReason.FORBIDDEN, 403, Duration.ofSeconds(7), "GET was answered 403", null);

    private final List<String> told = new ArrayList<>();
    private final List<Outcome<Secret>> landings = new ArrayList<>();
    private final ManualTimekeeper timekeeper = ManualTimekeeper.passingWhileWaiting();
    private final CompletableFuture<Fetched<Secret>> response = new CompletableFuture<>();
    private final Flights<Secret> flights = flights();
    private final Flight<Secret> flight = new Flight<>(1, PRESENT);

    @Test
    void launch_answered_landsTheAnswer() {
        flights.launch(DB, flight, landings::add);
        assertThat(landings).isEmpty();
        response.complete(new Fetched<>(SECRET, "1", 2));

        assertThat(landings).hasSize(1).allMatch(Outcome::isPresent);
    }

    @Test
    void launch_adapterFailsWithAnythingElse_landsThatAsAFailure() {
        IllegalStateException bug = new IllegalStateException("a bug");
        flights.launch(DB, flight, landings::add);
        response.completeExceptionally(bug);

        assertThat(landings)
                .extracting(Outcome::failure)
                .singleElement()
                .satisfies(failure -> assertThat(failure)
                        .hasMessageContaining("the adapter failed unexpectedly")
                        .hasCause(bug));
    }

    @Test
    void close_endsTheFlightsUnderWay() {
        flights.launch(DB, flight, landings::add);
        assertThat(flight.landed).isNotDone();
        flights.close();

        assertThat(outcomeOf(flight).isClosed()).isTrue();
    }

    @Test
    void close_afterALanding_leavesItsOutcome() {
        flights.launch(DB, flight, landings::add);
        response.complete(new Fetched<>(SECRET, "1", 2));
        flights.close();

        assertThat(flight.landed).as("not under way any more").isNotDone();
    }

    @Test
    void launch_closed_endsAtOnce() {
        flights.close();
        flights.launch(DB, flight, landings::add);

        assertThat(outcomeOf(flight).isClosed()).isTrue();
    }

    @Test
    void landsWithin_landedAlready_doesNotWait() {
        flight.landed.complete(Outcome.answered(PRESENT));
        Thread.currentThread().interrupt();

        assertThat(flights.landsWithin(PATIENCE, DB, flight)).isTrue();
        assertThat(Thread.interrupted()).as("not even asked").isTrue();
    }

    @Test
    void landsWithin_landsMeanwhile_waitsNoLonger() {
        timekeeper.schedule(PATIENCE.dividedBy(2), () -> flight.landed.complete(Outcome.answered(PRESENT)));

        assertThat(flights.landsWithin(PATIENCE, DB, flight)).isTrue();
        assertThat(timekeeper.nanoTime()).isEqualTo(PATIENCE.dividedBy(2).toNanos());
    }

    @Test
    void landsWithin_late_isFalse() {
        assertThat(flights.landsWithin(PATIENCE, DB, flight)).isFalse();
        assertThat(timekeeper.nanoTime()).isEqualTo(PATIENCE.toNanos());
    }

    @Test
    void landsWithin_interrupted_failsWithTheStatusSet() {
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> flights.landsWithin(PATIENCE, DB, flight))
                .isInstanceOfSatisfying(
                        FetchFailed.class, e -> assertThat(e.reason()).isEqualTo(FailureReason.INTERRUPTED))
                .hasCauseInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void conclude_present_isTheObject() {
        assertThat(flights.conclude(DB, null, Outcome.answered(PRESENT))).isSameAs(SECRET);
        assertThat(told).isEmpty();
    }

    @Test
    void conclude_absent_isNotFoundForSure() {
        assertThatThrownBy(() -> flights.conclude(DB, PRESENT, Outcome.answered(ABSENT)))
                .isInstanceOf(NotFound.class)
                .hasNoCause();
    }

    @Test
    void conclude_closed_isClosed() {
        assertThatThrownBy(() -> flights.conclude(DB, PRESENT, Outcome.closed()))
                .isInstanceOf(Closed.class);
    }

    @Test
    void conclude_failedButKnown_isWhatIsKnownAndTold() {
        assertThat(flights.conclude(DB, PRESENT, Outcome.failed(failure))).isSameAs(SECRET);
        assertThat(told).containsExactly("stale default/db CACHE");
    }

    @Test
    void conclude_failedAndKnownToBeAbsent_isNotFoundThatSaysWhyItIsNotSure() {
        assertThatThrownBy(() -> flights.conclude(DB, ABSENT, Outcome.failed(failure)))
                .isInstanceOf(NotFound.class)
                .hasCause(failure);
        assertThat(told).as("no object was served").isEmpty();
    }

    @Test
    void conclude_failedAndNothingKnown_failsWithTheFacts() {
        assertThatThrownBy(() -> flights.conclude(DB, null, Outcome.failed(failure)))
                .isInstanceOfSatisfying(FetchFailed.class, e -> {
                    assertThat(e.reason()).isEqualTo(FailureReason.FORBIDDEN);
                    assertThat(e.httpCode()).hasValue(403);
                    assertThat(e.retryAfter()).contains(Duration.ofSeconds(7));
                })
                .hasCause(failure);
    }

    @Test
    void serveStale_noFailureYet_isATimeout() {
        assertThatThrownBy(() -> flights.serveStale(DB, null, null))
                .isInstanceOfSatisfying(
                        FetchFailed.class, e -> assertThat(e.reason()).isEqualTo(FailureReason.TIMEOUT))
                .cause()
                .hasMessageContaining("GET Secret default/db")
                .hasMessageContaining("still waiting");
    }

    private static Outcome<Secret> outcomeOf(Flight<Secret> flight) {
        assertThat(flight.landed).isDone();
        return flight.landed.join();
    }

    private Flights<Secret> flights() {
        StoreOptions options = new StoreOptions(
                timekeeper, Duration.ofSeconds(10), PayloadBudget.unlimited(timekeeper), new PodcacheMetrics() {
                    @Override
                    public void staleServed(ObjectKind<?> kind, ObjectKey key, String strategy) {
                        told.add("stale " + key + " " + strategy);
                    }
                });
        RetryingGetter<Secret> getter =
                new RetryingGetter<>((key, freshness, timeout) -> response, timekeeper, () -> 0.5);
        return new Flights<>(
                ObjectKind.SECRET,
                "CACHE",
                new AnswerFetch<>(ObjectKind.SECRET, getter, timekeeper::nanoTime, options),
                options);
    }
}
