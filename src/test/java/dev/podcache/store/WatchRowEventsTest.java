package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ReadConsistency;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Strategy WATCH, situation by situation: what the server does. */
class WatchRowEventsTest extends WatchRowFixture {

    // a list, or an event

    @ParameterizedTest
    @CsvSource({
        "LISTING,         NOT_SYNCED, waits,    NotSynced",
        "LISTED,          NOT_SYNCED, waits,    NotSynced",
        "WATCHED,         FRESH,      v2,       v2",
        "LOST,            STALE,      v2 stale, v2 stale",
        "LOST_LISTING,    STALE,      v2 stale, v2 stale",
        "RENEWED_LISTING, STALE,      waits,    v2 stale",
        "RENEWED_LISTED,  STALE,      waits,    v2 stale",
        "REREAD_LISTING,  STALE,      waits,    v2 stale",
        "REREAD_LISTED,   STALE,      waits,    v2 stale",
        "EVICTED,         FRESH,      v2,       v2"
    })
    void received(WatchRow row, CacheState shown, String outcome, String outcomeAfterTheWait) {
        bringTo(row);
        hear(row, "v2");
        BegunGet get = begunGet();

        assertThat(shown()).isEqualTo(shown);
        assertThat(get.outcome()).isEqualTo(outcome);
        assertThat(outcomeAfterTheWait(get)).isEqualTo(outcomeAfterTheWait);
    }

    @ParameterizedTest
    @CsvSource({
        "LISTING,         waits",
        "LISTED,          waits",
        "WATCHED,         NotFound",
        "LOST,            NotFound unsure",
        "LOST_LISTING,    NotFound unsure",
        "RENEWED_LISTING, waits",
        "RENEWED_LISTED,  waits",
        "REREAD_LISTING,  waits",
        "REREAD_LISTED,   waits",
        "EVICTED,         NotFound"
    })
    void heardOfAbsence(WatchRow row, String outcome) {
        bringTo(row);
        hearOfAbsence(row);

        assertThat(get()).isEqualTo(outcome);
        accept(row);
        assertThat(get()).isEqualTo("NotFound");
        assertThat(shown()).isEqualTo(CacheState.ABSENT);
    }

    @ParameterizedTest
    @EnumSource(
            names = {"UNREAD", "IMMUTABLE", "DROPPED"},
            mode = EnumSource.Mode.EXCLUDE)
    void heardOfAnImmutableObject_isServedAtOnceAndNoLongerWatched(WatchRow row) {
        bringTo(row);
        hear(row, Secrets.immutable(DB, "v2"), "20");

        assertThat(shown()).isEqualTo(CacheState.FRESH);
        assertThat(get()).isEqualTo("v2");
        assertThat(lastFailure()).isNull();
        assertThat(server.openWatches()).isZero();
        store.close();
        assertThat(time.scheduledTasks()).isZero();
    }

    /** It may be older than the reference: then the events that follow are needed. */
    @ParameterizedTest
    @EnumSource(names = {"LISTING", "LISTED", "WATCHED", "EVICTED"})
    void heardOfAnImmutableObjectAfterANewReference_isWatchedOn(WatchRow row) {
        bringTo(row);
        store.addReference(DB, OTHER_POD);
        int lists = server.lists();
        hear(row, Secrets.immutable(DB, "v1"), "20");
        accept(row);

        assertThat(get()).isEqualTo("v1");
        assertThat(server.lists()).as("lists").isEqualTo(lists);
        server.watch().upsert(Secrets.immutable(DB, "v2"), "30");
        assertThat(get()).isEqualTo("v2");
        assertThat(shown()).isEqualTo(CacheState.FRESH);
    }

    @Test
    void heardOfTheSameVersionAgain_keepsTheSharedInstance() {
        bringTo(WatchRow.WATCHED);
        Secret shared = store.get(DB);
        server.watch().upsert(Secrets.of(DB, "v1"), "10");

        assertThat(store.get(DB)).isSameAs(shared);
    }

    @Test
    void heardOfTheSameVersionAgainAfterAPause_keepsTheSharedInstance() {
        bringTo(WatchRow.WATCHED);
        Secret shared = store.get(DB);
        onFromWatched(WatchRow.REREAD_LISTED);
        accept(WatchRow.REREAD_LISTED);

        assertThat(store.get(DB)).isSameAs(shared);
    }

    @Test
    void heardOfAnOlderVersionByAnEvent_keepsTheNewerOne() {
        bringTo(WatchRow.WATCHED);
        server.watch().upsert(Secrets.of(DB, "v0"), "9");

        assertThat(get()).isEqualTo("v1");
    }

    @Test
    void heardOfAnOlderVersionByAList_believesIt() {
        bringTo(WatchRow.LOST_LISTING);
        hear(WatchRow.LOST_LISTING, "v0", "9");

        assertThat(get()).isEqualTo("v0 stale");
    }

    // the watch is accepted

    @ParameterizedTest
    @CsvSource({
        "LISTED,          1",
        "WATCHED,         0",
        "LOST,            1",
        "LOST_LISTING,    1",
        "RENEWED_LISTED,  1",
        "REREAD_LISTED,   1",
    })
    void accepted_isUpToDate(WatchRow row, int reports) {
        bringTo(row);
        if (row.isListing()) {
            hear(row, "v1", "10");
        }
        BegunGet waiting = begunGet();
        reported.clear();
        accept(row);

        assertThat(waiting.outcome()).startsWith("v1");
        assertThat(shown()).isEqualTo(CacheState.FRESH);
        assertThat(get()).isEqualTo("v1");
        assertThat(lastFailure()).isNull();
        assertThat(reported).as("the sync").hasSize(reports);
    }

    @ParameterizedTest
    @EnumSource(names = {"LISTING", "RENEWED_LISTING", "REREAD_LISTING"})
    void accepted_publishesWhatWasListedMeanwhile(WatchRow row) {
        bringTo(row);
        BegunGet waiting = begunGet();
        hear(row, "v2");
        accept(row);

        assertThat(waiting.outcome()).isEqualTo("v2");
        assertThat(get()).isEqualTo("v2");
    }

    // a quorum read comes late: it was made before the object was created, which the list of the watch has brought

    @Test
    void latest_disagreesWithTheListOfALostWatch_isListedOnceMore() {
        bringTo(WatchRow.LISTING);
        hearOfAbsence(WatchRow.LISTING);
        accept(WatchRow.LISTED);
        onFromWatched(WatchRow.LOST_LISTING);
        requireListedOnceMoreAfterALateRead("v1 stale");
    }

    @Test
    void latest_disagreesWithTheListAfterAFailedAttempt_isListedOnceMore() {
        bringTo(WatchRow.LISTING);
        fail(WatchRow.LISTING, failure(FailureReason.UNAVAILABLE, 503));
        time.advance(SURELY_REPEATED);
        requireListedOnceMoreAfterALateRead("waits");
    }

    private void requireListedOnceMoreAfterALateRead(String outcomeBeforeIt) {
        int list = server.lists() - 1;
        CompletableFuture<Throwable> read = CompletableFuture.supplyAsync(
                () -> catchThrowable(() -> store.get("default", "db", ReadConsistency.latest())), NewThread.EACH);
        Patience.await().until(() -> server.lists() == list + 2);
        server.answer(list, "12", List.of(new Fetched<>(Secrets.of(DB, "v1"), "12", 1)));
        assertThat(get()).isEqualTo(outcomeBeforeIt);
        server.answer("11", List.of());
        assertThat(read.join()).isInstanceOf(NotFound.class);
        assertThat(get()).isEqualTo("NotFound unsure");

        hear(WatchRow.LISTING, "v1", "12");
        accept(WatchRow.LISTED);
        assertThat(get()).isEqualTo("v1");
        assertThat(shown()).isEqualTo(CacheState.FRESH);
        assertThat(server.openWatches()).isOne();
    }

    /** The server that the watch resumed at may lag: the event may be the first of those that were missed. */
    @Test
    void maxAge_afterAnEventOfAWatchThatIsNotConfirmed_asksTheServer() {
        bringTo(WatchRow.LOST);
        time.advance(Duration.ofMinutes(1));
        server.watch().open();
        hear(WatchRow.LOST, "v2");
        assertThat(get()).isEqualTo("v2 stale");
        int lists = server.lists();
        CompletableFuture<String> read = CompletableFuture.supplyAsync(
                () -> Secrets.value(store.get("default", "db", ReadConsistency.maxAge(Duration.ofSeconds(1)))),
                NewThread.EACH);
        Patience.await().until(() -> server.lists() > lists || read.isDone());

        assertThat(server.lists()).as("lists").isEqualTo(lists + 1);
        hear(WatchRow.LISTING, "v3", "12");
        assertThat(read.join()).isEqualTo("v3");
    }

    // an attempt fails

    @ParameterizedTest
    @CsvSource({
        "LISTING,         NOT_SYNCED, waits",
        "LISTED,          NOT_SYNCED, waits",
        "WATCHED,         STALE,      v1 stale",
        "LOST,            STALE,      v1 stale",
        "LOST_LISTING,    STALE,      v1 stale",
        "RENEWED_LISTING, STALE,      waits",
        "RENEWED_LISTED,  STALE,      waits",
        "REREAD_LISTING,  STALE,      v1 stale",
        "REREAD_LISTED,   STALE,      v1 stale",
        "EVICTED,         NOT_SYNCED, waits"
    })
    void failed_saysWhyAndServesWhatIsKnown(WatchRow row, CacheState shown, String outcome) {
        bringTo(row);
        ApiServerException failure = failure(FailureReason.UNAVAILABLE, 503);
        fail(row, failure);

        assertThat(shown()).isEqualTo(shown);
        assertThat(lastFailure()).isSameAs(failure);
        assertThat(get()).isEqualTo(outcome);
    }

    @Test
    void failed_rereadAndListed_publishesTheNewerOne() {
        bringTo(WatchRow.REREAD_LISTING);
        hear(WatchRow.REREAD_LISTING, "v2");
        fail(WatchRow.REREAD_LISTED, failure(FailureReason.UNAVAILABLE, 503));

        assertThat(get()).isEqualTo("v2 stale");
    }

    @Test
    @ExpectedWarnings("watch of Secret default/db failed; retrying: the server answered 503")
    void failed_first_isWarnedOf() {
        bringTo(WatchRow.LISTING);
        fail(WatchRow.LISTING, failure(FailureReason.UNAVAILABLE, 503));
    }

    @ParameterizedTest
    @EnumSource(names = {"LISTING", "LISTED", "WATCHED", "LOST", "REREAD_LISTING", "REREAD_LISTED", "EVICTED"})
    void failed_isTriedAgain(WatchRow row) {
        bringTo(row);
        int before = requests();
        fail(row, failure(FailureReason.UNAVAILABLE, 503));
        // in the row LOST it is the second failure: twice as long, and spread by up to 5 ms from the first
        time.advance(SURELY_REPEATED.multipliedBy(2).plusMillis(5));

        assertThat(requests()).isEqualTo(before + 1);
    }
}
