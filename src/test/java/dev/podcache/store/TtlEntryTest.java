package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
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

    private final List<String> reported = new ArrayList<>();
    private TtlEntry<String> entry = entry(MAX_STALENESS);
    private long now;
    private long ttl = TTL;

    /** The rows, and within a row the moments at its edges. */
    private enum TtlRow {
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
        "NO_ANSWER,               starts and waits",
        "FRESH,                   hits v1",
        "FRESH_AT_LAST,           hits v1",
        "STALE_IN_THE_LEEWAY,     serves v1 without the lock",
        "STALE_BEYOND_THE_LEEWAY, starts and serves v1",
        "STALE_BEARABLE_AT_LAST,  starts and serves v1",
        "STALER,                  starts and waits",
        "ABSENT,                  starts and waits",
        "BEARABLE_BEHIND_PAUSED,  serves v1",
        "BEARABLE_BEHIND_DUE,     starts and serves v1",
        "STALER_BEHIND_PAUSED,    serves the known v1",
        "STALER_BEHIND_DUE,       starts and serves the known v1",
        "ABSENT_BEHIND_PAUSED,    serves the known absence",
        "ABSENT_BEHIND_DUE,       starts and serves the known absence"
    })
    void get(TtlRow row, String outcome) {
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
    void get_fetchUnderWay_startsNoOther(TtlRow row, String outcome) {
        bringTo(row);
        Fetch<String> fetch = start();

        assertThat(get()).isEqualTo(outcome);
        Fetch<String> awaited = lookup().awaited();
        assertThat(awaited == null || awaited == fetch).isTrue();
    }

    @Test
    void get_waits_getsWhatIsKnown() {
        bringTo(TtlRow.STALER);
        TtlEntry.TtlLookup<String> lookup = lookup();

        assertThat(lookup.known()).isSameAs(entry.answer());
        assertThat(lookup.started())
                .isNotNull()
                .satisfies(fetch -> assertThat(fetch.known).isSameAs(entry.answer()));
        assertThat(lookup.lastFailure()).isNull();
    }

    @Test
    void get_behind_getsTheLastFailure() {
        bringTo(TtlRow.STALER);
        fail(start(), unavailable());

        assertThat(lookup().lastFailure())
                .isEqualTo(entry.state(now, ttl, "").lastFailure())
                .isNotNull();
    }

    @Test
    void get_dropped_looksAgain() {
        bringTo(TtlRow.FRESH);
        entry.deleteReference(POD);

        assertThat(get()).isEqualTo("looks again");
    }

    @Test
    void get_ttlZero_nothingIsFreshNorBearable() {
        bringTo(TtlRow.FRESH);
        ttl = 0;
        now = 0;

        assertThat(get()).isEqualTo("starts and waits");
    }

    @Test
    void get_ttlOfANanosecond_hasALeeway() {
        bringTo(TtlRow.FRESH);
        ttl = 1;
        now = 1;

        assertThat(get()).isEqualTo("serves v1 without the lock");
    }

    @Test
    void get_withoutBackgroundRefresh_nothingStaleIsBearable() {
        entry = entry(0);
        bringTo(TtlRow.STALE_IN_THE_LEEWAY);

        assertThat(get()).isEqualTo("starts and waits");
    }

    @Test
    void get_immutableAndOld_hits() {
        end(start(), new Answer.Present<>(0, "v1", "1", 2, true));
        now = STALE_FOR_GOOD;

        assertThat(get()).isEqualTo("hits v1");
    }

    @Test
    void get_immutableThenForgotten_doesNotHit() {
        end(start(), new Answer.Present<>(0, "v1", "1", 2, true));
        entry.evict();

        assertThat(get()).isEqualTo("starts and waits");
    }

    @Test
    void get_immutableThenReplacedByWhatIsNot_hitsNoLongerThanTheTtl() {
        end(start(), new Answer.Present<>(0, "v1", "1", 2, true));
        entry.addReference(OTHER_POD);
        end(start(), present("v2"));
        now = TTL;

        assertThat(get()).isEqualTo("serves v2 without the lock");
    }

    @Test
    void get_looksFreshButWasForgotten_doesNotHit() {
        bringTo(TtlRow.FRESH);
        entry.addReference(OTHER_POD);

        assertThat(get()).isEqualTo("starts and waits");
    }

    @Test
    void ifFresh_stale_leavesATraceAllTheSame() {
        bringTo(TtlRow.STALER);
        entry.touched = false;
        entry.ifFresh(FreshnessClock.freshSince(now, ttl));

        assertThat(entry.touched).isTrue();
    }

    // the column: a fetch that succeeds

    @ParameterizedTest
    @CsvSource({"NO_ANSWER", "STALE_BEYOND_THE_LEEWAY", "STALER", "ABSENT", "STALER_BEHIND_DUE", "ABSENT_BEHIND_DUE"})
    void fetch_succeeds_keepsTheAnswerAndRefreshesNoLongerBehind(TtlRow row) {
        bringTo(row);
        end(start(), present("v2"));

        assertThat(get()).isEqualTo("hits v2");
        now += STALE_FOR_GOOD;
        assertThat(get()).isEqualTo("starts and waits");
        assertThat(entry.state(now, ttl, "").lastFailure()).isNull();
    }

    @ParameterizedTest
    @CsvSource({"NO_ANSWER", "STALE_BEYOND_THE_LEEWAY", "STALER", "ABSENT", "STALER_BEHIND_DUE", "ABSENT_BEHIND_DUE"})
    void fetch_findsNothing_keepsTheAbsence(TtlRow row) {
        bringTo(row);
        end(start(), new Answer.Absent<>(now));

        assertThat(entry.answer()).isInstanceOf(Answer.Absent.class);
        assertThat(get()).isEqualTo("starts and waits");
    }

    @Test
    void fetch_sameVersion_keepsTheSharedInstance() {
        bringTo(TtlRow.STALER);
        String shared = objectOf(entry.answer());
        Fetch<String> fetch = start();
        end(fetch, new Answer.Present<>(now, new String("v1"), "v1", 2, false));

        assertThat(entry.ifFresh(FreshnessClock.freshSince(now, ttl))).isSameAs(shared);
        assertThat(outcomeOf(fetch).answer()).isSameAs(entry.answer());
    }

    @Test
    void fetch_eachDrawsALeewayOfItsOwn_upToHalfOfTheMaximum() {
        int longOnes = 0;
        for (int i = 0; i < 100; i++) {
            end(start(), new Answer.Present<>(0, "v" + i, "v" + i, 2, false));
            assertThat(entry.ifInLeeway(MAX_STALENESS / 2)).isNull();
            longOnes += entry.ifInLeeway(MAX_STALENESS / 4) == null ? 0 : 1;
            ttl = 0;
        }

        // either end has a chance of one in 2^100
        assertThat(longOnes).isBetween(1, 99);
    }

    // the column: a fetch that fails

    @ParameterizedTest
    @CsvSource({
        "NO_ANSWER,               starts and waits",
        "STALE_BEYOND_THE_LEEWAY, serves v1",
        "STALER,                  serves the known v1",
        "ABSENT,                  serves the known absence",
        "STALER_BEHIND_DUE,       serves the known v1",
        "ABSENT_BEHIND_DUE,       serves the known absence"
    })
    void fetch_fails_theNextGet(TtlRow row, String outcome) {
        bringTo(row);
        fail(start(), unavailable());

        assertThat(get()).isEqualTo(outcome);
    }

    @Test
    void fetch_failsOnceMore_pausesLonger() {
        bringTo(TtlRow.STALER);
        for (long pause : new long[] {1, 2, 4, 8, 16, 30, 30}) {
            fail(start(), unavailable());
            long failedAt = now;
            now = failedAt + pause * SECOND / 2 - 1;
            assertThat(get())
                    .as("before a pause of at least half of %s s", pause)
                    .isEqualTo("serves the known v1");
            now = failedAt + pause * SECOND;
        }
    }

    @Test
    void fetch_failsAfterASuccess_pausesAsAfterTheFirstFailure() {
        bringTo(TtlRow.STALER);
        for (int i = 0; i < 3; i++) {
            fail(start(), unavailable());
            now += 30 * SECOND;
        }
        end(start(), present("v2"));
        now += STALE_FOR_GOOD;
        fail(start(), unavailable());
        now += SECOND;

        assertThat(get()).isEqualTo("starts and serves the known v2");
    }

    @Test
    void fetch_ofAClosedStore_isNoFailure() {
        bringTo(TtlRow.STALER);
        Fetch<String> fetch = start();
        entry.end(fetch, Fetch.FetchOutcome.closed(), now);

        assertThat(outcomeOf(fetch).isClosed()).isTrue();
        assertThat(get()).isEqualTo("starts and waits");
    }

    @Test
    void fetch_fails_wakesTheGetsThatWait() {
        Fetch<String> fetch = start();
        ApiServerException failure = unavailable();
        fail(fetch, failure);

        assertThat(outcomeOf(fetch).failure()).isSameAs(failure);
    }

    // a get that did not want to wait

    @Test
    void gaveUp_theNextGetServesWhatIsKnownAndAwaitsNothing() {
        bringTo(TtlRow.STALER);
        Fetch<String> slow = start();
        entry.markSlow(slow);

        assertThat(get()).isEqualTo("serves the known v1");
        end(slow, present("v2"));
        assertThat(get()).isEqualTo("hits v2");
    }

    @Test
    void gaveUp_nothingKnown_theNextGetWaitsAllTheSame() {
        entry.markSlow(start());

        assertThat(get()).isEqualTo("waits");
    }

    @Test
    void gaveUpOnAFetchThatEnded_changesNothing() {
        bringTo(TtlRow.STALER);
        Fetch<String> landed = start();
        end(landed, new Answer.Absent<>(now));
        entry.markSlow(landed);

        assertThat(get()).isEqualTo("starts and waits");
    }

    // single flight

    @ParameterizedTest
    @CsvSource({"FRESH", "STALER", "ABSENT", "STALER_BEHIND_PAUSED", "ABSENT_BEHIND_PAUSED"})
    void newReference_forgetsAllThatIsKnown(TtlRow row) {
        bringTo(row);
        entry.addReference(OTHER_POD);

        assertThat(entry.state(now, ttl, "TTL"))
                .isEqualTo(new ObjectState(CacheState.UNREAD, "", null, null, 2, "TTL"));
        assertThat(get()).isEqualTo("starts and waits");
    }

    @Test
    void newReference_fetchUnderWay_isNotAwaitedByThoseWhoCome_norKept() {
        bringTo(TtlRow.STALER);
        Fetch<String> detached = start();
        entry.addReference(OTHER_POD);
        Fetch<String> younger = start();
        end(detached, present("old"));

        assertThat(objectOf(outcomeOf(detached).answer())).isEqualTo("old");
        assertThat(entry.answer()).isNull();
        assertThat(lookup().awaited()).isSameAs(younger);
    }

    @Test
    void newReference_afterFailures_pausesAsAfterTheFirstFailure() {
        bringTo(TtlRow.STALER_BEHIND_DUE);
        fail(start(), unavailable());
        entry.addReference(OTHER_POD);
        end(start(), new Answer.Absent<>(now));
        fail(start(), unavailable());
        now += SECOND;

        assertThat(get()).isEqualTo("starts and serves the known absence");
    }

    @Test
    void dropping_fetchUnderWay_isNotKept() {
        Fetch<String> fetch = start();
        entry.deleteReference(POD);
        end(fetch, present("v1"));

        assertThat(entry.answer()).isNull();
        assertThat(objectOf(outcomeOf(fetch).answer())).isEqualTo("v1");
        assertThat(reported).isEmpty();
    }

    // sharing

    @Test
    void get_anotherOneRefreshedByAFetchThatBeganLater_isServedThatThoughNothingMayAge() {
        ttl = 0;
        long begun = entry.fetchesBegun();
        end(start(), present("v1"));

        assertThat(get(begun)).isEqualTo("serves v1");
        assertThat(get(entry.fetchesBegun())).isEqualTo("starts and waits");
    }

    @Test
    void get_anotherOneFoundAbsenceByAFetchThatBeganLater_asksAgain() {
        long begun = entry.fetchesBegun();
        end(start(), new Answer.Absent<>(now));

        assertThat(get(begun)).isEqualTo("starts and waits");
    }

    @Test
    void get_evictedSinceAFetchThatBeganLater_asksAgain() {
        long begun = entry.fetchesBegun();
        end(start(), present("v1"));
        entry.evict();

        assertThat(get(begun)).isEqualTo("starts and waits");
    }

    @Test
    void fetches_areCountedFromOne() {
        assertThat(entry.fetchesBegun()).isZero();
        Fetch<String> first = start();
        assertThat(first.number).isEqualTo(1);
        assertThat(entry.fetchesBegun()).isEqualTo(1);
        fail(first, unavailable());

        assertThat(start().number).isEqualTo(2);
    }

    // reports

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void fetch_isReportedOnlyIfItBroughtAnAnswer(boolean brought) {
        Fetch<String> fetch = start();
        if (brought) {
            end(fetch, present("v1"));
        } else {
            fail(fetch, unavailable());
        }

        assertThat(reported).isEqualTo(brought ? List.of("UNREAD to FRESH") : List.of());
    }

    @Test
    void state_noAnswer() {
        assertThat(entry.state(now, ttl, "TTL"))
                .isEqualTo(new ObjectState(CacheState.UNREAD, "", null, null, 1, "TTL"));
    }

    @ParameterizedTest
    @CsvSource({"FRESH, FRESH, v1", "FRESH_AT_LAST, FRESH, v1", "STALE_IN_THE_LEEWAY, STALE, v1", "ABSENT, ABSENT, ''"})
    void state_answered(TtlRow row, CacheState cacheState, String version) {
        bringTo(row);

        assertThat(entry.state(now, ttl, "TTL"))
                .isEqualTo(new ObjectState(cacheState, version, Duration.ofNanos(now), null, 1, "TTL"));
    }

    /** The stamp of an answer is of the coarse clock, which may have been read later. */
    @Test
    void state_answerOfTheNextTick_hasTheAgeZero() {
        end(start(), new Answer.Absent<>(7));

        assertThat(entry.state(0, ttl, "").age()).isZero();
    }

    private void bringTo(TtlRow row) {
        switch (row) {
            case NO_ANSWER -> {}
            case FRESH -> answeredFor(0);
            case FRESH_AT_LAST -> answeredFor(TTL - 1);
            case STALE_IN_THE_LEEWAY -> answeredFor(TTL);
            case STALE_BEYOND_THE_LEEWAY -> answeredFor(TTL + MAX_STALENESS / 2);
            case STALE_BEARABLE_AT_LAST -> answeredFor(STALE_FOR_GOOD - 1);
            case STALER -> answeredFor(STALE_FOR_GOOD);
            case ABSENT -> end(start(), new Answer.Absent<>(0));
            case BEARABLE_BEHIND_PAUSED -> behind(TtlRow.STALE_BEYOND_THE_LEEWAY, 60 * SECOND - 1);
            case BEARABLE_BEHIND_DUE -> behind(TtlRow.STALE_BEYOND_THE_LEEWAY, 60 * SECOND);
            case STALER_BEHIND_PAUSED -> behind(TtlRow.STALER, 60 * SECOND - 1);
            case STALER_BEHIND_DUE -> behind(TtlRow.STALER, 60 * SECOND);
            case ABSENT_BEHIND_PAUSED -> behind(TtlRow.ABSENT, 60 * SECOND - 1);
            case ABSENT_BEHIND_DUE -> behind(TtlRow.ABSENT, 60 * SECOND);
        }
    }

    private void answeredFor(long age) {
        end(start(), present("v1"));
        now = age;
    }

    /** A refresh failed so long ago; the server asked for a pause of a minute, so its length is no matter of chance. */
    private void behind(TtlRow known, long ago) {
        bringTo(known);
        Duration minute = Duration.ofMinutes(1);
        fail(start(), new ApiServerException(FailureReason.UNAVAILABLE, 503, minute, "GET was answered 503", null));
        now += ago;
    }

    /** What a get does that begins now, as the store has it done. */
    private String get() {
        return get(entry.fetchesBegun());
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
        TtlEntry.TtlLookup<String> lookup = entry.lookup(now, ttl, begunBefore);
        if (lookup.dropped()) {
            return "looks again";
        }
        return (lookup.started() == null ? "" : "starts and ") + found(lookup);
    }

    private static String found(TtlEntry.TtlLookup<String> lookup) {
        if (lookup.awaited() != null) {
            return "waits";
        }
        return lookup.usable() != null ? "serves " + lookup.usable() : "serves the known " + objectOf(lookup.known());
    }

    private TtlEntry.TtlLookup<String> lookup() {
        return entry.lookup(now, ttl, entry.fetchesBegun());
    }

    /** The fetch that a get sets off now. */
    private Fetch<String> start() {
        return Objects.requireNonNull(lookup().started(), "no fetch is due");
    }

    private void end(Fetch<String> fetch, Answer<String> answer) {
        entry.end(fetch, Fetch.FetchOutcome.answered(answer), now);
    }

    private void fail(Fetch<String> fetch, ApiServerException failure) {
        entry.end(fetch, Fetch.FetchOutcome.failed(failure), now);
    }

    private Answer<String> present(String object) {
        return new Answer.Present<>(now, object, object, object.length(), false);
    }

    private static Fetch.FetchOutcome<String> outcomeOf(Fetch<String> fetch) {
        assertThat(fetch.outcome).isDone();
        return fetch.outcome.join();
    }

    private static String objectOf(@Nullable Answer<String> answer) {
        return answer instanceof Answer.Present<String> present ? present.object : "absence";
    }

    private static ApiServerException unavailable() {
        return new ApiServerException(FailureReason.UNAVAILABLE, 503, null, "GET was answered 503", null);
    }

    private TtlEntry<String> entry(long maxStaleness) {
        ManualTimekeeper timekeeper = new ManualTimekeeper();
        Transitions<String> transitions = new Transitions<>(StoreOptions.defaults(timekeeper));
        TtlEntry<String> made = new TtlEntry<>(DB, transitions, maxStaleness);
        transitions.observe(new AnswerLog<>(made, reported::add));
        made.addReference(POD);
        return made;
    }
}
