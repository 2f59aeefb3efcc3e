package dev.podcache.store;

import static dev.podcache.store.TtlFixture.POD;
import static dev.podcache.store.TtlFixture.broughtBy;
import static dev.podcache.store.TtlFixture.failureOf;
import static dev.podcache.store.WatchFixture.DB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A first read under strategy WATCH: what gets wait for, and how the wait ends. */
@ExtendWith(NoLeaks.class)
class WatchFirstReadTest {

    private final WatchFixture f = new WatchFixture();

    @AfterEach
    void close() {
        f.close();
    }

    @Test
    void firstReference_listsAndWatchesOnce_andGetsAskNobody() {
        f.live("v1");
        f.get();

        f.requireRequests(1, 1);
        assertThat(f.server.count(Verb.GET)).isZero();
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
        assertThat(f.store.state(DB).freshness()).isEqualTo("watched");
    }

    @Test
    void get_listUnderWay_isWokenByTheSync() throws Exception {
        f.create(DB, "v1");
        HeldRequests held = f.server.faults().hold(RequestPattern.any().verb(Verb.LIST));
        f.store.addReference(DB, POD);
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.NOT_SYNCED);
        CompletableFuture<String> get = f.getBehind();
        f.timekeeper.awaitWaiters(1);
        held.release();

        assertThat(broughtBy(get)).isEqualTo("v1");
    }

    @Test
    void get_listedButWatchNotAcceptedYet_waits() throws Exception {
        f.create(DB, "v1");
        HeldRequests held = f.server.faults().hold(RequestPattern.any().verb(Verb.WATCH));
        f.store.addReference(DB, POD);
        CompletableFuture<String> get = f.getBehind();
        f.timekeeper.awaitWaiters(1);
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.NOT_SYNCED);
        held.release();

        assertThat(broughtBy(get)).isEqualTo("v1");
    }

    @Test
    void get_noAnswerInTime_failsNotSynced() throws Exception {
        HeldRequests held = f.server.faults().hold(RequestPattern.any().verb(Verb.LIST));
        f.store.addReference(DB, POD);
        CompletableFuture<String> get = f.getBehind();
        f.timekeeper.awaitWaiters(1);
        f.timekeeper.advance(Duration.ofSeconds(1));

        assertThat(failureOf(get)).isInstanceOf(NotSynced.class).hasMessageContaining("no answer yet");
        held.release();
    }

    @Test
    @ExpectedWarnings("LIST secrets named db was answered 500")
    void get_listFailsForAMoment_succeedsWithin200Milliseconds() throws Exception {
        f.create(DB, "v1");
        f.fail(Verb.LIST, 1, FailureReason.UNAVAILABLE, 500);
        f.store.addReference(DB, POD);
        CompletableFuture<String> get = f.getBehind();
        f.timekeeper.awaitWaiters(1);
        f.timekeeper.advance(Duration.ofMillis(200));

        assertThat(broughtBy(get)).isEqualTo("v1");
    }

    @Test
    @ExpectedWarnings("LIST secrets named db was answered 403")
    void get_listAndGetRefused_failsNotSyncedWithTheRefusal() throws Exception {
        f.refuse(Verb.LIST, 1000);
        f.refuse(Verb.GET, 1000);
        f.store.addReference(DB, POD);
        CompletableFuture<String> get = f.getBehind();
        f.timekeeper.awaitWaiters(1);
        f.timekeeper.advance(Duration.ofSeconds(1));

        assertThat(failureOf(get))
                .isInstanceOf(NotSynced.class)
                .hasMessageContaining("default/db")
                .hasMessageContaining("LIST secrets named db was answered 403");
        assertThat(f.store.state(DB).lastFailure()).hasMessageContaining("403");
    }

    @Test
    @ExpectedWarnings("WATCH secrets named db was answered 403")
    void get_watchRefused_failsNotSyncedNamingTheVerb() throws Exception {
        f.create(DB, "v1");
        f.refuse(Verb.WATCH, 1000);
        f.store.addReference(DB, POD);
        CompletableFuture<String> get = f.getBehind();
        f.timekeeper.awaitWaiters(1);
        f.timekeeper.advance(Duration.ofSeconds(1));

        assertThat(failureOf(get))
                .isInstanceOf(NotSynced.class)
                .hasMessageContaining("WATCH secrets named db was answered 403");
    }

    @Test
    void close_whileAGetWaits_endsItPromptly() throws Exception {
        HeldRequests held = f.server.faults().hold(RequestPattern.any().verb(Verb.LIST));
        f.store.addReference(DB, POD);
        CompletableFuture<String> get = f.getBehind();
        f.timekeeper.awaitWaiters(1);
        f.store.close();

        assertThat(failureOf(get)).isInstanceOf(Closed.class);
        held.release();
        f.requireNothingHeld();
    }

    @Test
    void interrupted_failsWithItsStatusSet() {
        HeldRequests held = f.server.faults().hold(RequestPattern.any().verb(Verb.LIST));
        f.store.addReference(DB, POD);
        Thread.currentThread().interrupt();

        assertThatThrownBy(f::get)
                .isInstanceOfSatisfying(
                        FetchFailed.class, e -> assertThat(e.reason()).isEqualTo(FailureReason.INTERRUPTED));
        assertThat(Thread.interrupted()).isTrue();
        held.release();
    }

    @Test
    void illegalName_isReferredToButNeverAskedFor() {
        f.store.addReference(ObjectKey.of("default", "a,metadata.name=b"), POD);

        assertThat(f.server.actions()).isEmpty();
        assertThatThrownBy(() -> f.store.get("default", "a,metadata.name=b"))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
