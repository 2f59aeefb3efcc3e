package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.ManualListerWatcher;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The state table in {@link WatchEntry}, cell by cell: what its users do. */
class WatchEntryTest extends WatchEntryFixture {

    // the column: the answer

    @ParameterizedTest
    @CsvSource({
        "OPENING,          nothing, nothing",
        "OPENING_LISTED,   nothing, nothing",
        "LIVE,             v1,      v1",
        "BROKEN,           v1,      v1",
        "BROKEN_LISTING,   v1,      v1",
        "RENEWING,         nothing, v1",
        "RENEWING_LISTED,  nothing, v1",
        "IDLE,             nothing, nothing",
        "REOPENING,        nothing, v1",
        "REOPENING_LISTED, nothing, v1",
        "UNWATCHED,        v1,      v1",
        "EVICTED,          nothing, nothing",
        "DROPPED,          nothing, nothing"
    })
    void answer(WatchRow row, String served, String afterTheWait) {
        bringTo(row);

        assertThat(served()).isEqualTo(served);
        assertThat(content(entry.answerAfterTimeout())).isEqualTo(afterTheWait);
    }

    @ParameterizedTest
    @CsvSource({
        "OPENING,          OPENING,   nothing",
        "OPENING_LISTED,   OPENING,   nothing",
        "LIVE,             LIVE,      v1",
        "BROKEN,           BROKEN,    v1",
        "RENEWING,         RENEWING,  nothing",
        "IDLE,             REOPENING, nothing",
        "REOPENING,        REOPENING, nothing",
        "UNWATCHED,        UNWATCHED, v1",
        "EVICTED,          OPENING,   nothing"
    })
    void get(WatchRow row, WatchState next, String answer) {
        bringTo(row);
        WatchLookup<Secret> lookup = entry.lookup();

        assertThat(state()).isEqualTo(next);
        assertThat(content(lookup.answer())).isEqualTo(answer);
        assertThat(lookup.dropped()).isFalse();
        assertThat(lookup.failure()).isSameAs(entry.state().lastFailure());
    }

    @Test
    void get_dropped_looksAgain() {
        bringTo(WatchRow.DROPPED);

        assertThat(entry.lookup().dropped()).isTrue();
    }

    @Test
    void get_idle_listsOnce() {
        bringTo(WatchRow.IDLE);
        entry.lookup();
        entry.lookup();

        assertThat(server.lists()).isEqualTo(2);
    }

    // the column: not read

    @ParameterizedTest
    @CsvSource({
        "OPENING,          OPENING",
        "OPENING_LISTED,   OPENING",
        "LIVE,             IDLE",
        "BROKEN,           BROKEN",
        "RENEWING,         RENEWING",
        "REOPENING,        REOPENING",
        "REOPENING_LISTED, REOPENING",
        "UNWATCHED,        UNWATCHED",
        "EVICTED,          IDLE"
    })
    void notRead(WatchRow row, WatchState next) {
        bringTo(row);
        leaveUnread();

        assertThat(state()).isEqualTo(next);
    }

    @Test
    void notRead_closesTheWatchAndKeepsTheAnswerAside() {
        bringTo(WatchRow.LIVE);
        leaveUnread();

        assertThat(server.watch().closed()).isTrue();
        assertThat(served()).isEqualTo("nothing");
        assertThat(entry.state().resourceVersion()).isEqualTo("10");
    }

    @Test
    void readBetweenTwoSweeps_staysLive() {
        bringTo(WatchRow.LIVE);
        for (int i = 0; i < 5; i++) {
            entry.sweep();
            entry.sweep();
            entry.ifKnown();
        }

        assertThat(state()).isEqualTo(WatchState.LIVE);
    }

    /** A sync counts as a read: the get that waited for it may not have come back yet. */
    @Test
    void justSynced_needsThreeSweeps() {
        bringTo(WatchRow.OPENING_LISTED);
        leaveUnread();
        accept(WatchRow.OPENING_LISTED);
        entry.sweep();
        entry.sweep();
        assertThat(state()).isEqualTo(WatchState.LIVE);

        entry.sweep();
        assertThat(state()).isEqualTo(WatchState.IDLE);
    }

    // the column: a new reference

    @ParameterizedTest
    @CsvSource({
        "OPENING,          OPENING, nothing, 0",
        "OPENING_LISTED,   OPENING, nothing, 0",
        "LIVE,             LIVE,    v1,      0",
        "BROKEN,           RENEWING, nothing, 1",
        "BROKEN_LISTING,   RENEWING, nothing, 1",
        "RENEWING,         RENEWING, nothing, 0",
        "IDLE,             OPENING, nothing, 1",
        "REOPENING,        OPENING, nothing, 1",
        "REOPENING_LISTED, OPENING, nothing, 1",
        "UNWATCHED,        OPENING, nothing, 1",
        "EVICTED,          EVICTED, nothing, 0"
    })
    void newReference_joinsOrForgets(WatchRow row, WatchState next, String served, int newLists) {
        bringTo(row);
        int lists = server.lists();
        long watches = server.openWatches();
        assertThat(entry.addReference(OTHER_POD)).isTrue();

        assertThat(state()).isEqualTo(next);
        assertThat(served()).isEqualTo(served);
        assertThat(server.lists()).isEqualTo(lists + newLists);
        assertThat(server.openWatches()).isEqualTo(newLists > 0 ? 0 : watches);
        assertThat(entry.state().references()).isGreaterThanOrEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource(names = {"IDLE", "REOPENING", "REOPENING_LISTED", "UNWATCHED"})
    void newReferenceThatForgets_isAnsweredByAListOfItsOwn(WatchRow row) {
        bringTo(row);
        entry.addReference(OTHER_POD);
        hear(WatchRow.OPENING, "v2");
        accept(WatchRow.OPENING_LISTED);

        assertThat(state()).isEqualTo(WatchState.LIVE);
        assertThat(served()).isEqualTo("v2");
    }

    @Test
    void newReferenceThatForgets_doesNotFallBackToWhatWasKnown() {
        bringTo(WatchRow.IDLE);
        entry.addReference(OTHER_POD);
        fail(WatchRow.OPENING, failure(FailureReason.UNAVAILABLE, 503));

        assertThat(served()).isEqualTo("nothing");
        assertThat(entry.answerAfterTimeout()).isNull();
    }

    @Test
    void newReferenceToADroppedEntry_isRefused() {
        bringTo(WatchRow.DROPPED);

        assertThat(entry.addReference(OTHER_POD)).isFalse();
        assertThat(server.lists()).isEqualTo(1);
    }

    // the end

    @ParameterizedTest
    @EnumSource(
            names = {"DROPPED", "RENEWING", "RENEWING_LISTED"},
            mode = EnumSource.Mode.EXCLUDE)
    void lastReferenceGone_endsTheWatch(WatchRow row) {
        bringTo(row);
        entry.deleteReference(POD);

        assertThat(entry.state())
                .isEqualTo(new ObjectState(
                        CacheState.UNREAD, "", null, entry.state().lastFailure(), 0, "not referenced"));
        assertThat(server.openWatches()).isZero();
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void lastReferenceGone_anAnswerThatComesAllTheSame_isNotTaken() {
        bringTo(WatchRow.OPENING);
        entry.deleteReference(POD);
        hear(WatchRow.OPENING, "v1");

        assertThat(state()).isEqualTo(WatchState.DROPPED);
        assertThat(server.watches()).isZero();
    }

    /** The reflector of a watch that ended is closed when the lock is free; until then it may call. */
    @Test
    void watchThatEndedAMomentAgo_isNotListenedTo() {
        bringTo(WatchRow.LIVE);
        ManualListerWatcher.ManualWatch<Secret> ended = server.watch();
        store.observe(key -> {
            ended.upsert(Secrets.of(DB, "late"), "99");
            ended.open();
            ended.end(failure(FailureReason.UNAVAILABLE, 503));
        });
        entry.deleteReference(POD);

        assertThat(state()).isEqualTo(WatchState.DROPPED);
        assertThat(served()).isEqualTo("nothing");
        assertThat(entry.state().lastFailure()).isNull();
    }

    @Test
    void illegalName_isNeverAskedFor() {
        WatchEntry<Secret> illegal = entry(ObjectKey.of("default", "a,metadata.name=b"));
        illegal.addReference(POD);

        assertThat(server.lists()).isZero();
    }
}
