package dev.podcache.store;

import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static dev.podcache.store.TtlFixture.broughtBy;
import static dev.podcache.store.WatchFixture.DB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.TooManyRequests;
import java.time.Duration;
import java.util.LongSummaryStatistics;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A watch that is lost, and how its object becomes fresh again. */
@ExtendWith(NoLeaks.class)
class WatchBrokenTest {

    private final WatchFixture f = new WatchFixture();

    @AfterEach
    void close() {
        f.close();
    }

    @Test
    @ExpectedWarnings("connection")
    void brokenWatch_servesWhatIsKnown_saysStale_andRecovers() {
        f.live("v1");
        f.refuse(Verb.WATCH, 3);
        f.server.resetWatches();
        f.update(DB, "v2");
        f.timekeeper.advance(Duration.ofMillis(150));

        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.STALE);
        assertThat(f.store.state(DB).age()).isEqualTo(Duration.ofMillis(150));
        assertThat(f.store.state(DB).lastFailure()).isNotNull();

        f.timekeeper.advance(Duration.ofSeconds(10));
        assertThat(f.get()).isEqualTo("v2");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
        assertThat(f.store.state(DB).lastFailure()).isNull();
        assertThat(f.server.count(Verb.LIST)).as("resumed, not listed again").isEqualTo(1);
    }

    /** What the watch missed may still be on its way: the server tells it late. */
    @Test
    @ExpectedWarnings("connection")
    void brokenWatch_resumedWhileTheServerIsBehind_isStaleUntilAReadConfirmsIt() {
        f.live("v1");
        f.server.cluster().holdWatchCache();
        f.server.resetWatches();
        f.update(DB, "v2");
        HeldRequests held = f.server.faults().hold(RequestPattern.any().verb(Verb.LIST));
        f.timekeeper.advance(Duration.ofSeconds(3));
        assertThat(f.server.isWatched(DB)).isTrue();
        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.STALE);
        assertThat(f.store.state(DB).freshness()).isEqualTo("watch reopened, not confirmed yet");

        held.release();
        assertThat(f.get()).isEqualTo("v2");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
        f.update(DB, "v3");
        f.server.cluster().releaseWatchCache();
        assertThat(f.get()).isEqualTo("v3");
        f.requireRequests(2, 2);
    }

    /** The events of what the read has told already come after it. */
    @Test
    @ExpectedWarnings("connection")
    void brokenWatch_readSaysAbsent_isNotUndoneByOlderEvents() {
        f.live("v1");
        f.server.cluster().holdWatchCache();
        f.server.resetWatches();
        f.update(DB, "v2");
        f.delete(DB);
        f.timekeeper.advance(Duration.ofSeconds(3));
        assertThatThrownBy(f::get).isInstanceOf(NotFound.class);
        f.create(DB, "v3");
        f.timekeeper.advance(Duration.ofSeconds(3));
        f.server.cluster().releaseWatchCache();

        assertThat(f.get()).isEqualTo("v3");
    }

    @Test
    @ExpectedWarnings("connection")
    void brokenWatch_resumed_anEventConfirmsIt() {
        f.live("v1");
        f.server.resetWatches();
        f.update(DB, "v2");
        f.timekeeper.advance(Duration.ofMillis(200));

        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
        f.requireRequests(1, 2);
    }

    @Test
    @ExpectedWarnings("connection")
    void brokenWatch_readThatConfirmsFails_staysStaleAndIsRepeated() {
        f.live("v1");
        f.server.resetWatches();
        f.fail(Verb.LIST, 1000, FailureReason.UNAVAILABLE, 500);
        f.timekeeper.advance(Duration.ofMillis(2200));
        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.STALE);
        assertThat(f.server.isWatched(DB)).isTrue();

        f.server.clearFailures();
        f.timekeeper.advance(Duration.ofSeconds(5));
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
        assertThat(f.server.count(Verb.WATCH)).isEqualTo(2);
    }

    @Test
    void watchEndedInGoodOrder_needsNoConfirmation() {
        f.live("v1");
        while (f.server.count(Verb.WATCH) == 1) {
            f.timekeeper.advance(Duration.ofSeconds(20));
            f.get();
        }

        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
        f.requireRequests(1, 2);
    }

    @Test
    @ExpectedWarnings("connection")
    void brokenWatch_newReferrer_waitsForAListOfItsOwn() {
        f.live("v1");
        f.refuse(Verb.WATCH, 1);
        f.server.resetWatches();
        f.timekeeper.advance(Duration.ofMillis(200));
        f.update(DB, "v2");
        f.store.addReference(DB, OTHER_POD);

        assertThat(f.get()).isEqualTo("v2");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
    }

    @Test
    @ExpectedWarnings("connection")
    void brokenWatch_newReferrerWhileTheServerIsDown_isServedTheLastKnownAfterTheWait() throws Exception {
        f.live("v1");
        f.fail(Verb.WATCH, 1000, FailureReason.UNAVAILABLE, 503);
        f.fail(Verb.LIST, 1000, FailureReason.UNAVAILABLE, 503);
        f.server.resetWatches();
        f.store.addReference(DB, OTHER_POD);
        CompletableFuture<String> get = f.getBehind();
        f.timekeeper.awaitWaiters(1);
        f.timekeeper.advance(Duration.ofMillis(999));
        assertThat(get).isNotDone();
        f.timekeeper.advance(Duration.ofMillis(1));

        assertThat(broughtBy(get)).isEqualTo("v1");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.STALE);
        assertThat(f.get()).isEqualTo("v1");
    }

    @Test
    @ExpectedWarnings("connection")
    void brokenWatch_absentObject_failsNotFoundWithTheCause() {
        f.store.addReference(DB, POD);
        f.refuse(Verb.WATCH, 1000);
        f.server.resetWatches();

        assertThatThrownBy(f::get).isInstanceOf(NotFound.class).hasMessageContaining("checking again failed");
    }

    @Test
    @ExpectedWarnings("connection")
    void historyForgotten_listsAgain_andKeepsNoStaleValue() {
        f.live("v1");
        f.server.resetWatches();
        f.update(DB, "v2");
        f.update(DB, "v3");
        f.server.forgetHistory();
        f.timekeeper.advance(Duration.ofSeconds(1));

        assertThat(f.get()).isEqualTo("v3");
        assertThat(f.server.count(Verb.LIST)).isEqualTo(2);
    }

    @Test
    @ExpectedWarnings("connection")
    void historyForgotten_objectDeletedMeanwhile_isNotFound() {
        f.live("v1");
        f.server.resetWatches();
        f.delete(DB);
        f.create(WatchFixture.key(1), "noise");
        f.server.forgetHistory();
        f.timekeeper.advance(Duration.ofSeconds(1));

        assertThatThrownBy(f::get).isInstanceOf(NotFound.class);
    }

    /** Every client is a process of its own, so only chance can keep them apart. */
    @Test
    @ExpectedWarnings("answered 429")
    void listThrottled_clientsThatGotTheSameAnswer_returnSpreadOverTwoSeconds() {
        LongSummaryStatistics waits =
                IntStream.range(0, 20).mapToLong(i -> waitAfterRetryAfter()).summaryStatistics();

        assertThat(waits.getMin()).isGreaterThanOrEqualTo(2_000);
        assertThat(waits.getMax()).isBetween(waits.getMin() + 500, 4_000L);
    }

    /** How many milliseconds a client that is told to wait for two seconds lets pass, while it is served otherwise. */
    private static long waitAfterRetryAfter() {
        try (WatchFixture client = new WatchFixture()) {
            client.live("v1");
            ObjectKey throttled = WatchFixture.key(1);
            client.server.failNext(
                    1, TooManyRequests.SECONDS.answer(), RequestPattern.any().verb(Verb.LIST));
            client.store.addReference(throttled, POD);
            int lists = client.server.count(Verb.LIST);
            long told = client.timekeeper.nanoTime();
            while (client.server.count(Verb.LIST) == lists) {
                client.timekeeper.advance(Duration.ofMillis(10));
            }
            client.store.deleteReference(throttled, POD);
            client.store.deleteReference(DB, POD);
            return Duration.ofNanos(client.timekeeper.nanoTime() - told).toMillis();
        }
    }
}
