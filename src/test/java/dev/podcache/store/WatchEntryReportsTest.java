package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.Secrets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What an entry of strategy WATCH reports, in each row of the table in {@link WatchEntry}. */
class WatchEntryReportsTest extends WatchEntryFixture {

    // waiting gets

    @ParameterizedTest
    @CsvSource({
        "OPENING,          false, false",
        "OPENING_LISTED,   false, true",
        "RENEWING,         false, false",
        "RENEWING_LISTED,  false, true",
        "REOPENING,        true,  false",
        "REOPENING_LISTED, true,  true"
    })
    void waiting_isOverAtAChangeOfState(WatchRow row, boolean byAFailure, boolean byAcceptance) {
        bringTo(row);
        CompletableFuture<?> change = Objects.requireNonNull(entry.lookup().change());
        assertThat(entry.lookup().change()).isSameAs(change);

        if (byAcceptance) {
            assertThat(change).isNotDone();
            accept(row);
            assertThat(change).isCompleted();
        } else {
            fail(row, failure(FailureReason.UNAVAILABLE, 503));
            assertThat(change.isDone()).isEqualTo(byAFailure);
        }
    }

    @Test
    void waiting_lastReferenceGone_isOver() {
        bringTo(WatchRow.OPENING);
        CompletableFuture<?> change = Objects.requireNonNull(entry.lookup().change());
        entry.deleteReference(POD);

        assertThat(change).isCompleted();
        assertThat(entry.lookup().change()).isNotSameAs(change);
    }

    @Test
    void waiting_isWokenWithoutALock() {
        bringTo(WatchRow.OPENING_LISTED);
        List<Boolean> locked = new ArrayList<>();
        Objects.requireNonNull(entry.lookup().change()).thenRun(() -> locked.add(Thread.holdsLock(entry)));
        store.observe(key -> locked.add(Thread.holdsLock(entry)));
        accept(WatchRow.OPENING_LISTED);

        assertThat(locked).containsExactly(false, false);
    }

    // reports

    @Test
    void reported_fromTheFirstListToTheEnd() {
        bringTo(WatchRow.OPENING);
        time.advance(MILLI);
        hear(WatchRow.OPENING, "v1", "10");
        time.advance(MILLI);
        accept(WatchRow.OPENING_LISTED);
        hear(WatchRow.LIVE, "v2");
        fail(WatchRow.LIVE, failure(FailureReason.UNAVAILABLE, 0));
        time.advance(SURELY_REPEATED);
        accept(WatchRow.BROKEN);
        leaveUnread();
        entry.lookup();
        time.advance(MILLI);
        hear(WatchRow.REOPENING, Secrets.immutable(DB, "v3"), "12");
        entry.deleteReference(POD);

        assertThat(reported)
                .containsExactly(
                        "Secret default/db synced after 2 ms",
                        "Secret default/db failed: UNAVAILABLE",
                        "Secret default/db synced after 200 ms",
                        "Secret default/db synced after 1 ms");
        assertThat(store.changes()).isEqualTo(new ChangeCounts(3, 0));
    }

    @Test
    void reported_failureWhileReopening_bringsTheAnswerBack() {
        bringTo(WatchRow.REOPENING);
        reported.clear();
        fail(WatchRow.REOPENING, failure(FailureReason.UNAVAILABLE, 503));

        assertThat(reported).containsExactly("Secret default/db failed: UNAVAILABLE");
        assertThat(served()).isEqualTo("v1");
    }

    @ParameterizedTest
    @CsvSource({
        "OPENING,          NOT_SYNCED, '', -1",
        "OPENING_LISTED,   NOT_SYNCED, '', -1",
        "LIVE,             FRESH,      10, 0",
        "BROKEN,           STALE,      10, 201",
        "BROKEN_LISTING,   STALE,      10, 1",
        "IDLE,             STALE,      10, 1",
        "REOPENING,        STALE,      10, 1",
        "REOPENING_LISTED, STALE,      10, 1",
        "UNWATCHED,        FRESH,      10, 1",
        "DROPPED,          UNREAD,     '', -1"
    })
    void state_aMilliLater(WatchRow row, CacheState cacheState, String version, long ageMillis) {
        bringTo(row);
        time.advance(MILLI);
        ObjectState state = entry.state();

        assertThat(state.cacheState()).isEqualTo(cacheState);
        assertThat(state.resourceVersion()).isEqualTo(version);
        assertThat(state.age()).isEqualTo(ageMillis < 0 ? null : Duration.ofMillis(ageMillis));
    }

    @Test
    void state_watchedNoLonger_isAsOldAsTheEndOfItsWatch() {
        bringTo(WatchRow.LIVE);
        time.advance(MILLI.multipliedBy(5));
        leaveUnread();
        time.advance(MILLI);
        entry.lookup();
        time.advance(MILLI);
        assertThat(entry.state().age()).isEqualTo(Duration.ofMillis(2));

        fail(WatchRow.REOPENING, failure(FailureReason.UNAVAILABLE, 503));
        assertThat(entry.state().age()).isEqualTo(Duration.ofMillis(2));
    }

    @Test
    void state_listedWhileBroken_isAsOldAsTheList() {
        bringTo(WatchRow.BROKEN_LISTING);
        time.advance(MILLI);
        hear(WatchRow.BROKEN_LISTING, "v2");
        time.advance(MILLI.multipliedBy(5));

        assertThat(entry.state().age()).isEqualTo(Duration.ofMillis(5));
    }

    @ParameterizedTest
    @EnumSource(names = {"LIVE", "BROKEN", "IDLE", "REOPENING"})
    void state_absence(WatchRow row) {
        bringTo(WatchRow.OPENING);
        hearOfAbsence(WatchRow.OPENING);
        accept(WatchRow.OPENING_LISTED);
        onFromLive(row);

        assertThat(entry.state().cacheState()).isEqualTo(CacheState.ABSENT);
    }
}
