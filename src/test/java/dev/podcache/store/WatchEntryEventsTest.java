package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The state table in {@link WatchEntry}, cell by cell: what the server does. */
class WatchEntryEventsTest extends WatchEntryFixture {

    // the column: a list, or an event

    @ParameterizedTest
    @CsvSource({
        "OPENING,          OPENING,   nothing, nothing",
        "OPENING_LISTED,   OPENING,   nothing, nothing",
        "LIVE,             LIVE,      v2,      v2",
        "BROKEN,           LIVE,      v2,      v2",
        "BROKEN_LISTING,   BROKEN,    v2,      v2",
        "RENEWING,         RENEWING,  nothing, v2",
        "REOPENING,        REOPENING, nothing, v2",
        "REOPENING_LISTED, REOPENING, nothing, v2",
        "EVICTED,          LIVE,      v2,      v2"
    })
    void received(WatchRow row, WatchState next, String served, String afterTheWait) {
        bringTo(row);
        hear(row, "v2");

        assertThat(state()).isEqualTo(next);
        assertThat(served()).isEqualTo(served);
        assertThat(content(entry.answerAfterTimeout())).isEqualTo(afterTheWait);
    }

    @ParameterizedTest
    @CsvSource({
        "OPENING,          nothing",
        "OPENING_LISTED,   nothing",
        "LIVE,             absence",
        "BROKEN,           absence",
        "BROKEN_LISTING,   absence",
        "REOPENING,        nothing",
        "REOPENING_LISTED, nothing",
        "EVICTED,          absence"
    })
    void heardOfAbsence(WatchRow row, String served) {
        bringTo(row);
        hearOfAbsence(row);

        assertThat(served()).isEqualTo(served);
        accept(row);
        assertThat(served()).isEqualTo("absence");
    }

    @ParameterizedTest
    @EnumSource(
            names = {"IDLE", "UNWATCHED", "DROPPED"},
            mode = EnumSource.Mode.EXCLUDE)
    void heardOfAnImmutableObject_isServedAtOnceAndNoLongerWatched(WatchRow row) {
        bringTo(row);
        hear(row, Secrets.immutable(DB, "v2"), "v2");

        assertThat(state()).isEqualTo(WatchState.UNWATCHED);
        assertThat(served()).isEqualTo("v2");
        assertThat(server.openWatches()).isZero();
        assertThat(entry.state().lastFailure()).isNull();
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void heardOfTheSameVersionAgain_keepsTheSharedInstance() {
        bringTo(WatchRow.LIVE);
        Secret shared = entry.ifKnown();
        server.watch().upsert(Secrets.of(DB, "v1"), "10");

        assertThat(entry.ifKnown()).isNotNull().isSameAs(shared);
    }

    @Test
    void heardOfTheSameVersionAgainAfterAPause_keepsTheSharedInstance() {
        bringTo(WatchRow.LIVE);
        Secret shared = entry.ifKnown();
        leaveUnread();
        entry.lookup();
        hear(WatchRow.REOPENING, "v1", "10");
        accept(WatchRow.REOPENING_LISTED);

        assertThat(entry.ifKnown()).isNotNull().isSameAs(shared);
    }

    @Test
    void heardOfAnOlderVersionByAnEvent_keepsTheNewerOne() {
        bringTo(WatchRow.LIVE);
        server.watch().upsert(Secrets.of(DB, "v0"), "9");

        assertThat(served()).isEqualTo("v1");
    }

    @Test
    void heardOfAnOlderVersionByAList_believesIt() {
        bringTo(WatchRow.BROKEN_LISTING);
        hear(WatchRow.BROKEN_LISTING, "v0", "9");

        assertThat(served()).isEqualTo("v0");
    }

    // the column: watch accepted

    @ParameterizedTest
    @CsvSource({
        "OPENING_LISTED,   v1, 1",
        "LIVE,             v1, 0",
        "BROKEN,           v1, 1",
        "BROKEN_LISTING,   v1, 1",
        "RENEWING_LISTED,  v1, 1",
        "REOPENING_LISTED, v1, 1"
    })
    void accepted_isLive(WatchRow row, String served, int reports) {
        bringTo(row);
        if (row.isListing()) {
            hear(row, "v1", "10");
        }
        reported.clear();
        accept(row);

        assertThat(state()).isEqualTo(WatchState.LIVE);
        assertThat(served()).isEqualTo(served);
        assertThat(entry.state().lastFailure()).isNull();
        assertThat(reported).as("the sync").hasSize(reports);
    }

    @ParameterizedTest
    @EnumSource(names = {"OPENING", "REOPENING"})
    void accepted_publishesWhatWasKeptAsideMeanwhile(WatchRow row) {
        bringTo(row);
        hear(row, "v2");
        accept(row);

        assertThat(served()).isEqualTo("v2");
        assertThat(content(entry.answerAfterTimeout())).isEqualTo("v2");
    }

    // the column: an attempt fails

    @ParameterizedTest
    @CsvSource({
        "OPENING,          OPENING, nothing",
        "OPENING_LISTED,   OPENING, nothing",
        "LIVE,             BROKEN,  v1",
        "BROKEN,           BROKEN,  v1",
        "BROKEN_LISTING,   BROKEN,  v1",
        "RENEWING,         RENEWING, nothing",
        "RENEWING_LISTED,  RENEWING, nothing",
        "REOPENING,        BROKEN,  v1",
        "REOPENING_LISTED, BROKEN,  v1",
        "EVICTED,          OPENING, nothing"
    })
    void failed_saysWhyAndServesWhatIsKnown(WatchRow row, WatchState next, String served) {
        bringTo(row);
        ApiServerException failure = failure(FailureReason.UNAVAILABLE, 503);
        fail(row, failure);

        assertThat(state()).isEqualTo(next);
        assertThat(served()).isEqualTo(served);
        assertThat(entry.state().lastFailure()).isSameAs(failure);
        assertThat(entry.state().lastFailure()).isSameAs(failure);
    }

    @Test
    void failed_reopenedAndListed_publishesTheNewerOne() {
        bringTo(WatchRow.REOPENING);
        hear(WatchRow.REOPENING, "v2");
        fail(WatchRow.REOPENING_LISTED, failure(FailureReason.UNAVAILABLE, 503));

        assertThat(state()).isEqualTo(WatchState.BROKEN);
        assertThat(served()).isEqualTo("v2");
    }

    @Test
    @ExpectedWarnings("watch of Secret default/db failed; retrying: the server answered 503")
    void failed_first_isWarnedOf() {
        bringTo(WatchRow.OPENING);
        fail(WatchRow.OPENING, failure(FailureReason.UNAVAILABLE, 503));
    }

    @ParameterizedTest
    @EnumSource(names = {"OPENING", "OPENING_LISTED", "LIVE", "BROKEN", "REOPENING", "REOPENING_LISTED", "EVICTED"})
    void failed_isTriedAgain(WatchRow row) {
        bringTo(row);
        int before = server.lists() + server.watches();
        fail(row, failure(FailureReason.UNAVAILABLE, 503));
        // in the row BROKEN it is the second failure: twice as long, and spread by up to 5 ms from the first
        time.advance(SURELY_REPEATED.multipliedBy(2).plusMillis(5));

        assertThat(server.lists() + server.watches()).isEqualTo(before + 1);
    }
}
