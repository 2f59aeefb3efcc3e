package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.FailureReason;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The state table in {@link WatchState}: evictions, and what follows them. */
class WatchEvictionTest extends WatchEntryFixture {

    @ParameterizedTest
    @CsvSource({
        "OPENING,          OPENING",
        "OPENING_LISTED,   OPENING",
        "LIVE,             EVICTED",
        "BROKEN,           OPENING",
        "BROKEN_LISTING,   OPENING",
        "RENEWING,         OPENING",
        "RENEWING_LISTED,  OPENING",
        "IDLE,             IDLE,    0",
        "REOPENING,        OPENING",
        "REOPENING_LISTED, OPENING",
        "UNWATCHED,        EVICTED",
        "EVICTED,          EVICTED",
        "DROPPED,          DROPPED"
    })
    void evicted(WatchRow row, WatchState next) {
        bringTo(row);
        int requests = server.lists() + server.watches();
        long watches = server.openWatches();
        entry.evict();

        assertThat(state()).isEqualTo(next);
        assertThat(entry.held()).isNull();
        assertThat(content(entry.answerAfterTimeout())).isEqualTo("nothing");
        assertThat(server.lists() + server.watches()).as("requests").isEqualTo(requests);
        assertThat(server.openWatches()).as("open watches").isEqualTo(watches);
    }

    @ParameterizedTest
    @EnumSource(names = {"LIVE", "IDLE", "UNWATCHED"})
    void get_afterAnEviction_isAnsweredByANewList(WatchRow row) {
        bringTo(row);
        entry.evict();
        int lists = server.lists();
        CompletableFuture<@Nullable Answer<Secret>> change =
                Objects.requireNonNull(entry.lookup().change());
        assertThat(server.lists()).isEqualTo(lists + 1);
        hear(WatchRow.OPENING, "v2", "20");
        accept(WatchRow.OPENING_LISTED);

        assertThat(content(change.join())).isEqualTo("v2");
        assertThat(state()).isEqualTo(WatchState.LIVE);
        assertThat(server.openWatches()).isEqualTo(1);
    }

    @Test
    void newReference_toAnEvictedObjectWithoutAWatch_opensOne() {
        bringTo(WatchRow.UNWATCHED);
        entry.evict();
        assertThat(server.openWatches()).isZero();
        int lists = server.lists();
        entry.addReference(OTHER_POD);

        assertThat(state()).isEqualTo(WatchState.OPENING);
        assertThat(server.lists()).isEqualTo(lists + 1);
    }

    @Test
    void listedAndEvictedBeforeTheWatchIsAccepted_isHandedToTheGetThatWaits() {
        bringTo(WatchRow.EVICTED);
        CompletableFuture<@Nullable Answer<Secret>> change =
                Objects.requireNonNull(entry.lookup().change());
        hear(WatchRow.OPENING, "v2", "20");
        entry.evict();

        assertThat(content(change.join())).isEqualTo("v2");
        assertThat(entry.held()).isNull();
        accept(WatchRow.OPENING_LISTED);
        assertThat(state()).isEqualTo(WatchState.EVICTED);
    }

    @Test
    void listedAndEvictedWhileTheWatchIsRefused_isNotHandedOver() {
        bringTo(WatchRow.EVICTED);
        entry.lookup();
        hear(WatchRow.OPENING, "v2", "20");
        fail(WatchRow.OPENING_LISTED, failure(FailureReason.UNAVAILABLE, 503));
        WatchLookup<Secret> lookup = entry.lookup();
        entry.evict();

        assertThat(Objects.requireNonNull(lookup.change()).join())
                .as("look again")
                .isNull();
        assertThat(state()).isEqualTo(WatchState.OPENING);
    }

    @Test
    void broken_evictedAndResumed_isEvicted() {
        bringTo(WatchRow.BROKEN);
        entry.evict();
        accept(WatchRow.BROKEN);

        assertThat(state()).isEqualTo(WatchState.EVICTED);
        assertThat(entry.state().lastFailure()).isNull();
    }

    @Test
    void broken_evictedAndListed_isLiveAgain() {
        bringTo(WatchRow.BROKEN_LISTING);
        entry.evict();
        hear(WatchRow.BROKEN_LISTING, "v2", "20");
        accept(WatchRow.OPENING_LISTED);

        assertThat(state()).isEqualTo(WatchState.LIVE);
        assertThat(served()).isEqualTo("v2");
    }

    @Test
    void eventOfAnImmutableObject_afterAnEviction_endsTheWatch() {
        bringTo(WatchRow.EVICTED);
        hear(WatchRow.EVICTED, Secrets.immutable(DB, "v2"), "20");

        assertThat(state()).isEqualTo(WatchState.UNWATCHED);
        assertThat(served()).isEqualTo("v2");
        assertThat(server.openWatches()).isZero();
    }

    @Test
    void evictionIsCounted_andIsNoStaleness() {
        bringTo(WatchRow.LIVE);
        entry.evict();

        assertThat(store.changes().evictions()).isOne();
        assertThat(Objects.requireNonNull(entry.known()).stale()).isFalse();
        entry.lookup();
        assertThat(Objects.requireNonNull(entry.known()).stale())
                .as("read again")
                .isFalse();
        fail(WatchRow.OPENING, failure(FailureReason.UNAVAILABLE, 503));
        assertThat(Objects.requireNonNull(entry.known()).stale()).as("lost").isTrue();
    }
}
