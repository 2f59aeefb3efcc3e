package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.HeldRequests;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectState;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Strategy CACHE, situation by situation, with a TTL of 60 s and a background refresh for 40 s. Each refresh time is
 * drawn from the first half of these; so at the TTL none has come, and 20 s later each has.
 */
@ExtendWith(NoLeaks.class)
class TtlRowTest {

    private static final Duration TTL = Duration.ofSeconds(60);
    private static final Duration MAX_STALENESS = Duration.ofSeconds(40);
    private static final Duration SURELY_DUE = TTL.plus(MAX_STALENESS.dividedBy(2));
    private static final Duration TOO_OLD = TTL.plus(MAX_STALENESS);
    private static final Duration NANO = Duration.ofNanos(1);
    private static final Duration REFRESH_WAIT = Duration.ofSeconds(1);

    /** The server asks for it, so its length is not drawn. */
    private static final Duration PAUSE = Duration.ofSeconds(15);

    private final BegunGet.StaleGets staleGets = new BegunGet.StaleGets();
    private final TtlFixture f = TtlFixture.refreshingBehind(MAX_STALENESS, staleGets);

    /** What is known of the object, and for how long. */
    private enum TtlRow {
        NO_ANSWER,
        NO_ANSWER_PAUSED,
        FRESH,
        FRESH_AT_LAST,
        STALE_NOT_DUE,
        STALE_DUE,
        STALE_AT_LAST,
        TOO_OLD,
        ABSENT,
        // the last refresh has failed; the pause after it is not over yet, or just over
        STALE_PAUSED,
        STALE_PAUSE_OVER,
        TOO_OLD_PAUSED,
        TOO_OLD_PAUSE_OVER,
        ABSENT_PAUSED,
        ABSENT_PAUSE_OVER;

        boolean isAbsent() {
            return this == ABSENT || this == ABSENT_PAUSED || this == ABSENT_PAUSE_OVER;
        }

        boolean isKnown() {
            return this != NO_ANSWER && this != NO_ANSWER_PAUSED;
        }
    }

    @AfterEach
    void close() {
        f.close();
    }

    // a get

    @ParameterizedTest
    @CsvSource({
        "NO_ANSWER,          UNREAD, 1, waits,           waits",
        "NO_ANSWER_PAUSED,   UNREAD, 0, FetchFailed,     FetchFailed",
        "FRESH,              FRESH,  0, v1,              v1",
        "FRESH_AT_LAST,      FRESH,  0, v1,              v1",
        "STALE_NOT_DUE,      STALE,  0, v1,              v1",
        "STALE_DUE,          STALE,  1, v1,              v1",
        "STALE_AT_LAST,      STALE,  1, v1,              v1",
        "TOO_OLD,            STALE,  1, waits,           v1 stale",
        "ABSENT,             ABSENT, 1, waits,           NotFound unsure",
        "STALE_PAUSED,       STALE,  0, v1,              v1",
        "STALE_PAUSE_OVER,   STALE,  1, v1,              v1",
        "TOO_OLD_PAUSED,     STALE,  0, v1 stale,        v1 stale",
        "TOO_OLD_PAUSE_OVER, STALE,  1, v1 stale,        v1 stale",
        "ABSENT_PAUSED,      ABSENT, 0, NotFound unsure, NotFound unsure",
        "ABSENT_PAUSE_OVER,  ABSENT, 1, NotFound unsure, NotFound unsure"
    })
    void get(TtlRow row, CacheState shown, int requests, String outcome, String outcomeAfterTheWait) {
        bringTo(row);
        assertThat(f.store.state(DB).cacheState()).isEqualTo(shown);
        HeldRequests held = f.server.hold(DB);
        int before = f.server.gets(DB);
        BegunGet get = begunGet();

        assertThat(f.server.gets(DB)).as("requests").isEqualTo(before + requests);
        assertThat(get.outcome()).isEqualTo(outcome);
        f.timekeeper.advance(REFRESH_WAIT);
        assertThat(get.outcome()).isEqualTo(outcomeAfterTheWait);
        held.release();
    }

    @ParameterizedTest
    @CsvSource({
        "NO_ANSWER,          waits",
        "STALE_DUE,          v1",
        "TOO_OLD,            waits",
        "ABSENT,             waits",
        "TOO_OLD_PAUSE_OVER, v1 stale",
        "ABSENT_PAUSE_OVER,  NotFound unsure"
    })
    void get_whileAFetchIsUnderWay_startsNoOther(TtlRow row, String outcome) {
        bringTo(row);
        HeldRequests held = f.server.hold(DB);
        begunGet();
        int before = f.server.gets(DB);

        assertThat(get()).isEqualTo(outcome);
        assertThat(f.server.gets(DB)).isEqualTo(before);
        held.release();
    }

    @Test
    void get_ttlOfANanosecond_isRefreshedBehind() {
        f.seen("v1");
        f.ttl.set(NANO);
        f.timekeeper.advance(MAX_STALENESS.dividedBy(2).plus(TtlFixture.TICK));
        HeldRequests held = f.server.hold(DB);

        assertThat(get()).isEqualTo("v1");
        f.requireGets(2);
        held.release();
    }

    /** Half of them within a quarter of the maximum staleness; all has a chance of one in 2^100. */
    @Test
    void refresh_isDrawnAnewForEachAnswer() {
        f.seen("v1");
        int early = 0;
        for (int i = 0; i < 100; i++) {
            int before = f.server.gets(DB);
            f.timekeeper.advance(TTL.plus(MAX_STALENESS.dividedBy(4)));
            f.get();
            early += f.server.gets(DB) - before;
            if (f.server.gets(DB) == before) {
                f.timekeeper.advance(MAX_STALENESS.dividedBy(4));
                f.get();
                assertThat(f.server.gets(DB)).as("due at half at the latest").isEqualTo(before + 1);
            }
        }

        assertThat(early).isBetween(1, 99);
    }

    // a fetch succeeds

    @ParameterizedTest
    @EnumSource(names = {"NO_ANSWER", "STALE_DUE", "TOO_OLD", "ABSENT", "TOO_OLD_PAUSE_OVER", "ABSENT_PAUSE_OVER"})
    void fetch_succeeds_keepsTheAnswer_andLaterGetsWaitAgain(TtlRow row) {
        bringTo(row);
        write(row);
        get();

        assertThat(get()).isEqualTo("v2");
        assertThat(f.store.state(DB).lastFailure()).isNull();
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
        f.timekeeper.advance(TOO_OLD);
        HeldRequests held = f.server.hold(DB);
        assertThat(get()).isEqualTo("waits");
        held.release();
    }

    @ParameterizedTest
    @EnumSource(names = {"NO_ANSWER", "STALE_DUE", "TOO_OLD", "ABSENT", "TOO_OLD_PAUSE_OVER", "ABSENT_PAUSE_OVER"})
    void fetch_findsNothing_keepsTheAbsence(TtlRow row) {
        bringTo(row);
        if (!row.isAbsent()) {
            f.delete(DB);
        }
        get();

        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.ABSENT);
        int before = f.server.gets(DB);
        assertThat(get()).isEqualTo("NotFound");
        assertThat(f.server.gets(DB)).isEqualTo(before + 1);
    }

    // a fetch fails

    @ParameterizedTest
    @CsvSource({
        "NO_ANSWER,          1, v1",
        "STALE_DUE,          0, v1",
        "TOO_OLD,            0, v1 stale",
        "ABSENT,             0, NotFound unsure",
        "TOO_OLD_PAUSE_OVER, 0, v1 stale",
        "ABSENT_PAUSE_OVER,  0, NotFound unsure"
    })
    void fetch_fails_theNextGet(TtlRow row, int requests, String outcome) {
        bringTo(row);
        f.failNext(1, FailureReason.REJECTED, 400, null);
        get();
        assertThat(f.store.state(DB).lastFailure()).hasMessageContaining("400");
        int before = f.server.gets(DB);

        assertThat(get()).isEqualTo(outcome);
        assertThat(f.server.gets(DB)).isEqualTo(before + requests);
    }

    @Test
    void fetch_failsOnceMore_pausesLonger() {
        bringTo(TtlRow.TOO_OLD);
        f.failNext(100, FailureReason.UNAVAILABLE, 503, null);
        int requests = f.server.gets(DB);
        for (int seconds : new int[] {1, 2, 4, 8, 16, 30, 30}) {
            f.get();
            requests++;
            f.requireGets(requests);
            Duration pause = Duration.ofSeconds(seconds);
            f.timekeeper.advance(pause.dividedBy(2).minus(NANO));
            f.get();
            f.requireGets(requests);
            f.timekeeper.advance(pause.dividedBy(2).plus(NANO));
        }
    }

    @Test
    void fetch_failsAfterASuccess_pausesAsAfterTheFirstFailure() {
        bringTo(TtlRow.TOO_OLD);
        failTwice();
        write(TtlRow.TOO_OLD);
        get();
        assertThat(get()).isEqualTo("v2");
        f.timekeeper.advance(TOO_OLD);
        requireAPauseOfASecond();
    }

    @Test
    void fetch_failsAfterANewReference_pausesAsAfterTheFirstFailure() {
        bringTo(TtlRow.ABSENT);
        failTwice();
        f.store.addReference(DB, OTHER_POD);
        assertThat(get()).isEqualTo("NotFound");
        requireAPauseOfASecond();
    }

    private void failTwice() {
        f.failNext(2, FailureReason.UNAVAILABLE, 503, null);
        get();
        f.timekeeper.advance(Duration.ofSeconds(1));
        get();
        f.timekeeper.advance(Duration.ofSeconds(2));
    }

    private void requireAPauseOfASecond() {
        f.failNext(1, FailureReason.UNAVAILABLE, 503, null);
        get();
        int before = f.server.gets(DB);
        f.timekeeper.advance(Duration.ofSeconds(1));
        get();
        assertThat(f.server.gets(DB)).isEqualTo(before + 1);
    }

    // a fetch is too slow

    @Test
    void gaveUp_nothingKnown_theNextGetWaitsForTheSameFetch() {
        bringTo(TtlRow.NO_ANSWER);
        HeldRequests held = f.server.hold(DB);
        BegunGet slow = begunGet();
        f.timekeeper.advance(StoreOptions.DEFAULT_READ_TIMEOUT.minus(NANO));
        assertThat(slow.outcome()).isEqualTo("waits");
        BegunGet next = begunGet();
        f.timekeeper.advance(NANO);

        assertThat(slow.outcome()).isEqualTo("FetchFailed");
        assertThat(next.outcome()).isEqualTo("waits");
        assertThat(get()).isEqualTo("waits");
        held.release();
        assertThat(next.outcome()).isEqualTo("v1");
    }

    @Test
    void gaveUp_knownToBeAbsent_saysThatTheRequestContinues() {
        bringTo(TtlRow.ABSENT);
        HeldRequests held = f.server.hold(DB);
        CompletableFuture<Secret> slow = f.store.getAsync(DB.namespace(), DB.name());
        f.timekeeper.advance(REFRESH_WAIT);

        assertThat(slow)
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .withCauseInstanceOf(NotFound.class)
                .havingCause()
                .havingCause()
                .withMessageContaining("GET Secret default/db")
                .withMessageContaining("the request continues");
        held.release();
    }

    @Test
    void gaveUp_theEndOfTheFetch_isNotServedToItOnceMore() {
        bringTo(TtlRow.TOO_OLD);
        HeldRequests held = f.server.hold(DB);
        BegunGet slow = begunGet();
        f.timekeeper.advance(REFRESH_WAIT);
        assertThat(slow.outcome()).isEqualTo("v1 stale");
        int served = staleGets.count();
        f.timekeeper.advance(StoreOptions.DEFAULT_READ_TIMEOUT);

        assertThat(f.store.state(DB).lastFailure()).hasMessageContaining("no answer within");
        assertThat(staleGets.count()).isEqualTo(served);
        held.release();
    }

    @Test
    void gaveUpOnAFetchThatANewReferenceDetached_laterGetsWaitAllTheSame() {
        bringTo(TtlRow.TOO_OLD);
        HeldRequests held = f.server.holdNext(DB);
        BegunGet slow = begunGet();
        f.store.addReference(DB, OTHER_POD);
        assertThat(get()).isEqualTo("v1");
        f.timekeeper.advance(REFRESH_WAIT);
        assertThat(slow.outcome()).isEqualTo("v1 stale");
        held.release();

        f.timekeeper.advance(TOO_OLD);
        HeldRequests next = f.server.hold(DB);
        assertThat(get()).isEqualTo("waits");
        next.release();
    }

    // a new reference

    @ParameterizedTest
    @EnumSource(
            names = {
                "FRESH",
                "STALE_NOT_DUE",
                "TOO_OLD",
                "ABSENT",
                "TOO_OLD_PAUSED",
                "ABSENT_PAUSED",
                "NO_ANSWER_PAUSED"
            })
    void newReference_forgetsAllThatIsKnown(TtlRow row) {
        bringTo(row);
        f.store.addReference(DB, OTHER_POD);

        assertThat(f.store.state(DB))
                .isEqualTo(new ObjectState(
                        CacheState.UNREAD, "", null, null, 2, f.store.state(DB).freshness()));
        HeldRequests held = f.server.hold(DB);
        int before = f.server.gets(DB);
        assertThat(get()).isEqualTo("waits");
        assertThat(f.server.gets(DB)).isEqualTo(before + 1);
        held.release();
    }

    // sharing

    /** The last of them looks when the second fetch is over, whose object is newer than its own beginning. */
    @Test
    void ttlZero_getsThatBeganDuringAFetch_shareTheNextOneEvenIfItIsOver() {
        f.ttl.set(Duration.ZERO);
        bringTo(TtlRow.NO_ANSWER);
        HeldRequests held = f.server.holdNext(DB);
        BegunGet first = begunGet();
        List<BegunGet> later = List.of(begunGet(), begunGet(), begunGet());
        write(TtlRow.NO_ANSWER);
        held.release();

        assertThat(first.outcome()).isEqualTo("v1");
        assertThat(later).extracting(BegunGet::outcome).containsOnly("v2");
        f.requireGets(2);
        assertThat(get()).isEqualTo("v2");
        f.requireGets(3);
    }

    private void bringTo(TtlRow row) {
        if (!row.isAbsent()) {
            f.create(DB, "v1");
        }
        f.store.addReference(DB, POD);
        if (row.isKnown()) {
            get();
        }
        switch (row) {
            case NO_ANSWER, FRESH, ABSENT -> {}
            case NO_ANSWER_PAUSED -> {
                failedRefresh();
                f.timekeeper.advance(PAUSE.minus(NANO));
            }
            case FRESH_AT_LAST -> f.timekeeper.advance(TTL.minus(NANO));
            case STALE_NOT_DUE -> f.timekeeper.advance(TTL);
            case STALE_DUE -> f.timekeeper.advance(SURELY_DUE);
            case STALE_AT_LAST -> f.timekeeper.advance(TOO_OLD.minus(NANO));
            case TOO_OLD -> f.timekeeper.advance(TOO_OLD);
            case STALE_PAUSED -> paused(SURELY_DUE, PAUSE.minus(NANO));
            case STALE_PAUSE_OVER -> paused(SURELY_DUE, PAUSE);
            case TOO_OLD_PAUSED -> paused(TOO_OLD, PAUSE.minus(NANO));
            case TOO_OLD_PAUSE_OVER -> paused(TOO_OLD, PAUSE);
            case ABSENT_PAUSED -> paused(Duration.ZERO, PAUSE.minus(NANO));
            case ABSENT_PAUSE_OVER -> paused(Duration.ZERO, PAUSE);
        }
    }

    private void paused(Duration age, Duration since) {
        f.timekeeper.advance(age);
        failedRefresh();
        f.timekeeper.advance(since);
    }

    private void failedRefresh() {
        f.failNext(1, FailureReason.THROTTLED, 429, PAUSE);
        get();
    }

    private void write(TtlRow row) {
        if (row.isAbsent()) {
            f.create(DB, "v2");
        } else {
            f.update(DB, "v2");
        }
    }

    private BegunGet begunGet() {
        return new BegunGet(f.store, DB, staleGets);
    }

    private String get() {
        return begunGet().outcome();
    }
}
