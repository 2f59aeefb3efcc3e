package dev.podcache.cli.observe;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableSortedMap;
import dev.podcache.cli.output.Event;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class CountsTest {

    private static final ObjectKey DB = ObjectKey.of("shop", "db");

    private final List<Event> told = new ArrayList<>();
    private final WatchNews news = new WatchNews(told::add);
    private final ReadCounter counter = new ReadCounter(new Watched(news));

    @Test
    void hits_readsWithoutAMiss_areCounted() {
        counter.read(ObjectKind.SECRET, DB, true);
        counter.missed(ObjectKind.SECRET, DB, "CACHE");
        counter.read(ObjectKind.SECRET, DB, true);
        counter.read(ObjectKind.SECRET, DB, true);

        assertThat(counter.counts().hits()).isEqualTo(2);
    }

    @Test
    void counts_missOfAReadThatHasNotEnded_isNotCountedYet() {
        counter.missed(ObjectKind.SECRET, DB, "CACHE");
        assertThat(counter.counts()).isEqualTo(Counts.NONE);

        counter.overtaken();
        assertThat(counter.counts()).isEqualTo(new Counts(1, 0, 1, 0, ImmutableSortedMap.of()));
    }

    @Test
    void waited_missesThatWereNotServedStale_areCounted() {
        counter.missed(ObjectKind.SECRET, DB, "CACHE");
        counter.staleServed(ObjectKind.SECRET, DB, "CACHE");
        counter.read(ObjectKind.SECRET, DB, true);
        counter.missed(ObjectKind.SECRET, DB, "CACHE");
        counter.read(ObjectKind.SECRET, DB, true);

        assertThat(counter.counts().waited()).isEqualTo(1);
        assertThat(counter.counts().stale()).isEqualTo(1);
    }

    @Test
    void stale_readsWhileTheWatchIsLost_areCountedAsSuch() {
        counter.watchSynced(ObjectKind.SECRET, DB, Duration.ofMillis(5));
        counter.read(ObjectKind.SECRET, DB, true);
        counter.watchFailed(ObjectKind.SECRET, DB, FailureReason.UNAVAILABLE);
        counter.read(ObjectKind.SECRET, DB, true);
        counter.watchSynced(ObjectKind.SECRET, DB, Duration.ofMillis(5));
        counter.read(ObjectKind.SECRET, DB, true);

        assertThat(counter.counts()).isEqualTo(new Counts(3, 1, 0, 0, ImmutableSortedMap.of()));
    }

    @Test
    void waited_firstSyncOfAWatch_isWaitedFor() {
        counter.missed(ObjectKind.SECRET, DB, "WATCH");
        counter.watchSynced(ObjectKind.SECRET, DB, Duration.ofMillis(5));
        counter.read(ObjectKind.SECRET, DB, true);

        assertThat(counter.counts()).isEqualTo(new Counts(1, 0, 1, 0, ImmutableSortedMap.of()));
    }

    @Test
    void waited_watchKnowsThatTheObjectIsMissing_isNotWaitedFor() {
        counter.watchSynced(ObjectKind.SECRET, DB, Duration.ofMillis(5));
        counter.missed(ObjectKind.SECRET, DB, "WATCH");
        counter.read(ObjectKind.SECRET, DB, false);

        assertThat(counter.counts()).isEqualTo(new Counts(1, 0, 0, 1, ImmutableSortedMap.of()));
    }

    @Test
    void waited_watchClosedBecauseIdle_isWaitedForAgain() {
        counter.watchSynced(ObjectKind.SECRET, DB, Duration.ofMillis(5));
        counter.changed(ObjectKind.SECRET, DB, CacheState.FRESH, CacheState.UNREAD, "idle");
        counter.missed(ObjectKind.SECRET, DB, "WATCH");
        counter.read(ObjectKind.SECRET, DB, true);

        assertThat(counter.counts().waited()).isEqualTo(1);
    }

    @Test
    void discard_getThatMissed_leavesNoTrace() {
        counter.missed(ObjectKind.SECRET, DB, "CACHE");
        counter.discard();
        counter.read(ObjectKind.SECRET, DB, true);

        assertThat(counter.counts()).isEqualTo(new Counts(1, 0, 0, 0, ImmutableSortedMap.of()));
    }

    @AfterEach
    void close() {
        news.close();
    }

    @Test
    void fetches_answersAndFailures_areToldApartByReason() {
        fetched("expired", null);
        fetched("expired", null);
        fetched("absent", FailureReason.NOT_FOUND);
        fetched("expired", FailureReason.UNAVAILABLE);

        assertThat(counter.counts().fetches())
                .containsExactlyEntriesOf(
                        ImmutableSortedMap.of("absent", 1L, "expired", 2L, "expired UNAVAILABLE", 1L));
        assertThat(counter.counts().fetched()).isEqualTo(4);
    }

    @Test
    void since_earlierCounts_isWhatWasAdded() {
        counter.read(ObjectKind.SECRET, DB, true);
        fetched("first read", null);
        Counts before = counter.counts();

        counter.missed(ObjectKind.SECRET, DB, "CACHE");
        counter.read(ObjectKind.SECRET, DB, false);
        fetched("expired", null);

        assertThat(counter.counts().since(before))
                .isEqualTo(new Counts(1, 0, 1, 1, ImmutableSortedMap.of("expired", 1L)));
    }

    @Test
    void fetchesText_noneOneAndMany_readWell() {
        assertThat(counter.counts().fetchesText()).isEqualTo("no fetch");
        fetched("first read", null);
        assertThat(counter.counts().fetchesText()).isEqualTo("1 fetch: first read 1");
        fetched("expired", null);
        assertThat(counter.counts().fetchesText()).isEqualTo("2 fetches: expired 1, first read 1");
    }

    private void fetched(String why, @org.jspecify.annotations.Nullable FailureReason failure) {
        counter.fetched(ObjectKind.SECRET, DB, why, failure, Duration.ofMillis(1));
    }
}
