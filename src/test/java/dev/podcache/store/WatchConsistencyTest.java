package dev.podcache.store;

import static dev.podcache.store.StoreFixture.DB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.object.ReadConsistency;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Reads with a consistency, and without blocking, under strategy WATCH. */
@ExtendWith(NoLeaks.class)
class WatchConsistencyTest {

    @AutoClose
    private final WatchFixture f = new WatchFixture();

    @Test
    void latest_isAheadOfTheWatch_andIsKept() {
        f.live("v1");
        f.server.cluster().holdWatchCache();
        f.update(DB, "v2");
        f.update(DB, "v3");
        assertThat(f.get()).isEqualTo("v1");

        assertThat(get(ReadConsistency.latest())).isEqualTo("v3");
        assertThat(f.get()).isEqualTo("v3");
        f.server.cluster().releaseWatchCache();
        assertThat(f.get()).as("older events change nothing").isEqualTo("v3");
        f.requireRequests(2, 1);
    }

    @Test
    void latest_ofAnObjectDeletedAndCreated_isNotDeletedByTheOldEvent() {
        f.live("v1");
        f.server.cluster().holdWatchCache();
        f.delete(DB);
        f.create(DB, "v2");

        assertThat(get(ReadConsistency.latest())).isEqualTo("v2");
        f.server.cluster().releaseWatchCache();
        assertThat(f.get()).isEqualTo("v2");
    }

    @Test
    void latest_saysThatTheObjectIsGone_laterGetsSayItToo() {
        f.live("v1");
        f.server.dropNextEvent();
        f.delete(DB);
        assertThat(f.get()).isEqualTo("v1");

        assertThatExceptionOfType(NotFound.class).isThrownBy(() -> get(ReadConsistency.latest()));
        assertThatExceptionOfType(NotFound.class).isThrownBy(f::get);
        assertThat(f.server.openWatches()).isEqualTo(1);
    }

    @Test
    void latest_saysThatTheObjectExists_laterGetsSayItToo() {
        f.store.addReference(DB, TtlFixture.POD);
        assertThatExceptionOfType(NotFound.class).isThrownBy(f::get);
        f.server.dropNextEvent();
        f.create(DB, "v1");

        assertThat(get(ReadConsistency.latest())).isEqualTo("v1");
        assertThat(f.get()).isEqualTo("v1");
    }

    @Test
    void latest_whileTheWatchIsLost_isKept(NoLeaks leaks) {
        leaks.allowWarnings("watch of Secret default/db failed");
        f.live("v1");
        f.fail(Verb.WATCH, Integer.MAX_VALUE, FailureReason.FORBIDDEN, 403);
        f.server.resetWatches();
        f.update(DB, "v2");
        assertThat(get(ReadConsistency.latest())).isEqualTo("v2");
        assertThat(f.get()).isEqualTo("v2");

        f.delete(DB);
        assertThatExceptionOfType(NotFound.class).isThrownBy(() -> get(ReadConsistency.latest()));
        assertThatExceptionOfType(NotFound.class).isThrownBy(f::get);
    }

    /** The watch was closed because the first object could not change. The second one can. */
    @Test
    void latest_ofAnImmutableObjectThatAMutableOneReplaced_isWatched() {
        f.server.cluster().create(Secrets.immutable(DB, "v1"));
        f.store.addReference(DB, TtlFixture.POD);
        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.server.openWatches()).isZero();
        f.delete(DB);
        f.create(DB, "v2");

        assertThat(get(ReadConsistency.latest())).isEqualTo("v2");
        f.update(DB, "v3");
        assertThat(f.get()).isEqualTo("v3");
        assertThat(f.server.openWatches()).isEqualTo(1);
    }

    @Test
    void latest_ofAnImmutableObjectThatAnotherOneReplaced_needsNoWatch() {
        f.server.cluster().create(Secrets.immutable(DB, "v1"));
        f.store.addReference(DB, TtlFixture.POD);
        assertThat(f.get()).isEqualTo("v1");
        f.delete(DB);
        f.server.cluster().create(Secrets.immutable(DB, "v2"));

        assertThat(get(ReadConsistency.latest())).isEqualTo("v2");
        assertThat(f.get()).isEqualTo("v2");
        assertThat(f.server.openWatches()).isZero();
    }

    @Test
    void closed_endsGetsThatWaitForTheReadInFlight_andForTheNext() throws Exception {
        f.live("v1");
        HeldRequests held = f.server.faults().hold(RequestPattern.any().verb(Verb.LIST));
        List<CompletableFuture<Throwable>> ends = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            ends.add(CompletableFuture.supplyAsync(
                    () -> catchThrowable(() -> get(ReadConsistency.latest())), NewThread.EACH));
            f.timekeeper.awaitWaiters(i + 1);
        }
        f.store.close();

        assertThat(ends)
                .allSatisfy(end -> assertThat(end.get(60, TimeUnit.SECONDS)).isInstanceOf(Closed.class));
        assertThatExceptionOfType(Closed.class).isThrownBy(() -> get(ReadConsistency.latest()));
        held.release();
    }

    @Test
    void readsWithAConsistency_keepTheWatchOpen() {
        f.live("v1");
        for (int i = 0; i < 20; i++) {
            f.timekeeper.advance(Duration.ofSeconds(30));
            assertThat(get(ReadConsistency.maxAge(Duration.ofMillis(1)))).isEqualTo("v1");
        }

        f.requireRequests(1, 1);
    }

    @Test
    void latest_whereListIsForbidden_isAGet() {
        f.live("v1");
        f.refuse(Verb.LIST, 1);

        assertThat(get(ReadConsistency.latest())).isEqualTo("v1");
        assertThat(f.server.gets(DB)).isEqualTo(1);
    }

    @Test
    void latest_thatFails_throws_andTheHeldObjectStays() {
        f.live("v1");
        f.fail(Verb.LIST, 1, FailureReason.REJECTED, 400);

        assertThatExceptionOfType(FetchFailed.class)
                .isThrownBy(() -> get(ReadConsistency.latest()))
                .withCauseInstanceOf(ApiServerException.class);
        assertThat(f.get()).isEqualTo("v1");
    }

    @Test
    void latest_ofAnObjectThatNobodyRefersTo_isNotRegistered() {
        assertThatExceptionOfType(NotRegistered.class).isThrownBy(() -> get(ReadConsistency.latest()));
        f.requireRequests(0, 0);
    }

    @Test
    void latest_behindAProxyThatIgnoresSelectors_isTheObject() {
        try (WatchFixture proxied = WatchFixture.withoutSelectors()) {
            proxied.create(WatchFixture.key(1), "another");
            proxied.live("v1");

            assertThat(Secrets.value(proxied.store.get("default", "db", ReadConsistency.latest())))
                    .isEqualTo("v1");
        }
    }

    @Test
    void atLeast_asksOnlyIfTheHeldVersionIsOlder() {
        f.live("v1");
        assertThat(get(ReadConsistency.atLeast(f.store.state(DB).resourceVersion())))
                .isEqualTo("v1");
        f.requireRequests(1, 1);

        f.server.cluster().holdWatchCache();
        Secret written = f.server.cluster().update(Secrets.of(DB, "v2"));
        assertThat(get(ReadConsistency.atLeast(written.getMetadata().getResourceVersion())))
                .isEqualTo("v2");
        f.requireRequests(2, 1);
    }

    @Test
    void maxAge_anObjectThatIsWatchedHasNoAge_afterALossItHas(NoLeaks leaks) {
        leaks.allowWarnings("watch of Secret default/db failed");
        f.live("v1");
        f.timekeeper.advance(Duration.ofSeconds(30));
        assertThat(get(ReadConsistency.maxAge(Duration.ofMillis(1)))).isEqualTo("v1");
        f.requireRequests(1, 1);

        f.fail(Verb.WATCH, Integer.MAX_VALUE, FailureReason.FORBIDDEN, 403);
        f.server.resetWatches();
        f.timekeeper.advance(Duration.ofSeconds(5));
        f.update(DB, "v2");
        assertThat(get(ReadConsistency.maxAge(Duration.ofSeconds(5)))).isEqualTo("v1");
        assertThat(get(ReadConsistency.maxAge(Duration.ofSeconds(4)))).isEqualTo("v2");
    }

    @Test
    void async_hit_isCompleteAtOnce() {
        f.live("v1");
        assertThat(f.store.getAsync("default", "db")).isCompleted();
    }

    @Test
    void async_waitsForTheFirstSync_withoutAThread(NoLeaks leaks) {
        leaks.allowWarnings("watch of Secret default/db failed");
        f.create(DB, "v1");
        f.fail(Verb.LIST, 1, FailureReason.UNAVAILABLE, 503);
        f.store.addReference(DB, TtlFixture.POD);
        CompletableFuture<Secret> get = f.store.getAsync("default", "db");
        assertThat(get).isNotDone();
        f.timekeeper.advance(Duration.ofMillis(500));

        assertThat(Secrets.value(get.join())).isEqualTo("v1");
    }

    @Test
    void async_endsWithTheFirstSyncTimeout(NoLeaks leaks) {
        leaks.allowWarnings("watch of Secret default/db failed");
        f.fail(Verb.LIST, Integer.MAX_VALUE, FailureReason.UNAVAILABLE, 503);
        f.store.addReference(DB, TtlFixture.POD);
        CompletableFuture<Secret> get = f.store.getAsync("default", "db");
        f.timekeeper.advance(Duration.ofSeconds(1));

        assertThat(get.handle((object, failure) -> failure)).isCompletedWithValueMatching(NotSynced.class::isInstance);
    }

    private String get(ReadConsistency consistency) {
        return Secrets.value(f.store.get("default", "db", consistency));
    }
}
