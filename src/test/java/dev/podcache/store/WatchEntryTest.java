package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableMap;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Phase;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ManualListerWatcher;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The state table in {@link WatchEntry}, cell by cell: no store, and a server that answers by hand, call by call. */
@ExtendWith(NoLeaks.class)
class WatchEntryTest {

    private static final Duration SURELY_REPEATED = Duration.ofMillis(200);
    private static final Duration MILLI = Duration.ofMillis(1);
    private static final ImmutableMap<String, WatchState> STATES = ImmutableMap.<String, WatchState>builder()
            .put("watch being opened", WatchState.OPENING)
            .put("watched", WatchState.LIVE)
            .put("watch lost, being opened again", WatchState.BROKEN)
            .put("watch closed because nobody reads the object, opened again by the next get", WatchState.IDLE)
            .put("watch being opened again", WatchState.REOPENING)
            .put("immutable, needs no watch", WatchState.IMMUTABLE)
            .put("not referred to", WatchState.DROPPED)
            .buildOrThrow();

    private final List<String> told = new ArrayList<>();
    private final ManualTimekeeper time = new ManualTimekeeper();
    private final ManualListerWatcher<Secret> server = new ManualListerWatcher<>();
    private Runnable whenChanged = () -> {};
    private final WatchEntry<Secret> entry = entry(DB);

    /** The rows, and within a row what the server is asked for just then. */
    private enum Row {
        OPENING,
        OPENING_LISTED,
        LIVE,
        BROKEN,
        BROKEN_LISTING,
        IDLE,
        REOPENING,
        REOPENING_LISTED,
        IMMUTABLE,
        DROPPED;

        boolean isListing() {
            return this == OPENING || this == BROKEN_LISTING || this == REOPENING;
        }
    }

    private final class Recorder implements PodcacheMetrics {

        @Override
        public void changed(ObjectKind<?> kind, ObjectKey key, Phase from, Phase to, String cause) {
            told.add(from + " to " + to + ": " + cause);
            whenChanged.run();
        }

        @Override
        public void watchFailed(ObjectKind<?> kind, ObjectKey key, FailureReason failure) {
            told.add(kind + " " + key + " failed: " + failure);
        }

        @Override
        public void watchSynced(ObjectKind<?> kind, ObjectKey key, Duration took) {
            told.add(kind + " " + key + " synced after " + took.toMillis() + " ms");
        }
    }

    @BeforeEach
    void allowWarnings(NoLeaks leaks) {
        leaks.allowWarnings("trying on");
    }

    // the column: the answer

    @ParameterizedTest
    @CsvSource({
        "OPENING,          nothing, nothing",
        "OPENING_LISTED,   nothing, nothing",
        "LIVE,             v1,      v1",
        "BROKEN,           v1,      v1",
        "BROKEN_LISTING,   v1,      v1",
        "IDLE,             nothing, nothing",
        "REOPENING,        nothing, v1",
        "REOPENING_LISTED, nothing, v1",
        "IMMUTABLE,        v1,      v1",
        "DROPPED,          nothing, nothing"
    })
    void answer(Row row, String served, String afterTheWait) {
        bringTo(row);

        assertThat(served()).isEqualTo(served);
        assertThat(content(entry.fallback())).isEqualTo(afterTheWait);
    }

    @ParameterizedTest
    @CsvSource({
        "OPENING,          OPENING,   nothing",
        "OPENING_LISTED,   OPENING,   nothing",
        "LIVE,             LIVE,      v1",
        "BROKEN,           BROKEN,    v1",
        "IDLE,             REOPENING, nothing",
        "REOPENING,        REOPENING, nothing",
        "IMMUTABLE,        IMMUTABLE, v1"
    })
    void get(Row row, WatchState next, String answer) {
        bringTo(row);
        WatchEntry.Turn<Secret> turn = entry.turn();

        assertThat(state()).isEqualTo(next);
        assertThat(content(turn.answer())).isEqualTo(answer);
        assertThat(turn.dropped()).isFalse();
        assertThat(turn.failure()).isSameAs(entry.lastFailure());
    }

    @Test
    void get_dropped_looksAgain() {
        bringTo(Row.DROPPED);

        assertThat(entry.turn().dropped()).isTrue();
    }

    @Test
    void get_idle_listsOnce() {
        bringTo(Row.IDLE);
        entry.turn();
        entry.turn();

        assertThat(server.lists()).isEqualTo(2);
    }

    // the column: a list, or an event

    @ParameterizedTest
    @CsvSource({
        "OPENING,          OPENING,   nothing, nothing",
        "OPENING_LISTED,   OPENING,   nothing, nothing",
        "LIVE,             LIVE,      v2,      v2",
        "BROKEN,           BROKEN,    v2,      v2",
        "BROKEN_LISTING,   BROKEN,    v2,      v2",
        "REOPENING,        REOPENING, nothing, v2",
        "REOPENING_LISTED, REOPENING, nothing, v2"
    })
    void heard(Row row, WatchState next, String served, String afterTheWait) {
        bringTo(row);
        hear(row, "v2");

        assertThat(state()).isEqualTo(next);
        assertThat(served()).isEqualTo(served);
        assertThat(content(entry.fallback())).isEqualTo(afterTheWait);
    }

    @ParameterizedTest
    @CsvSource({
        "OPENING,          nothing",
        "OPENING_LISTED,   nothing",
        "LIVE,             absence",
        "BROKEN,           absence",
        "BROKEN_LISTING,   absence",
        "REOPENING,        nothing",
        "REOPENING_LISTED, nothing"
    })
    void heardOfAbsence(Row row, String served) {
        bringTo(row);
        hearOfAbsence(row);

        assertThat(served()).isEqualTo(served);
        accept(row);
        assertThat(served()).isEqualTo("absence");
    }

    @ParameterizedTest
    @EnumSource(
            names = {"IDLE", "IMMUTABLE", "DROPPED"},
            mode = EnumSource.Mode.EXCLUDE)
    void heardOfAnImmutableObject_isServedAtOnceAndNoLongerWatched(Row row) {
        bringTo(row);
        hear(row, Secrets.immutable(DB, "v2"), "v2");

        assertThat(state()).isEqualTo(WatchState.IMMUTABLE);
        assertThat(served()).isEqualTo("v2");
        assertThat(server.openWatches()).isZero();
        assertThat(entry.lastFailure()).isNull();
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void heardOfTheSameVersionAgain_keepsTheSharedInstance() {
        bringTo(Row.LIVE);
        Secret shared = entry.ifKnown();
        server.watch().upsert(Secrets.of(DB, "v1"), "10");

        assertThat(entry.ifKnown()).isNotNull().isSameAs(shared);
    }

    @Test
    void heardOfTheSameVersionAgainAfterAPause_keepsTheSharedInstance() {
        bringTo(Row.LIVE);
        Secret shared = entry.ifKnown();
        leaveUnread();
        entry.turn();
        hear(Row.REOPENING, "v1", "10");
        accept(Row.REOPENING_LISTED);

        assertThat(entry.ifKnown()).isNotNull().isSameAs(shared);
    }

    @Test
    void heardOfAnOlderVersionByAnEvent_keepsTheNewerOne() {
        bringTo(Row.LIVE);
        server.watch().upsert(Secrets.of(DB, "v0"), "9");

        assertThat(served()).isEqualTo("v1");
    }

    @Test
    void heardOfAnOlderVersionByAList_believesIt() {
        bringTo(Row.BROKEN_LISTING);
        hear(Row.BROKEN_LISTING, "v0", "9");

        assertThat(served()).isEqualTo("v0");
    }

    // the column: watch accepted

    @ParameterizedTest
    @CsvSource({
        "OPENING_LISTED,   v1, 2",
        "LIVE,             v1, 0",
        "BROKEN,           v1, 1",
        "BROKEN_LISTING,   v1, 1",
        "REOPENING_LISTED, v1, 2"
    })
    void accepted_isLive(Row row, String served, int tellings) {
        bringTo(row);
        if (row.isListing()) {
            hear(row, "v1", "10");
        }
        told.clear();
        accept(row);

        assertThat(state()).isEqualTo(WatchState.LIVE);
        assertThat(served()).isEqualTo(served);
        assertThat(entry.lastFailure()).isNull();
        assertThat(told).as("the change, if one, and the sync").hasSize(tellings);
    }

    @ParameterizedTest
    @EnumSource(names = {"OPENING", "REOPENING"})
    void accepted_publishesWhatWasKeptAsideMeanwhile(Row row) {
        bringTo(row);
        hear(row, "v2");
        accept(row);

        assertThat(served()).isEqualTo("v2");
        assertThat(content(entry.fallback())).isEqualTo("v2");
    }

    // the column: an attempt fails

    @ParameterizedTest
    @CsvSource({
        "OPENING,          OPENING, nothing",
        "OPENING_LISTED,   OPENING, nothing",
        "LIVE,             BROKEN,  v1",
        "BROKEN,           BROKEN,  v1",
        "BROKEN_LISTING,   BROKEN,  v1",
        "REOPENING,        BROKEN,  v1",
        "REOPENING_LISTED, BROKEN,  v1"
    })
    void failed_saysWhyAndServesWhatIsKnown(Row row, WatchState next, String served) {
        bringTo(row);
        ApiServerException failure = failure(FailureReason.UNAVAILABLE, 503);
        fail(row, failure);

        assertThat(state()).isEqualTo(next);
        assertThat(served()).isEqualTo(served);
        assertThat(entry.lastFailure()).isSameAs(failure);
        assertThat(entry.state().lastFailure()).isSameAs(failure);
    }

    @Test
    void failed_reopenedAndListed_publishesTheNewerOne() {
        bringTo(Row.REOPENING);
        hear(Row.REOPENING, "v2");
        fail(Row.REOPENING_LISTED, failure(FailureReason.UNAVAILABLE, 503));

        assertThat(state()).isEqualTo(WatchState.BROKEN);
        assertThat(served()).isEqualTo("v2");
    }

    @Test
    @ExpectedWarnings("the watch of Secret default/db failed, trying on: the server answered 503")
    void failed_first_isWarnedOf() {
        bringTo(Row.OPENING);
        fail(Row.OPENING, failure(FailureReason.UNAVAILABLE, 503));
    }

    @ParameterizedTest
    @EnumSource(names = {"OPENING", "OPENING_LISTED", "LIVE", "BROKEN", "REOPENING", "REOPENING_LISTED"})
    void failed_isTriedAgain(Row row) {
        bringTo(row);
        int before = server.lists() + server.watches();
        fail(row, failure(FailureReason.UNAVAILABLE, 503));
        // twice as long: in the row BROKEN it is the second failure
        time.advance(SURELY_REPEATED.multipliedBy(2));

        assertThat(server.lists() + server.watches()).isEqualTo(before + 1);
    }

    // the column: not read

    @ParameterizedTest
    @CsvSource({
        "OPENING,          OPENING",
        "OPENING_LISTED,   OPENING",
        "LIVE,             IDLE",
        "BROKEN,           BROKEN",
        "REOPENING,        REOPENING",
        "REOPENING_LISTED, REOPENING",
        "IMMUTABLE,        IMMUTABLE"
    })
    void notRead(Row row, WatchState next) {
        bringTo(row);
        leaveUnread();

        assertThat(state()).isEqualTo(next);
    }

    @Test
    void notRead_closesTheWatchAndKeepsTheAnswerAside() {
        bringTo(Row.LIVE);
        leaveUnread();

        assertThat(server.watch().closed()).isTrue();
        assertThat(served()).isEqualTo("nothing");
        assertThat(entry.state().resourceVersion()).isEqualTo("10");
    }

    @Test
    void readBetweenTwoSweeps_staysLive() {
        bringTo(Row.LIVE);
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
        bringTo(Row.OPENING_LISTED);
        leaveUnread();
        accept(Row.OPENING_LISTED);
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
        "BROKEN,           BROKEN,  v1,      0",
        "BROKEN_LISTING,   BROKEN,  v1,      0",
        "IDLE,             OPENING, nothing, 1",
        "REOPENING,        OPENING, nothing, 1",
        "REOPENING_LISTED, OPENING, nothing, 1",
        "IMMUTABLE,        OPENING, nothing, 1"
    })
    void newReference_joinsOrForgets(Row row, WatchState next, String served, int newLists) {
        bringTo(row);
        int lists = server.lists();
        long watches = server.openWatches();
        assertThat(entry.addReference(OTHER_POD)).isTrue();

        assertThat(state()).isEqualTo(next);
        assertThat(served()).isEqualTo(served);
        assertThat(server.lists()).isEqualTo(lists + newLists);
        assertThat(server.openWatches()).isEqualTo(newLists > 0 ? 0 : watches);
        assertThat(entry.state().references()).isEqualTo(2);
    }

    @ParameterizedTest
    @EnumSource(names = {"IDLE", "REOPENING", "REOPENING_LISTED", "IMMUTABLE"})
    void newReferenceThatForgets_isAnsweredByAListOfItsOwn(Row row) {
        bringTo(row);
        entry.addReference(OTHER_POD);
        hear(Row.OPENING, "v2");
        accept(Row.OPENING_LISTED);

        assertThat(state()).isEqualTo(WatchState.LIVE);
        assertThat(served()).isEqualTo("v2");
    }

    @Test
    void newReferenceThatForgets_doesNotFallBackToWhatWasKnown() {
        bringTo(Row.IDLE);
        entry.addReference(OTHER_POD);
        fail(Row.OPENING, failure(FailureReason.UNAVAILABLE, 503));

        assertThat(served()).isEqualTo("nothing");
        assertThat(entry.fallback()).isNull();
    }

    @Test
    void newReferenceToADroppedEntry_isRefused() {
        bringTo(Row.DROPPED);

        assertThat(entry.addReference(OTHER_POD)).isFalse();
        assertThat(server.lists()).isEqualTo(1);
    }

    // the end

    @ParameterizedTest
    @EnumSource(names = "DROPPED", mode = EnumSource.Mode.EXCLUDE)
    void lastReferenceGone_endsTheWatch(Row row) {
        bringTo(row);
        entry.deleteReference(POD);

        assertThat(entry.state())
                .isEqualTo(new ObjectState(Phase.UNREAD, "", null, entry.lastFailure(), 0, "not referred to"));
        assertThat(server.openWatches()).isZero();
        assertThat(time.scheduledTasks()).isZero();
    }

    @Test
    void lastReferenceGone_anAnswerThatComesAllTheSame_isNotTaken() {
        bringTo(Row.OPENING);
        entry.deleteReference(POD);
        hear(Row.OPENING, "v1");

        assertThat(state()).isEqualTo(WatchState.DROPPED);
        assertThat(server.watches()).isZero();
    }

    /** The reflector of a watch that ended is closed when the lock is free; until then it may call. */
    @Test
    void watchThatEndedAMomentAgo_isNotListenedTo() {
        bringTo(Row.LIVE);
        ManualListerWatcher.Watch<Secret> ended = server.watch();
        whenChanged = () -> {
            whenChanged = () -> {};
            ended.upsert(Secrets.of(DB, "late"), "99");
            ended.open();
            ended.end(failure(FailureReason.UNAVAILABLE, 503));
        };
        leaveUnread();

        assertThat(state()).isEqualTo(WatchState.IDLE);
        assertThat(served()).isEqualTo("nothing");
        assertThat(entry.lastFailure()).isNull();
        assertThat(entry.state().resourceVersion()).isEqualTo("10");
    }

    @Test
    void illegalName_isNeverAskedFor() {
        WatchEntry<Secret> illegal = entry(ObjectKey.of("default", "a,metadata.name=b"));
        illegal.addReference(POD);

        assertThat(server.lists()).isZero();
    }

    // those who wait

    @ParameterizedTest
    @CsvSource({
        "OPENING,          false, false",
        "OPENING_LISTED,   false, true",
        "LIVE,             true,  false",
        "BROKEN,           false, true",
        "REOPENING,        true,  false",
        "REOPENING_LISTED, true,  true"
    })
    void waiting_isOverAtAChangeOfState(Row row, boolean byAFailure, boolean byAcceptance) {
        bringTo(row);
        CompletableFuture<Void> change = entry.turn().change();
        assertThat(entry.turn().change()).isSameAs(change);

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
        bringTo(Row.OPENING);
        CompletableFuture<Void> change = entry.turn().change();
        entry.deleteReference(POD);

        assertThat(change).isCompleted();
        assertThat(entry.turn().change()).isNotSameAs(change);
    }

    @Test
    void waiting_whoIsWokenHoldsNoLock() {
        bringTo(Row.OPENING_LISTED);
        List<Boolean> locked = new ArrayList<>();
        entry.turn().change().thenRun(() -> locked.add(Thread.holdsLock(entry)));
        whenChanged = () -> locked.add(Thread.holdsLock(entry));
        accept(Row.OPENING_LISTED);

        assertThat(locked).containsExactly(false, false);
    }

    // what is told

    @Test
    void told_fromTheFirstListToTheEnd() {
        bringTo(Row.OPENING);
        time.advance(MILLI);
        hear(Row.OPENING, "v1", "10");
        time.advance(MILLI);
        accept(Row.OPENING_LISTED);
        hear(Row.LIVE, "v2");
        fail(Row.LIVE, failure(FailureReason.UNAVAILABLE, 503));
        time.advance(SURELY_REPEATED);
        accept(Row.BROKEN);
        leaveUnread();
        entry.turn();
        time.advance(MILLI);
        hear(Row.REOPENING, Secrets.immutable(DB, "v3"), "12");
        entry.deleteReference(POD);

        assertThat(told)
                .containsExactly(
                        "UNREAD to FRESH: watched",
                        "Secret default/db synced after 2 ms",
                        "FRESH to FRESH: watched",
                        "Secret default/db failed: UNAVAILABLE",
                        "Secret default/db synced after 200 ms",
                        "FRESH to UNREAD: idle",
                        "UNREAD to FRESH: watched",
                        "Secret default/db synced after 1 ms",
                        "FRESH to UNREAD: dropped");
    }

    @Test
    void told_failureWhileReopening_bringsTheAnswerBack() {
        bringTo(Row.REOPENING);
        told.clear();
        fail(Row.REOPENING, failure(FailureReason.UNAVAILABLE, 503));

        assertThat(told).containsExactly("UNREAD to FRESH: watched", "Secret default/db failed: UNAVAILABLE");
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
        "IMMUTABLE,        FRESH,      10, 1",
        "DROPPED,          UNREAD,     '', -1"
    })
    void state_aMilliLater(Row row, Phase phase, String version, long ageMillis) {
        bringTo(row);
        time.advance(MILLI);
        ObjectState state = entry.state();

        assertThat(state.phase()).isEqualTo(phase);
        assertThat(state.resourceVersion()).isEqualTo(version);
        assertThat(state.age()).isEqualTo(ageMillis < 0 ? null : Duration.ofMillis(ageMillis));
    }

    @Test
    void state_watchedNoLonger_isAsOldAsTheEndOfItsWatch() {
        bringTo(Row.LIVE);
        time.advance(MILLI.multipliedBy(5));
        leaveUnread();
        time.advance(MILLI);
        entry.turn();
        time.advance(MILLI);
        assertThat(entry.state().age()).isEqualTo(Duration.ofMillis(2));

        fail(Row.REOPENING, failure(FailureReason.UNAVAILABLE, 503));
        assertThat(entry.state().age()).isEqualTo(Duration.ofMillis(2));
    }

    @Test
    void state_listedWhileBroken_isAsOldAsTheList() {
        bringTo(Row.BROKEN_LISTING);
        time.advance(MILLI);
        hear(Row.BROKEN_LISTING, "v2");
        time.advance(MILLI.multipliedBy(5));

        assertThat(entry.state().age()).isEqualTo(Duration.ofMillis(5));
    }

    @ParameterizedTest
    @EnumSource(names = {"LIVE", "BROKEN", "IDLE", "REOPENING"})
    void state_absence(Row row) {
        bringTo(Row.OPENING);
        hearOfAbsence(Row.OPENING);
        accept(Row.OPENING_LISTED);
        onFromLive(row);

        assertThat(entry.state().phase()).isEqualTo(Phase.ABSENT);
    }

    private void bringTo(Row row) {
        entry.addReference(POD);
        switch (row) {
            case OPENING -> {}
            case OPENING_LISTED -> hear(Row.OPENING, "v1", "10");
            case IMMUTABLE -> hear(Row.OPENING, Secrets.immutable(DB, "v1"), "10");
            default -> {
                hear(Row.OPENING, "v1", "10");
                accept(Row.OPENING_LISTED);
                onFromLive(row);
            }
        }
    }

    private void onFromLive(Row row) {
        switch (row) {
            case BROKEN -> {
                fail(Row.LIVE, failure(FailureReason.UNAVAILABLE, 503));
                time.advance(SURELY_REPEATED);
            }
            case BROKEN_LISTING -> fail(Row.LIVE, failure(FailureReason.EXPIRED, 410));
            case IDLE -> leaveUnread();
            case REOPENING -> {
                leaveUnread();
                entry.turn();
            }
            case REOPENING_LISTED -> {
                onFromLive(Row.REOPENING);
                hear(Row.REOPENING, "v1", "10");
            }
            case DROPPED -> entry.deleteReference(POD);
            default -> {}
        }
    }

    private void hear(Row row, String value) {
        hear(row, value, "11");
    }

    private void hear(Row row, String value, String version) {
        hear(row, Secrets.of(DB, value), version);
    }

    /** The server says so, by a list if it is asked for one, else by an event. */
    private void hear(Row row, Secret secret, String version) {
        if (row.isListing()) {
            server.answer(version, List.of(new Fetched<>(secret, version, 1)));
        } else {
            server.watch().upsert(secret, version);
        }
    }

    private void hearOfAbsence(Row row) {
        if (row.isListing()) {
            server.answer("11", List.of());
        } else {
            server.watch().delete(Secrets.of(DB, "gone"), "11");
        }
    }

    private void accept(Row row) {
        assertThat(server.watches()).as("watches in the row %s", row).isPositive();
        server.watch().open();
    }

    private void fail(Row row, ApiServerException failure) {
        if (row.isListing()) {
            server.fail(failure);
        } else {
            server.watch().end(failure);
        }
    }

    /** The first sweep sees the read, or the sync, before it; two see none. */
    private void leaveUnread() {
        entry.sweep();
        entry.sweep();
        entry.sweep();
    }

    private WatchState state() {
        return Objects.requireNonNull(STATES.get(entry.state().freshness()));
    }

    private String served() {
        Secret known = entry.ifKnown();
        return known == null ? content(entry.answer()) : Secrets.value(known);
    }

    private static String content(@Nullable Answer<Secret> answer) {
        if (answer == null) {
            return "nothing";
        }
        return answer instanceof Answer.Present<Secret> present ? Secrets.value(present.object) : "absence";
    }

    private static ApiServerException failure(FailureReason reason, int code) {
        return new ApiServerException(reason, code, null, "the server answered " + code, null);
    }

    private WatchEntry<Secret> entry(ObjectKey key) {
        StoreOptions options =
                new StoreOptions(time, Duration.ofSeconds(10), PayloadBudget.unlimited(time), new Recorder());
        return new WatchEntry<>(
                key,
                new Transitions<>(ObjectKind.SECRET, options),
                new Watches<>(ObjectKind.SECRET, any -> server, options));
    }
}
