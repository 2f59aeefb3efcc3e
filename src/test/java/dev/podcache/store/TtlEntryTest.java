package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Phase;
import dev.podcache.testing.ManualTimekeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The state table in {@link TtlEntry}, cell by cell, with neither store nor server; the first
 * answer is always of time 0.
 */
class TtlEntryTest {

    private static final long SECOND = Duration.ofSeconds(1).toNanos();
    private static final long TTL = 60 * SECOND;

    /** Of a century's half, so that a leeway of less than a second is as good as never drawn. */
    private static final long MAX_STALENESS = Duration.ofDays(36_500).toNanos();

    private static final long STALE_FOR_GOOD = TTL + MAX_STALENESS;

    private final List<String> told = new ArrayList<>();
    private TtlEntry<String> entry = entry(MAX_STALENESS);
    private long now;
    private long ttl = TTL;

    /** The rows, and within a row the moments at its edges. */
    private enum Row {
        NO_ANSWER,
        FRESH,
        FRESH_AT_LAST,
        STALE_IN_THE_LEEWAY,
        STALE_BEYOND_THE_LEEWAY,
        STALE_BEARABLE_AT_LAST,
        STALER,
        ABSENT,
        BEARABLE_BEHIND_PAUSED,
        BEARABLE_BEHIND_DUE,
        STALER_BEHIND_PAUSED,
        STALER_BEHIND_DUE,
        ABSENT_BEHIND_PAUSED,
        ABSENT_BEHIND_DUE
    }

    // the column: a get

    @ParameterizedTest
    @CsvSource({
        "NO_ANSWER,               launches and waits",
        "FRESH,                   hits v1",
        "FRESH_AT_LAST,           hits v1",
        "STALE_IN_THE_LEEWAY,     serves v1 without the lock",
        "STALE_BEYOND_THE_LEEWAY, launches and serves v1",
        "STALE_BEARABLE_AT_LAST,  launches and serves v1",
        "STALER,                  launches and waits",
        "ABSENT,                  launches and waits",
        "BEARABLE_BEHIND_PAUSED,  serves v1",
        "BEARABLE_BEHIND_DUE,     launches and serves v1",
        "STALER_BEHIND_PAUSED,    serves the known v1",
        "STALER_BEHIND_DUE,       launches and serves the known v1",
        "ABSENT_BEHIND_PAUSED,    serves the known absence",
        "ABSENT_BEHIND_DUE,       launches and serves the known absence"
    })
    void get(Row row, String outcome) {
        bringTo(row);

        assertThat(get()).isEqualTo(outcome);
    }

    @ParameterizedTest
    @CsvSource({
        "NO_ANSWER,               waits",
        "STALE_BEYOND_THE_LEEWAY, serves v1",
        "STALER,                  waits",
        "ABSENT,                  waits",
        "STALER_BEHIND_DUE,       serves the known v1",
        "ABSENT_BEHIND_DUE,       serves the known absence"
    })
    void get_flightUnderWay_launchesNoOther(Row row, String outcome) {
        bringTo(row);
        Flight<String> flight = launch();

        assertThat(get()).isEqualTo(outcome);
        Flight<String> awaited = turn().awaited();
        assertThat(awaited == null || awaited == flight).isTrue();
    }

    @Test
    void get_waits_isToldWhatIsKnown() {
        bringTo(Row.STALER);
        TtlEntry.Turn<String> turn = turn();

        assertThat(turn.known()).isSameAs(entry.answer());
        assertThat(turn.launched())
                .isNotNull()
                .satisfies(flight -> assertThat(flight.known).isSameAs(entry.answer()));
        assertThat(turn.lastFailure()).isNull();
    }

    @Test
    void get_behind_isToldWhyTheLastRefreshFailed() {
        bringTo(Row.STALER);
        fail(launch(), unavailable());

        assertThat(turn().lastFailure())
                .isEqualTo(entry.state(now, ttl, "").lastFailure())
                .isNotNull();
    }

    @Test
    void get_dropped_looksAgain() {
        bringTo(Row.FRESH);
        entry.deleteReference(POD);

        assertThat(get()).isEqualTo("looks again");
    }

    @Test
    void get_ttlZero_nothingIsFreshNorBearable() {
        bringTo(Row.FRESH);
        ttl = 0;
        now = 0;

        assertThat(get()).isEqualTo("launches and waits");
    }

    @Test
    void get_ttlOfANanosecond_hasALeeway() {
        bringTo(Row.FRESH);
        ttl = 1;
        now = 1;

        assertThat(get()).isEqualTo("serves v1 without the lock");
    }

    @Test
    void get_withoutBackgroundRefresh_nothingStaleIsBearable() {
        entry = entry(0);
        bringTo(Row.STALE_IN_THE_LEEWAY);

        assertThat(get()).isEqualTo("launches and waits");
    }

    @Test
    void get_immutableAndOld_hits() {
        land(launch(), new Answer.Present<>(0, "v1", "1", 2, true));
        now = STALE_FOR_GOOD;

        assertThat(get()).isEqualTo("hits v1");
    }

    @Test
    void get_immutableThenForgotten_doesNotHit() {
        land(launch(), new Answer.Present<>(0, "v1", "1", 2, true));
        entry.evict();

        assertThat(get()).isEqualTo("launches and waits");
    }

    @Test
    void get_immutableThenReplacedByWhatIsNot_hitsNoLongerThanTheTtl() {
        land(launch(), new Answer.Present<>(0, "v1", "1", 2, true));
        entry.addReference(OTHER_POD);
        land(launch(), present("v2"));
        now = TTL;

        assertThat(get()).isEqualTo("serves v2 without the lock");
    }

    @Test
    void get_looksFreshButWasForgotten_doesNotHit() {
        bringTo(Row.FRESH);
        entry.addReference(OTHER_POD);

        assertThat(get()).isEqualTo("launches and waits");
    }

    @Test
    void ifFresh_stale_leavesATraceAllTheSame() {
        bringTo(Row.STALER);
        entry.touched = false;
        entry.ifFresh(FreshnessClock.freshSince(now, ttl));

        assertThat(entry.touched).isTrue();
    }

    // the column: a landing that succeeds

    @ParameterizedTest
    @CsvSource({"NO_ANSWER", "STALE_BEYOND_THE_LEEWAY", "STALER", "ABSENT", "STALER_BEHIND_DUE", "ABSENT_BEHIND_DUE"})
    void landing_succeeds_keepsTheAnswerAndRefreshesNoLongerBehind(Row row) {
        bringTo(row);
        land(launch(), present("v2"));

        assertThat(get()).isEqualTo("hits v2");
        now += STALE_FOR_GOOD;
        assertThat(get()).isEqualTo("launches and waits");
        assertThat(entry.state(now, ttl, "").lastFailure()).isNull();
    }

    @ParameterizedTest
    @CsvSource({"NO_ANSWER", "STALE_BEYOND_THE_LEEWAY", "STALER", "ABSENT", "STALER_BEHIND_DUE", "ABSENT_BEHIND_DUE"})
    void landing_findsNothing_keepsTheAbsence(Row row) {
        bringTo(row);
        land(launch(), new Answer.Absent<>(now));

        assertThat(entry.answer()).isInstanceOf(Answer.Absent.class);
        assertThat(get()).isEqualTo("launches and waits");
    }

    @Test
    void landing_sameVersion_keepsTheSharedInstance() {
        bringTo(Row.STALER);
        String shared = objectOf(entry.answer());
        Flight<String> flight = launch();
        land(flight, new Answer.Present<>(now, new String("v1"), "v1", 2, false));

        assertThat(entry.ifFresh(FreshnessClock.freshSince(now, ttl))).isSameAs(shared);
        assertThat(outcomeOf(flight).answer()).isSameAs(entry.answer());
    }

    @Test
    void landing_eachDrawsALeewayOfItsOwn_upToHalfOfTheMaximum() {
        int longOnes = 0;
        for (int i = 0; i < 100; i++) {
            land(launch(), new Answer.Present<>(0, "v" + i, "v" + i, 2, false));
            assertThat(entry.ifInLeeway(MAX_STALENESS / 2)).isNull();
            longOnes += entry.ifInLeeway(MAX_STALENESS / 4) == null ? 0 : 1;
            ttl = 0;
        }

        // either end has a chance of one in 2^100
        assertThat(longOnes).isBetween(1, 99);
    }

    // the column: a landing that fails

    @ParameterizedTest
    @CsvSource({
        "NO_ANSWER,               launches and waits",
        "STALE_BEYOND_THE_LEEWAY, serves v1",
        "STALER,                  serves the known v1",
        "ABSENT,                  serves the known absence",
        "STALER_BEHIND_DUE,       serves the known v1",
        "ABSENT_BEHIND_DUE,       serves the known absence"
    })
    void landing_fails_theNextGet(Row row, String outcome) {
        bringTo(row);
        fail(launch(), unavailable());

        assertThat(get()).isEqualTo(outcome);
    }

    @Test
    void landing_failsOnceMore_pausesLonger() {
        bringTo(Row.STALER);
        for (long pause : new long[] {1, 2, 4, 8, 16, 30, 30}) {
            fail(launch(), unavailable());
            long failedAt = now;
            now = failedAt + pause * SECOND / 2 - 1;
            assertThat(get())
                    .as("before a pause of at least half of %s s", pause)
                    .isEqualTo("serves the known v1");
            now = failedAt + pause * SECOND;
        }
    }

    @Test
    void landing_failsAfterASuccess_pausesAsAfterTheFirstFailure() {
        bringTo(Row.STALER);
        for (int i = 0; i < 3; i++) {
            fail(launch(), unavailable());
            now += 30 * SECOND;
        }
        land(launch(), present("v2"));
        now += STALE_FOR_GOOD;
        fail(launch(), unavailable());
        now += SECOND;

        assertThat(get()).isEqualTo("launches and serves the known v2");
    }

    @Test
    void landing_ofAClosedStore_isNoFailure() {
        bringTo(Row.STALER);
        Flight<String> flight = launch();
        entry.land(flight, Outcome.closed(), now);

        assertThat(outcomeOf(flight).isClosed()).isTrue();
        assertThat(get()).isEqualTo("launches and waits");
    }

    @Test
    void landing_fails_tellsThoseWhoWait() {
        Flight<String> flight = launch();
        ApiServerException failure = unavailable();
        fail(flight, failure);

        assertThat(outcomeOf(flight).failure()).isSameAs(failure);
    }

    // a get that did not want to wait

    @Test
    void gaveUp_theNextGetServesWhatIsKnownAndAwaitsNothing() {
        bringTo(Row.STALER);
        Flight<String> slow = launch();
        entry.gaveUpOn(slow);

        assertThat(get()).isEqualTo("serves the known v1");
        land(slow, present("v2"));
        assertThat(get()).isEqualTo("hits v2");
    }

    @Test
    void gaveUp_nothingKnown_theNextGetWaitsAllTheSame() {
        entry.gaveUpOn(launch());

        assertThat(get()).isEqualTo("waits");
    }

    @Test
    void gaveUpOnAFlightThatLanded_changesNothing() {
        bringTo(Row.STALER);
        Flight<String> landed = launch();
        land(landed, new Answer.Absent<>(now));
        entry.gaveUpOn(landed);

        assertThat(get()).isEqualTo("launches and waits");
    }

    // single flight

    @ParameterizedTest
    @CsvSource({"FRESH", "STALER", "ABSENT", "STALER_BEHIND_PAUSED", "ABSENT_BEHIND_PAUSED"})
    void newReference_forgetsAllThatIsKnown(Row row) {
        bringTo(row);
        entry.addReference(OTHER_POD);

        assertThat(entry.state(now, ttl, "TTL")).isEqualTo(new ObjectState(Phase.UNREAD, "", null, null, 2, "TTL"));
        assertThat(get()).isEqualTo("launches and waits");
    }

    @Test
    void newReference_flightUnderWay_isNotAwaitedByThoseWhoCome_norKept() {
        bringTo(Row.STALER);
        Flight<String> detached = launch();
        entry.addReference(OTHER_POD);
        Flight<String> younger = launch();
        land(detached, present("old"));

        assertThat(objectOf(outcomeOf(detached).answer())).isEqualTo("old");
        assertThat(entry.answer()).isNull();
        assertThat(turn().awaited()).isSameAs(younger);
    }

    @Test
    void newReference_afterFailures_pausesAsAfterTheFirstFailure() {
        bringTo(Row.STALER_BEHIND_DUE);
        fail(launch(), unavailable());
        entry.addReference(OTHER_POD);
        land(launch(), new Answer.Absent<>(now));
        fail(launch(), unavailable());
        now += SECOND;

        assertThat(get()).isEqualTo("launches and serves the known absence");
    }

    @Test
    void dropping_flightUnderWay_isNotKept() {
        Flight<String> flight = launch();
        entry.deleteReference(POD);
        land(flight, present("v1"));

        assertThat(entry.answer()).isNull();
        assertThat(objectOf(outcomeOf(flight).answer())).isEqualTo("v1");
        assertThat(told).isEmpty();
    }

    // sharing

    @Test
    void get_anotherOneRefreshedByAFlightThatBeganLater_isServedThatThoughNothingMayAge() {
        ttl = 0;
        long begun = entry.flightsSoFar();
        land(launch(), present("v1"));

        assertThat(get(begun)).isEqualTo("serves v1");
        assertThat(get(entry.flightsSoFar())).isEqualTo("launches and waits");
    }

    @Test
    void get_anotherOneFoundAbsenceByAFlightThatBeganLater_asksAgain() {
        long begun = entry.flightsSoFar();
        land(launch(), new Answer.Absent<>(now));

        assertThat(get(begun)).isEqualTo("launches and waits");
    }

    @Test
    void get_evictedSinceAFlightThatBeganLater_asksAgain() {
        long begun = entry.flightsSoFar();
        land(launch(), present("v1"));
        entry.evict();

        assertThat(get(begun)).isEqualTo("launches and waits");
    }

    @Test
    void flights_areCountedFromOne() {
        assertThat(entry.flightsSoFar()).isZero();
        Flight<String> first = launch();
        assertThat(first.number).isEqualTo(1);
        assertThat(entry.flightsSoFar()).isEqualTo(1);
        fail(first, unavailable());

        assertThat(launch().number).isEqualTo(2);
    }

    // what is told

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void landing_isToldOnlyIfItBroughtAnAnswer(boolean brought) {
        Flight<String> flight = launch();
        if (brought) {
            land(flight, present("v1"));
        } else {
            fail(flight, unavailable());
        }

        assertThat(told).isEqualTo(brought ? List.of("UNREAD to FRESH: fetched") : List.of());
    }

    @Test
    void state_noAnswer() {
        assertThat(entry.state(now, ttl, "TTL")).isEqualTo(new ObjectState(Phase.UNREAD, "", null, null, 1, "TTL"));
    }

    @ParameterizedTest
    @CsvSource({"FRESH, FRESH, v1", "FRESH_AT_LAST, FRESH, v1", "STALE_IN_THE_LEEWAY, STALE, v1", "ABSENT, ABSENT, ''"})
    void state_answered(Row row, Phase phase, String version) {
        bringTo(row);

        assertThat(entry.state(now, ttl, "TTL"))
                .isEqualTo(new ObjectState(phase, version, Duration.ofNanos(now), null, 1, "TTL"));
    }

    /** The stamp of an answer is of the coarse clock, which may have been read later. */
    @Test
    void state_answerOfTheNextTick_hasTheAgeZero() {
        land(launch(), new Answer.Absent<>(7));

        assertThat(entry.state(0, ttl, "").age()).isZero();
    }

    private void bringTo(Row row) {
        switch (row) {
            case NO_ANSWER -> {}
            case FRESH -> answeredFor(0);
            case FRESH_AT_LAST -> answeredFor(TTL - 1);
            case STALE_IN_THE_LEEWAY -> answeredFor(TTL);
            case STALE_BEYOND_THE_LEEWAY -> answeredFor(TTL + MAX_STALENESS / 2);
            case STALE_BEARABLE_AT_LAST -> answeredFor(STALE_FOR_GOOD - 1);
            case STALER -> answeredFor(STALE_FOR_GOOD);
            case ABSENT -> land(launch(), new Answer.Absent<>(0));
            case BEARABLE_BEHIND_PAUSED -> behind(Row.STALE_BEYOND_THE_LEEWAY, 60 * SECOND - 1);
            case BEARABLE_BEHIND_DUE -> behind(Row.STALE_BEYOND_THE_LEEWAY, 60 * SECOND);
            case STALER_BEHIND_PAUSED -> behind(Row.STALER, 60 * SECOND - 1);
            case STALER_BEHIND_DUE -> behind(Row.STALER, 60 * SECOND);
            case ABSENT_BEHIND_PAUSED -> behind(Row.ABSENT, 60 * SECOND - 1);
            case ABSENT_BEHIND_DUE -> behind(Row.ABSENT, 60 * SECOND);
        }
    }

    private void answeredFor(long age) {
        land(launch(), present("v1"));
        now = age;
    }

    /** A refresh failed so long ago; the server asked for a pause of a minute, so its length is no matter of chance. */
    private void behind(Row known, long ago) {
        bringTo(known);
        Duration minute = Duration.ofMinutes(1);
        fail(launch(), new ApiServerException(FailureReason.UNAVAILABLE, 503, minute, "GET was answered 503", null));
        now += ago;
    }

    /** What a get does that begins now, as the store has it done. */
    private String get() {
        return get(entry.flightsSoFar());
    }

    private String get(long begunBefore) {
        String hit = entry.ifFresh(FreshnessClock.freshSince(now, ttl));
        if (hit != null) {
            return "hits " + hit;
        }
        String notDue = entry.ifInLeeway(FreshnessClock.freshSince(now, ttl));
        if (notDue != null) {
            return "serves " + notDue + " without the lock";
        }
        TtlEntry.Turn<String> turn = entry.turn(now, ttl, begunBefore);
        if (turn.dropped()) {
            return "looks again";
        }
        return (turn.launched() == null ? "" : "launches and ") + found(turn);
    }

    private static String found(TtlEntry.Turn<String> turn) {
        if (turn.awaited() != null) {
            return "waits";
        }
        return turn.good() != null ? "serves " + turn.good() : "serves the known " + objectOf(turn.known());
    }

    private TtlEntry.Turn<String> turn() {
        return entry.turn(now, ttl, entry.flightsSoFar());
    }

    /** The flight that a get sets off now. */
    private Flight<String> launch() {
        return Objects.requireNonNull(turn().launched(), "no flight is due");
    }

    private void land(Flight<String> flight, Answer<String> answer) {
        entry.land(flight, Outcome.answered(answer), now);
    }

    private void fail(Flight<String> flight, ApiServerException failure) {
        entry.land(flight, Outcome.failed(failure), now);
    }

    private Answer<String> present(String object) {
        return new Answer.Present<>(now, object, object, object.length(), false);
    }

    private static Outcome<String> outcomeOf(Flight<String> flight) {
        assertThat(flight.landed).isDone();
        return flight.landed.join();
    }

    private static String objectOf(@Nullable Answer<String> answer) {
        return answer instanceof Answer.Present<String> present ? present.object : "absence";
    }

    private static ApiServerException unavailable() {
        return new ApiServerException(FailureReason.UNAVAILABLE, 503, null, "GET was answered 503", null);
    }

    private TtlEntry<String> entry(long maxStaleness) {
        ManualTimekeeper timekeeper = new ManualTimekeeper();
        StoreOptions options = new StoreOptions(
                timekeeper, Duration.ofSeconds(10), PayloadBudget.unlimited(timekeeper), new PodcacheMetrics() {
                    @Override
                    public void changed(ObjectKind<?> kind, ObjectKey key, Phase from, Phase to, String cause) {
                        told.add(from + " to " + to + ": " + cause);
                    }
                });
        TtlEntry<String> made = new TtlEntry<>(DB, new Transitions<>(ObjectKind.SECRET, options), maxStaleness);
        made.addReference(POD);
        return made;
    }
}
