package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ReadConsistency;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Secrets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Strategy WATCH, situation by situation: evictions, and what follows them. */
class WatchEvictionTest extends WatchRowFixture {

    @ParameterizedTest
    @CsvSource({
        "LISTED,          NOT_SYNCED, 0",
        "WATCHED,         UNREAD,     1",
        "LOST,            NOT_SYNCED, 0",
        "RENEWED_LISTING, NOT_SYNCED, 0",
        "RENEWED_LISTED,  NOT_SYNCED, 0",
        "LOST_LISTING,    NOT_SYNCED, 0",
        "REREAD_LISTING,  NOT_SYNCED, 0",
        "REREAD_LISTED,   NOT_SYNCED, 0",
        "UNREAD,          UNREAD,     1",
        "IMMUTABLE,       UNREAD,     1"
    })
    void evicted_isNotKnownUntilItIsReadAgain(WatchRow row, CacheState shown, int listsOfAGet) {
        bringTo(row);
        int requests = requests();
        long watches = server.openWatches();
        evict();

        assertThat(shown()).isEqualTo(shown);
        assertThat(Objects.requireNonNull(store.known(DB)).bytes()).isZero();
        assertThat(requests()).as("requests").isEqualTo(requests);
        assertThat(server.openWatches()).as("open watches").isEqualTo(watches);
        int lists = server.lists();
        BegunGet get = begunGet();
        assertThat(server.lists()).isEqualTo(lists + listsOfAGet);
        assertThat(get.outcome()).isEqualTo("waits");
        assertThat(outcomeAfterTheWait(get)).isEqualTo("NotSynced");
    }

    @ParameterizedTest
    @EnumSource(names = {"UNREAD", "IMMUTABLE"})
    void get_afterAnEvictionWithoutAWatch_isAnsweredByANewList(WatchRow row) {
        bringTo(row);
        evict();
        BegunGet get = begunGet();
        hear(WatchRow.LISTING, "v2", "20");
        accept(WatchRow.LISTED);

        assertThat(get.outcome()).isEqualTo("v2");
        assertThat(get()).isEqualTo("v2");
        assertThat(shown()).isEqualTo(CacheState.FRESH);
        assertThat(server.openWatches()).isEqualTo(1);
    }

    @Test
    void gets_ofAnEvictedObject_shareOneRead_andItsWatchStaysOpen() {
        bringTo(WatchRow.WATCHED);
        int lists = server.lists();
        for (int round = 1; round <= 3; round++) {
            evict();
            List<BegunGet> gets =
                    IntStream.range(0, 50).mapToObj(i -> begunGet()).toList();
            assertThat(gets).extracting(BegunGet::outcome).containsOnly("waits");
            hear(WatchRow.LISTING, "v" + round, "2" + round);

            assertThat(gets).extracting(BegunGet::outcome).containsOnly("v" + round);
            assertThat(get()).isEqualTo("v" + round);
            assertThat(shown()).isEqualTo(CacheState.FRESH);
            assertThat(server.lists()).as("lists").isEqualTo(lists + round);
        }
        assertThat(server.watches()).as("watches").isEqualTo(1);
        hear(WatchRow.WATCHED, "v9", "30");
        assertThat(get()).isEqualTo("v9");
    }

    @Test
    void evicted_theWatchIsAheadOfTheRead_theEventCounts() {
        bringTo(WatchRow.EVICTED);
        BegunGet get = begunGet();
        server.watch().upsert(Secrets.of(DB, "v3"), "30");
        assertThat(get.outcome()).isEqualTo("v3");
        hear(WatchRow.LISTING, "v2", "20");

        assertThat(get()).isEqualTo("v3");
        assertThat(server.openWatches()).isEqualTo(1);
    }

    @Test
    void evicted_theReadIsAheadOfTheWatch_olderEventsChangeNothing_alsoAfterAnotherEviction() {
        bringTo(WatchRow.EVICTED);
        begunGet();
        hear(WatchRow.LISTING, "v3", "30");
        server.watch().upsert(Secrets.of(DB, "v2"), "20");
        assertThat(get()).isEqualTo("v3");

        evict();
        server.watch().upsert(Secrets.of(DB, "v2"), "20");
        assertThat(shown()).isEqualTo(CacheState.UNREAD);
        server.watch().upsert(Secrets.of(DB, "v4"), "40");
        assertThat(get()).isEqualTo("v4");
    }

    @Test
    void evicted_theReadFindsNothing_olderEventsDoNotBringItBack() {
        bringTo(WatchRow.EVICTED);
        BegunGet get = begunGet();
        server.answer("30", List.of());
        server.watch().upsert(Secrets.of(DB, "v2"), "20");

        assertThat(get.outcome()).isEqualTo("NotFound");
        assertThat(get()).isEqualTo("NotFound");
        assertThat(shown()).isEqualTo(CacheState.ABSENT);
        assertThat(server.watches()).isEqualTo(1);
    }

    /** The storage of the server was restored from a backup. */
    @Test
    void evicted_theReadIsOlderThanWhatWasHeld_isListedAndWatchedAnew() {
        bringTo(WatchRow.EVICTED);
        BegunGet get = begunGet();
        hear(WatchRow.LISTING, "v0", "5");
        assertThat(get.outcome()).isEqualTo("waits");
        hear(WatchRow.LISTING, "v0", "5");
        accept(WatchRow.LISTED);

        assertThat(get.outcome()).isEqualTo("v0");
        assertThat(server.openWatches()).isEqualTo(1);
    }

    @Test
    void evicted_theReadFails_isRepeatedByTheGetsThatWait() {
        bringTo(WatchRow.EVICTED);
        BegunGet get = begunGet();
        int lists = server.lists();
        fail(WatchRow.LISTING, failure(FailureReason.UNAVAILABLE, 503));
        begunGet();
        time.advance(Duration.ofMillis(249));
        assertThat(server.lists()).isEqualTo(lists);
        time.advance(MILLI);
        assertThat(server.lists()).isEqualTo(lists + 1);
        hear(WatchRow.LISTING, "v2", "20");

        assertThat(get.outcome()).isEqualTo("v2");
        assertThat(lastFailure()).isNull();
        assertThat(server.watches()).isEqualTo(1);
    }

    @Test
    void evicted_theReadIsRefused_endsTheGetAtOnce() {
        bringTo(WatchRow.EVICTED);
        BegunGet get = begunGet();
        int lists = server.lists();
        fail(WatchRow.LISTING, failure(FailureReason.FORBIDDEN, 403));

        assertThat(get.outcome()).isEqualTo("NotSynced");
        assertThat(get()).isEqualTo("NotSynced");
        assertThat(server.lists()).isEqualTo(lists);
        time.advance(Duration.ofMillis(250));
        assertThat(get()).isEqualTo("waits");
        assertThat(server.lists()).isEqualTo(lists + 1);
    }

    @Test
    void evicted_theReadThrows_isRepeated() {
        bringTo(WatchRow.EVICTED);
        server.throwNext(new IllegalStateException("for the test"));
        BegunGet get = begunGet();
        time.advance(Duration.ofMillis(250));
        hear(WatchRow.LISTING, "v2", "20");

        assertThat(get.outcome()).isEqualTo("v2");
    }

    @Test
    void evicted_theWatchIsLostDuringTheRead_isReadAgainOnceItIsBack() {
        bringTo(WatchRow.EVICTED);
        BegunGet get = begunGet();
        int lists = server.lists();
        fail(WatchRow.WATCHED, failure(FailureReason.UNAVAILABLE, 0));
        hear(WatchRow.LISTING, "v2", "20");
        assertThat(get.outcome()).isEqualTo("waits");
        time.advance(SURELY_REPEATED);
        server.watch().open();
        server.watch().bookmark("30");
        assertThat(server.lists()).isGreaterThan(lists);
        hear(WatchRow.LISTING, "v3", "31");

        assertThat(get.outcome()).isEqualTo("v3");
        assertThat(shown()).isEqualTo(CacheState.FRESH);
    }

    @Test
    void evicted_aQuorumReadForAnother_bringsItBack() {
        bringTo(WatchRow.EVICTED);
        CompletableFuture<String> latest = CompletableFuture.supplyAsync(
                () -> Secrets.value(store.get("default", "db", ReadConsistency.latest())), NewThread.EACH);
        Patience.await().until(() -> server.lists() == 2);
        hear(WatchRow.LISTING, "v2", "20");

        assertThat(latest.join()).isEqualTo("v2");
        assertThat(get()).isEqualTo("v2");
        assertThat(requests()).isEqualTo(3);
    }

    @Test
    void newReference_toAnEvictedObjectWithoutAWatch_opensOne() {
        bringTo(WatchRow.IMMUTABLE);
        evict();
        assertThat(server.openWatches()).isZero();
        int lists = server.lists();
        store.addReference(DB, OTHER_POD);

        assertThat(shown()).isEqualTo(CacheState.NOT_SYNCED);
        assertThat(server.lists()).isEqualTo(lists + 1);
    }

    @Test
    void listedAndEvictedBeforeTheWatchIsAccepted_isHandedToTheGetThatWaits() {
        bringTo(WatchRow.LISTING);
        BegunGet get = begunGet();
        hear(WatchRow.LISTING, "v2", "20");
        evict();

        assertThat(get.outcome()).isEqualTo("v2");
        assertThat(Objects.requireNonNull(store.known(DB)).bytes()).isZero();
        accept(WatchRow.LISTED);
        assertThat(shown()).isEqualTo(CacheState.UNREAD);
        requireAGetLists();
    }

    @Test
    void listedAndEvictedWhileTheWatchIsRefused_isNotHandedOver() {
        bringTo(WatchRow.LISTING);
        BegunGet get = begunGet();
        hear(WatchRow.LISTING, "v2", "20");
        fail(WatchRow.LISTED, failure(FailureReason.UNAVAILABLE, 503));
        evict();

        assertThat(shown()).isEqualTo(CacheState.NOT_SYNCED);
        assertThat(get.outcome()).isEqualTo("waits");
        assertThat(outcomeAfterTheWait(get)).isEqualTo("NotSynced");
    }

    @Test
    void lost_evictedAndResumed_isEvicted() {
        bringTo(WatchRow.LOST);
        evict();
        accept(WatchRow.LOST);

        assertThat(shown()).isEqualTo(CacheState.UNREAD);
        assertThat(lastFailure()).isNull();
        assertThat(server.openWatches()).isEqualTo(1);
        requireAGetLists();
    }

    /** It was made before the last event of the watch that was lost, and the next watch begins after that event. */
    @Test
    void lost_evicted_aLateReadBringsAnOlderVersion_isListedAndWatchedAnew() {
        bringTo(WatchRow.LOST);
        evict();
        int lists = server.lists();
        CompletableFuture<String> latest = CompletableFuture.supplyAsync(
                () -> Secrets.value(store.get("default", "db", ReadConsistency.latest())), NewThread.EACH);
        Patience.await().until(() -> server.lists() == lists + 1);
        hear(WatchRow.LISTING, "v0", "9");
        assertThat(latest.join()).isEqualTo("v0");
        hear(WatchRow.LISTING, "v1", "10");
        accept(WatchRow.LISTED);

        assertThat(get()).isEqualTo("v1");
        assertThat(shown()).isEqualTo(CacheState.FRESH);
        assertThat(server.openWatches()).isOne();
    }

    private void requireAGetLists() {
        int lists = server.lists();
        assertThat(get()).isEqualTo("waits");
        assertThat(server.lists()).isEqualTo(lists + 1);
    }

    @Test
    void lost_evictedAndListed_isWatchedAgain() {
        bringTo(WatchRow.LOST_LISTING);
        evict();
        hear(WatchRow.LOST_LISTING, "v2", "20");
        accept(WatchRow.LISTED);

        assertThat(shown()).isEqualTo(CacheState.FRESH);
        assertThat(get()).isEqualTo("v2");
    }

    @Test
    void evictionIsCounted_andIsNoStaleness() {
        bringTo(WatchRow.WATCHED);
        evict();

        assertThat(store.changes().evictions()).isOne();
        assertThat(stale()).isFalse();
        get();
        assertThat(stale()).as("read again").isFalse();
        fail(WatchRow.LISTING, failure(FailureReason.UNAVAILABLE, 503));
        assertThat(stale()).as("read in vain").isFalse();
        fail(WatchRow.WATCHED, failure(FailureReason.UNAVAILABLE, 503));
        assertThat(stale()).as("lost").isTrue();
    }

    @Test
    void eviction_isToldToObservers() {
        bringTo(WatchRow.WATCHED);
        List<CacheState> told = new ArrayList<>();
        Runnable end = store.observe(key -> told.add(shown()));
        evict();
        end.run();

        assertThat(told).containsExactly(CacheState.UNREAD);
    }

    /** It has no payload to save, and it is an answer. */
    @Test
    void absence_isNotEvicted() {
        bringTo(WatchRow.LISTING);
        hearOfAbsence(WatchRow.LISTING);
        accept(WatchRow.LISTED);
        long evictions = store.changes().evictions();
        hear(WatchRow.WATCHED, Secrets.of(DB, "v2"), "20");
        evict();
        server.watch().delete(Secrets.of(DB, "v2"), "21");

        assertThat(store.changes().evictions()).isEqualTo(evictions + 1);
        assertThat(get()).isEqualTo("NotFound");
    }

    private boolean stale() {
        return Objects.requireNonNull(store.known(DB)).stale();
    }
}
