package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static dev.podcache.store.TtlFixture.broughtBy;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.apiserver.ReadSource;
import dev.podcache.embedded.HeldRequests;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Strategy CACHE with a TTL of 60 s and a background refresh for 40 s: nobody asks before the TTL, all ask 20 s later.
 */
@ExtendWith(NoLeaks.class)
class BackgroundRefreshTest {

    private static final Duration TTL = Duration.ofSeconds(60);
    private static final Duration MAX_STALENESS = Duration.ofSeconds(40);
    private static final Duration SURELY_DUE = TTL.plus(MAX_STALENESS.dividedBy(2));
    private static final Duration TOO_OLD = TTL.plus(MAX_STALENESS);

    private final List<String> reported = new ArrayList<>();
    private final TtlFixture f = TtlFixture.refreshingBehind(MAX_STALENESS, new PodcacheMetrics() {
        @Override
        public void missed(ObjectKind<?> kind, ObjectKey key, String strategy) {
            reported.add("missed");
        }

        @Override
        public void staleServed(ObjectKind<?> kind, ObjectKey key, String strategy) {
            reported.add("stale");
        }
    });

    @AfterEach
    void close() {
        f.close();
    }

    @Test
    void get_due_isServedAtOnceAndRefreshedBehind() throws Exception {
        seen("v1");
        f.update(DB, "v2");
        f.timekeeper.advance(SURELY_DUE);
        HeldRequests held = f.server.hold(DB);

        assertThat(f.get()).isEqualTo("v1");
        f.requireGets(2);
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.STALE);

        held.release();
        assertThat(f.get()).isEqualTo("v2");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
    }

    @Test
    void get_manyWhileTheRefreshIsUnderWay_makeOneRequest() throws Exception {
        seen("v1");
        f.timekeeper.advance(SURELY_DUE);
        HeldRequests held = f.server.hold(DB);

        for (int i = 0; i < 50; i++) {
            assertThat(f.get()).isEqualTo("v1");
        }
        f.requireGets(2);
        held.release();
    }

    @Test
    void get_youngerThanTheTtl_asksNobody() {
        seen("v1");
        for (int i = 0; i < 59; i++) {
            f.timekeeper.advance(Duration.ofSeconds(1));
            f.get();
        }

        f.requireGets(1);
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
    }

    @Test
    void get_staleButNotDue_asksNobodyAndIsAHit() {
        seen("v1");
        reported.clear();
        f.timekeeper.advance(TTL);

        assertThat(f.get()).isEqualTo("v1");
        f.requireGets(1);
        assertThat(reported).isEmpty();
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.STALE);
        assertThat(f.store.state(DB).age()).isEqualTo(TTL);
        assertThat(f.store.state(DB).freshness()).contains("TTL 1m0s").contains("40s");
    }

    @Test
    void get_tooOld_waits() throws Exception {
        seen("v1");
        f.update(DB, "v2");
        f.timekeeper.advance(TOO_OLD);
        HeldRequests held = f.server.hold(DB);

        CompletableFuture<String> get = f.getBehind(DB);
        held.awaitArrived();
        f.timekeeper.awaitWaiters(1);
        held.release();

        assertThat(broughtBy(get)).isEqualTo("v2");
        f.requireGets(2);
    }

    @Test
    void get_refreshStillUnderWayWhenTooOld_waitsForItASecondAtMost() throws Exception {
        seen("v1");
        Duration justInTime = Duration.ofSeconds(5);
        f.timekeeper.advance(TOO_OLD.minus(justInTime));
        HeldRequests held = f.server.hold(DB);
        f.get();
        f.timekeeper.advance(justInTime);
        reported.clear();

        CompletableFuture<String> get = f.getBehind(DB);
        f.timekeeper.awaitWaiters(1);
        f.timekeeper.advance(Duration.ofSeconds(1));

        assertThat(broughtBy(get)).isEqualTo("v1");
        f.requireGets(2);
        assertThat(reported).containsExactly("missed", "stale");
        held.release();
    }

    @Test
    void refreshFails_isRepeatedAfterItsPause_andCountsAsStaleOnlyWhenTooOld() {
        seen("v1");
        f.timekeeper.advance(SURELY_DUE);
        f.failNext(100, FailureReason.UNAVAILABLE, 503, null);
        reported.clear();

        f.get();
        f.get();
        f.requireGets(2);
        assertThat(reported).containsOnly("missed");
        assertThat(f.store.state(DB).lastFailure()).isNotNull();

        f.timekeeper.advance(MAX_STALENESS);
        assertThat(f.get()).isEqualTo("v1");
        assertThat(reported).endsWith("missed", "stale");
        f.requireGets(3);
    }

    @Test
    void addReference_whileTheRefreshIsUnderWay_isNotAnsweredByIt() throws Exception {
        seen("v1");
        f.timekeeper.advance(SURELY_DUE);
        HeldRequests held = f.server.holdNext(DB);
        f.get();
        f.store.addReference(DB, OTHER_POD);
        f.update(DB, "v2");

        assertThat(f.get()).isEqualTo("v2");
        held.release();
        assertThat(f.get()).isEqualTo("v2");
        f.requireGets(3);
    }

    @Test
    void deleted_isServedOnceMoreThenNotFound() {
        seen("v1");
        f.delete(DB);
        f.timekeeper.advance(SURELY_DUE);

        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.ABSENT);
        assertThatThrownBy(f::get).isInstanceOf(NotFound.class);
    }

    @Test
    void cacheLagsBehindWhatIsKnown_asksForTheLatestState() {
        f.create(DB, "v1");
        f.server.cluster().holdWatchCache();
        f.update(DB, "v2");
        f.store.addReference(DB, POD);
        f.get();
        f.timekeeper.advance(SURELY_DUE);
        f.get();

        assertThat(f.get()).isEqualTo("v2");
        assertThat(f.server.actions())
                .extracting(FakeApiServer.Action::source)
                .containsExactly(ReadSource.QUORUM, ReadSource.CACHE, ReadSource.QUORUM);
        f.server.cluster().releaseWatchCache();
    }

    @Test
    void ttlZero_everyGetAsks() {
        f.ttl.set(Duration.ZERO);
        seen("v1");
        f.update(DB, "v2");

        assertThat(f.get()).isEqualTo("v2");
        f.requireGets(2);
    }

    @Test
    void ttlSetToZero_holdsForWhatIsCachedAlready() {
        seen("v1");
        f.update(DB, "v2");
        f.ttl.set(Duration.ZERO);
        f.timekeeper.advance(TtlFixture.TICK);

        assertThat(f.get()).isEqualTo("v2");
    }

    @Test
    void ttlWithoutEnd_isNotExceeded() {
        f.ttl.set(Duration.ofNanos(Long.MAX_VALUE));
        seen("v1");
        f.timekeeper.advance(Duration.ofHours(1));

        assertThat(f.get()).isEqualTo("v1");
        f.requireGets(1);
    }

    @Test
    void storeOptions_negative_isRefused() {
        StoreOptions options = StoreOptions.defaults(new ManualTimekeeper());

        assertThatThrownBy(() -> options.backgroundRefresh(Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is -1s");
    }

    private void seen(String value) {
        f.create(DB, value);
        f.store.addReference(DB, POD);
        assertThat(f.get()).isEqualTo(value);
    }
}
