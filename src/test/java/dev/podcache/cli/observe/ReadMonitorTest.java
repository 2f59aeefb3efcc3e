package dev.podcache.cli.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.cli.config.ObjectId;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReadMonitorTest {

    private static final ObjectKey DB = ObjectKey.of("shop", "db");

    private final ReadMonitor counter = new ReadMonitor(new WatchMonitor());

    @Test
    void hits_readsWithoutAMiss_areCounted() {
        counter.ended(new ObjectId(ObjectKind.SECRET, DB), true);
        counter.missed(ObjectKind.SECRET, DB, "CACHE");
        counter.ended(new ObjectId(ObjectKind.SECRET, DB), true);
        counter.ended(new ObjectId(ObjectKind.SECRET, DB), true);

        assertThat(count(ReadCounts.HITS)).isEqualTo(2);
    }

    @Test
    void counts_missOfAReadThatHasNotEnded_isNotCountedYet() {
        counter.missed(ObjectKind.SECRET, DB, "CACHE");
        assertThat(counter.counts()).isEqualTo(ReadCounts.NONE);

        counter.released();
        assertThat(counter.counts().results()).containsExactlyInAnyOrder("waited");
    }

    @Test
    void waited_missesThatWereNotServedStale_areCounted() {
        counter.missed(ObjectKind.SECRET, DB, "CACHE");
        counter.staleServed(ObjectKind.SECRET, DB, "CACHE");
        counter.ended(new ObjectId(ObjectKind.SECRET, DB), true);
        counter.missed(ObjectKind.SECRET, DB, "CACHE");
        counter.ended(new ObjectId(ObjectKind.SECRET, DB), true);

        assertThat(count(ReadCounts.WAITED)).isEqualTo(1);
        assertThat(count(ReadCounts.STALE)).isEqualTo(1);
    }

    @Test
    void stale_readsWhileTheWatchIsLost_areCountedAsSuch() {
        counter.watchSynced(ObjectKind.SECRET, DB, Duration.ofMillis(5));
        counter.ended(new ObjectId(ObjectKind.SECRET, DB), true);
        counter.watchFailed(ObjectKind.SECRET, DB, FailureReason.UNAVAILABLE);
        counter.ended(new ObjectId(ObjectKind.SECRET, DB), true);
        counter.watchSynced(ObjectKind.SECRET, DB, Duration.ofMillis(5));
        counter.ended(new ObjectId(ObjectKind.SECRET, DB), true);

        assertThat(counter.counts().results()).containsExactlyInAnyOrder("hits", "hits", "staleServed");
    }

    @Test
    void waited_firstSyncOfAWatch_isWaitedFor() {
        counter.missed(ObjectKind.SECRET, DB, "WATCH");
        counter.watchSynced(ObjectKind.SECRET, DB, Duration.ofMillis(5));
        counter.ended(new ObjectId(ObjectKind.SECRET, DB), true);

        assertThat(counter.counts().results()).containsExactlyInAnyOrder("waited");
    }

    @Test
    void waited_watchKnowsThatTheObjectIsMissing_isNotWaitedFor() {
        counter.watchSynced(ObjectKind.SECRET, DB, Duration.ofMillis(5));
        counter.missed(ObjectKind.SECRET, DB, "WATCH");
        counter.ended(new ObjectId(ObjectKind.SECRET, DB), false);

        assertThat(counter.counts().results()).containsExactlyInAnyOrder("hits", "failed");
    }

    @Test
    void waited_watchClosedBecauseIdle_isWaitedForAgain() {
        counter.watchSynced(ObjectKind.SECRET, DB, Duration.ofMillis(5));
        counter.missed(ObjectKind.SECRET, DB, "WATCH");
        counter.ended(new ObjectId(ObjectKind.SECRET, DB), true);

        assertThat(count(ReadCounts.WAITED)).isEqualTo(1);
    }

    @Test
    void discard_getThatMissed_leavesNoTrace() {
        counter.missed(ObjectKind.SECRET, DB, "CACHE");
        counter.discard();
        counter.ended(new ObjectId(ObjectKind.SECRET, DB), true);

        assertThat(counter.counts().results()).containsExactlyInAnyOrder("hits");
    }

    @Test
    void fetches_answersAndFailures_areCountedByReason() {
        fetched("expired", null);
        fetched("expired", null);
        fetched("absent", FailureReason.NOT_FOUND);
        fetched("expired", FailureReason.UNAVAILABLE);

        assertThat(counter.counts().facts())
                .containsEntry("fetches", 4)
                .containsEntry("fetchesByReason", Map.of("absent", 1, "expired", 2, "expired UNAVAILABLE", 1));
    }

    @Test
    void since_earlierCounts_isWhatWasAdded() {
        counter.ended(new ObjectId(ObjectKind.SECRET, DB), true);
        fetched("first read", null);
        ReadCounts before = counter.counts();

        counter.missed(ObjectKind.SECRET, DB, "CACHE");
        counter.ended(new ObjectId(ObjectKind.SECRET, DB), false);
        fetched("expired", null);

        ReadCounts added = counter.counts().since(before);
        assertThat(added.results()).containsExactlyInAnyOrder("waited", "failed");
        assertThat(added.fetches()).containsExactly("expired");
    }

    private int count(String result) {
        return counter.counts().results().count(result);
    }

    private void fetched(String why, @org.jspecify.annotations.Nullable FailureReason failure) {
        counter.fetched(ObjectKind.SECRET, DB, why, failure, Duration.ofMillis(1));
    }
}
