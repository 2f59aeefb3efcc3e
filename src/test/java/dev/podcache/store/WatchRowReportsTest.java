package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectState;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Secrets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Strategy WATCH, situation by situation: what gets that wait, listeners and readers of the state are told. */
class WatchRowReportsTest extends WatchRowFixture {

    // waiting gets

    @ParameterizedTest
    @CsvSource({
        "LISTING,         waits",
        "LISTED,          waits",
        "RENEWED_LISTING, waits",
        "RENEWED_LISTED,  waits",
        "REREAD_LISTING,  v1 stale",
        "REREAD_LISTED,   v1 stale"
    })
    void waiting_anAttemptFails(WatchRow row, String outcome) {
        bringTo(row);
        BegunGet waiting = begunGet();
        fail(row, failure(FailureReason.UNAVAILABLE, 503));

        assertThat(waiting.outcome()).isEqualTo(outcome);
    }

    @ParameterizedTest
    @EnumSource(names = {"LISTING", "LISTED", "RENEWED_LISTING", "RENEWED_LISTED", "REREAD_LISTING", "REREAD_LISTED"})
    void waiting_theObjectIsImmutable_needsNoAcceptedWatch(WatchRow row) {
        bringTo(row);
        BegunGet waiting = begunGet();
        hear(row, Secrets.immutable(DB, "v2"), "20");

        assertThat(waiting.outcome()).isEqualTo("v2");
    }

    @Test
    void waiting_isWokenUnderNoLock() {
        bringTo(WatchRow.LISTED);
        List<String> seen = new ArrayList<>();
        begunGet().thenRun(() -> seen.add("get: " + stateFromAnotherThread().cacheState()));
        Runnable end = store.observe(key ->
                seen.add("observer: " + key + " " + stateFromAnotherThread().cacheState()));
        accept(WatchRow.LISTED);
        end.run();

        assertThat(seen).containsExactly("observer: default/db FRESH", "get: FRESH");
    }

    /** Would wait in vain while this thread holds a lock. */
    private ObjectState stateFromAnotherThread() {
        return CompletableFuture.supplyAsync(
                        () -> {
                            store.deleteReference(DB, OTHER_POD);
                            assertThat(store.size()).isEqualTo(1);
                            return store.state(DB);
                        },
                        NewThread.EACH)
                .orTimeout(Patience.SECONDS, TimeUnit.SECONDS)
                .join();
    }

    // reports

    @Test
    void reported_fromTheFirstListToTheEnd() {
        bringTo(WatchRow.LISTING);
        time.advance(MILLI);
        hear(WatchRow.LISTING, "v1", "10");
        time.advance(MILLI);
        accept(WatchRow.LISTED);
        hear(WatchRow.WATCHED, "v2");
        fail(WatchRow.WATCHED, failure(FailureReason.UNAVAILABLE, 0));
        time.advance(SURELY_REPEATED);
        accept(WatchRow.LOST);
        leaveUnread();
        get();
        time.advance(MILLI);
        hear(WatchRow.REREAD_LISTING, Secrets.immutable(DB, "v3"), "12");
        store.deleteReference(DB, POD);

        assertThat(reported)
                .containsExactly(
                        "Secret default/db synced after 2 ms",
                        "Secret default/db failed: UNAVAILABLE",
                        "Secret default/db synced after 200 ms",
                        "Secret default/db synced after 1 ms");
        assertThat(store.changes()).isEqualTo(new ChangeCounts(3, 0));
    }

    @Test
    void reported_failureOfAReread_isOne() {
        bringTo(WatchRow.REREAD_LISTING);
        reported.clear();
        fail(WatchRow.REREAD_LISTING, failure(FailureReason.UNAVAILABLE, 503));

        assertThat(reported).containsExactly("Secret default/db failed: UNAVAILABLE");
    }

    // the state

    @ParameterizedTest
    @CsvSource({
        "LISTING,         NOT_SYNCED, '', -1,  false, opened",
        "LISTED,          NOT_SYNCED, '', -1,  false, opened",
        "WATCHED,         FRESH,      10, 0,   false, watched",
        "LOST,            STALE,      10, 201, true,  lost",
        "LOST_LISTING,    STALE,      10, 1,   true,  lost",
        "RENEWED_LISTING, STALE,      10, 201, true,  new reference",
        "RENEWED_LISTED,  STALE,      10, 1,   true,  new reference",
        "UNREAD,          STALE,      10, 1,   true,  not read",
        "REREAD_LISTING,  STALE,      10, 1,   true,  reopened",
        "REREAD_LISTED,   STALE,      10, 1,   true,  reopened",
        "IMMUTABLE,       FRESH,      10, 1,   false, immutable",
        "EVICTED,         UNREAD,     '', -1,  false, payloadBudget",
        "DROPPED,         UNREAD,     '', -1,  false, not referenced"
    })
    void state_aMilliLater(
            WatchRow row, CacheState cacheState, String version, long ageMillis, boolean stale, String freshness) {
        bringTo(row);
        time.advance(MILLI);
        ObjectState state = store.state(DB);
        KnownObject<?> known = store.known(DB);

        assertThat(state.cacheState()).isEqualTo(cacheState);
        assertThat(state.resourceVersion()).isEqualTo(version);
        assertThat(state.age()).isEqualTo(ageMillis < 0 ? null : Duration.ofMillis(ageMillis));
        assertThat(state.freshness()).contains(freshness);
        assertThat(known == null ? "" : known.resourceVersion()).isEqualTo(version);
        assertThat(known != null && known.stale()).as("stale").isEqualTo(stale);
    }

    @Test
    void state_resumedButNotConfirmed_saysSo() {
        bringTo(WatchRow.LOST);
        server.watch().open();

        assertThat(shown()).isEqualTo(CacheState.STALE);
        assertThat(store.state(DB).freshness()).contains("not confirmed yet");
        assertThat(get()).isEqualTo("v1 stale");
    }

    @Test
    void state_watchedNoLonger_isAsOldAsTheEndOfItsWatch() {
        bringTo(WatchRow.UNREAD);
        time.advance(MILLI);
        get();
        time.advance(MILLI);
        assertThat(store.state(DB).age()).isEqualTo(Duration.ofMillis(2));

        fail(WatchRow.REREAD_LISTING, failure(FailureReason.UNAVAILABLE, 503));
        assertThat(store.state(DB).age()).isEqualTo(Duration.ofMillis(2));
    }

    @Test
    void state_listedWhileLost_isAsOldAsTheList() {
        bringTo(WatchRow.LOST_LISTING);
        time.advance(MILLI);
        hear(WatchRow.LOST_LISTING, "v2");
        time.advance(MILLI.multipliedBy(5));

        assertThat(store.state(DB).age()).isEqualTo(Duration.ofMillis(5));
    }

    /** The event may be the first of those that were missed: nothing confirms it. */
    @Test
    void state_heardOfWhileLost_isAsOldAsTheLoss() {
        bringTo(WatchRow.LOST);
        hear(WatchRow.LOST, "v2");
        time.advance(MILLI.multipliedBy(5));

        assertThat(store.state(DB).resourceVersion()).isEqualTo("11");
        assertThat(store.state(DB).age()).isEqualTo(SURELY_REPEATED.plus(MILLI.multipliedBy(5)));
    }

    @ParameterizedTest
    @EnumSource(names = {"WATCHED", "LOST", "UNREAD", "REREAD_LISTING"})
    void state_absence(WatchRow row) {
        bringTo(WatchRow.LISTING);
        hearOfAbsence(WatchRow.LISTING);
        accept(WatchRow.LISTED);
        onFromWatched(row);

        assertThat(shown()).isEqualTo(CacheState.ABSENT);
    }
}
