package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectState;
import dev.podcache.testing.ManualListerWatcher;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Strategy WATCH, situation by situation: what its users do. */
class WatchRowGetsTest extends WatchRowFixture {

    // a get

    @ParameterizedTest
    @CsvSource({
        "LISTING,         NOT_SYNCED, waits,         NotSynced, 0",
        "LISTED,          NOT_SYNCED, waits,         NotSynced, 0",
        "WATCHED,         FRESH,      v1,            v1,        0",
        "LOST,            STALE,      v1 stale,      v1 stale,  0",
        "LOST_LISTING,    STALE,      v1 stale,      v1 stale,  0",
        "RENEWED_LISTING, STALE,      waits,         v1 stale,  0",
        "RENEWED_LISTED,  STALE,      waits,         v1 stale,  0",
        "UNREAD,          STALE,      waits,         v1 stale,  1",
        "REREAD_LISTING,  STALE,      waits,         v1 stale,  0",
        "REREAD_LISTED,   STALE,      waits,         v1 stale,  0",
        "IMMUTABLE,       FRESH,      v1,            v1,        0",
        "EVICTED,         UNREAD,     waits,         NotSynced, 1",
        "DROPPED,         UNREAD,     NotRegistered, NotRegistered, 0"
    })
    void get(WatchRow row, CacheState shown, String outcome, String outcomeAfterTheWait, int newLists) {
        bringTo(row);
        int lists = server.lists();
        assertThat(shown()).isEqualTo(shown);
        BegunGet get = begunGet();

        assertThat(get.outcome()).isEqualTo(outcome);
        assertThat(server.lists()).as("lists").isEqualTo(lists + newLists);
        assertThat(outcomeAfterTheWait(get)).isEqualTo(outcomeAfterTheWait);
    }

    /** Only the first get waits for a server that is silent. */
    @ParameterizedTest
    @EnumSource(names = {"RENEWED_LISTING", "RENEWED_LISTED", "UNREAD", "REREAD_LISTING", "REREAD_LISTED"})
    void get_afterOneThatWaitedInVain_isAnsweredAtOnce(WatchRow row) {
        bringTo(row);
        outcomeAfterTheWait(begunGet());

        assertThat(get()).isEqualTo("v1 stale");
    }

    @ParameterizedTest
    @EnumSource(names = {"UNREAD", "EVICTED"})
    void gets_whileOneWaitsForAList_makeNoOther(WatchRow row) {
        bringTo(row);
        begunGet();
        int lists = server.lists();
        begunGet();

        assertThat(server.lists()).isEqualTo(lists);
    }

    // not read for long

    @ParameterizedTest
    @CsvSource({
        "LISTING,         false",
        "LISTED,          false",
        "WATCHED,         true",
        "LOST,            false",
        "LOST_LISTING,    false",
        "RENEWED_LISTING, false",
        "RENEWED_LISTED,  false",
        "REREAD_LISTING,  false",
        "REREAD_LISTED,   false",
        "IMMUTABLE,       false",
        "EVICTED,         true"
    })
    void notRead_closesOnlyAWatchThatIsUpToDate(WatchRow row, boolean closes) {
        bringTo(row);
        CacheState shown = shown();
        long watches = server.openWatches();
        int requests = requests();
        leaveUnread();

        assertThat(server.openWatches()).as("open watches").isEqualTo(closes ? 0 : watches);
        assertThat(shown()).isEqualTo(row == WatchRow.WATCHED ? CacheState.STALE : shown);
        assertThat(requests()).isEqualTo(requests);
    }

    @Test
    void notRead_keepsWhatIsKnown() {
        bringTo(WatchRow.WATCHED);
        leaveUnread();

        assertThat(store.ifHit(DB.namespace(), DB.name())).isNull();
        assertThat(store.state(DB).resourceVersion()).isEqualTo("10");
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void readBetweenTwoSweeps_staysWatched(boolean onlyIfHit) {
        bringTo(WatchRow.WATCHED);
        for (int i = 0; i < 5; i++) {
            time.advance(SWEEP.multipliedBy(2));
            if (onlyIfHit) {
                assertThat(store.ifHit(DB.namespace(), DB.name())).isNotNull();
            } else {
                get();
            }
        }

        assertThat(server.watch().closed()).isFalse();
        assertThat(server.watches()).isEqualTo(1);
    }

    /** A sync counts as a read: the get that waited for it may not have come back yet. */
    @Test
    void justSynced_isKeptAsIfItHadBeenRead() {
        bringTo(WatchRow.LISTED);
        leaveUnread();
        accept(WatchRow.LISTED);
        time.advance(SWEEP.multipliedBy(3).minus(MILLI));
        assertThat(server.watch().closed()).isFalse();

        time.advance(MILLI);
        assertThat(server.watch().closed()).isTrue();
    }

    // a new reference

    @ParameterizedTest
    @CsvSource({
        "LISTING,         NOT_SYNCED, 0, waits, NotSynced",
        "LISTED,          NOT_SYNCED, 0, waits, NotSynced",
        "WATCHED,         FRESH,      0, v1,    v1",
        "LOST,            STALE,      1, waits, v1 stale",
        "LOST_LISTING,    STALE,      1, waits, v1 stale",
        "RENEWED_LISTING, STALE,      0, waits, v1 stale",
        "RENEWED_LISTED,  STALE,      0, waits, v1 stale",
        "UNREAD,          NOT_SYNCED, 1, waits, NotSynced",
        "REREAD_LISTING,  NOT_SYNCED, 1, waits, NotSynced",
        "REREAD_LISTED,   NOT_SYNCED, 1, waits, NotSynced",
        "IMMUTABLE,       NOT_SYNCED, 1, waits, NotSynced",
        "EVICTED,         UNREAD,     0, waits, NotSynced"
    })
    void newReference_joinsOrForgets(
            WatchRow row, CacheState shown, int newLists, String outcome, String outcomeAfterTheWait) {
        bringTo(row);
        int lists = server.lists();
        long watches = server.openWatches();
        int references = store.state(DB).references();
        store.addReference(DB, OTHER_POD);

        assertThat(shown()).isEqualTo(shown);
        assertThat(server.lists()).as("lists").isEqualTo(lists + newLists);
        assertThat(server.openWatches()).as("open watches").isEqualTo(newLists > 0 ? 0 : watches);
        assertThat(store.state(DB).references()).isEqualTo(references + 1);
        BegunGet get = begunGet();
        assertThat(get.outcome()).isEqualTo(outcome);
        assertThat(outcomeAfterTheWait(get)).isEqualTo(outcomeAfterTheWait);
    }

    @ParameterizedTest
    @EnumSource(names = {"LOST", "LOST_LISTING", "UNREAD", "REREAD_LISTING", "REREAD_LISTED", "IMMUTABLE"})
    void newReferenceThatForgets_isAnsweredByAListOfItsOwn(WatchRow row) {
        bringTo(row);
        store.addReference(DB, OTHER_POD);
        hear(WatchRow.LISTING, "v2");
        accept(WatchRow.LISTED);

        assertThat(shown()).isEqualTo(CacheState.FRESH);
        assertThat(get()).isEqualTo("v2");
    }

    @Test
    void newReferenceThatForgets_doesNotFallBackToWhatWasKnown() {
        bringTo(WatchRow.UNREAD);
        store.addReference(DB, OTHER_POD);
        BegunGet get = begunGet();
        fail(WatchRow.LISTING, failure(FailureReason.UNAVAILABLE, 503));

        assertThat(get.outcome()).isEqualTo("waits");
        assertThat(outcomeAfterTheWait(get)).isEqualTo("NotSynced");
    }

    /** The watch before is closed a moment later; until then it may call. */
    @Test
    void newReferenceThatForgets_theWatchBeforeIsNotListenedTo() {
        bringTo(WatchRow.LOST);
        ManualListerWatcher.ManualWatch<Secret> before = server.watch();
        Runnable end = store.observe(key -> {
            before.upsert(Secrets.of(DB, "late"), "99");
            before.open();
            before.end(failure(FailureReason.UNAVAILABLE, 503));
        });
        store.addReference(DB, OTHER_POD);
        end.run();
        BegunGet get = begunGet();

        assertThat(lastFailure()).hasMessageContaining("answered 0");
        assertThat(get.outcome()).isEqualTo("waits");
        assertThat(outcomeAfterTheWait(get)).isEqualTo("v1 stale");
    }

    // the end

    @ParameterizedTest
    @EnumSource(names = "DROPPED", mode = EnumSource.Mode.EXCLUDE)
    void lastReferenceGone_endsTheWatchAndTheGetsThatWait(WatchRow row) {
        bringTo(row);
        BegunGet waiting = begunGet();
        boolean waits = waiting.outcome().equals("waits");
        store.deleteReference(DB, POD);
        store.deleteReference(DB, OTHER_POD);

        assertThat(store.state(DB)).isEqualTo(new ObjectState(CacheState.UNREAD, "", null, null, 0, "not referenced"));
        assertThat(store.known(DB)).isNull();
        assertThat(get()).isEqualTo("NotRegistered");
        assertThat(waiting.outcome().equals("NotRegistered")).isEqualTo(waits);
        assertThat(server.openWatches()).isZero();
        assertThat(time.scheduledTasks()).isZero();
    }
}
