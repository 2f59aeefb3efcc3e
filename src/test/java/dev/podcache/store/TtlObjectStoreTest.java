package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static dev.podcache.store.TtlFixture.failureOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ReadSource;
import dev.podcache.embedded.HeldRequests;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectState;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.PodKey;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The state table of strategy CACHE, row by row. */
@ExtendWith(NoLeaks.class)
class TtlObjectStoreTest {

    private final TtlFixture f = new TtlFixture();

    @AfterEach
    void close() {
        f.close();
    }

    // No answer

    @Test
    void get_noAnswer_asksForTheLatestState() {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);

        assertThat(f.get()).isEqualTo("v1");
        assertThat(freshnesses()).containsExactly(ReadSource.QUORUM);
    }

    @Test
    void get_noAnswerAndNotFound_keepsAbsent() {
        f.store.addReference(DB, POD);

        assertThatThrownBy(f::get).isInstanceOf(NotFound.class).hasNoCause();
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.ABSENT);
    }

    @Test
    void get_noAnswerAndFinalFailure_failsWithItsFactsAndKeepsNothing() {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        f.failNext(1, FailureReason.REJECTED, 400, null);

        assertThatThrownBy(f::get).isInstanceOfSatisfying(FetchFailed.class, e -> {
            assertThat(e.reason()).isEqualTo(FailureReason.REJECTED);
            assertThat(e.httpCode()).hasValue(400);
            assertThat(e.key()).isEqualTo(DB);
        });
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.UNREAD);
        assertThat(f.store.state(DB).lastFailure()).isNotNull();
        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.store.state(DB).lastFailure()).isNull();
    }

    @Test
    void get_noAnswerAndPassingFailure_repeatsWithinTheReadTimeout() throws Exception {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        f.failNext(3, FailureReason.UNAVAILABLE, 503, null);

        CompletableFuture<String> get = f.getBehind(DB);
        f.timekeeper.awaitWaiters(1);
        f.timekeeper.advance(Duration.ofSeconds(2));

        assertThat(TtlFixture.broughtBy(get)).isEqualTo("v1");
        f.requireGets(4);
    }

    @Test
    void get_noAnswerAndServerDown_failsBeforeTheReadTimeoutEnds() throws Exception {
        f.store.addReference(DB, POD);
        f.failNext(1000, FailureReason.UNAVAILABLE, 0, null);

        CompletableFuture<String> get = f.getBehind(DB);
        f.timekeeper.awaitWaiters(1);
        f.timekeeper.advance(Duration.ofSeconds(10));

        assertThat(failureOf(get))
                .isInstanceOfSatisfying(
                        FetchFailed.class, e -> assertThat(e.reason()).isEqualTo(FailureReason.UNAVAILABLE));
        assertThat(f.server.gets(DB)).isBetween(3, 20);
    }

    @Test
    void get_noAnswerAndRetryAfterBeyondTheDeadline_failsAtOnceAndTellsIt() {
        f.store.addReference(DB, POD);
        f.failNext(1, FailureReason.THROTTLED, 429, Duration.ofSeconds(30));

        assertThatThrownBy(f::get).isInstanceOfSatisfying(FetchFailed.class, e -> {
            assertThat(e.reason()).isEqualTo(FailureReason.THROTTLED);
            assertThat(e.httpCode()).hasValue(429);
            assertThat(e.retryAfter()).contains(Duration.ofSeconds(30));
            assertThat(e).hasCause(f.store.state(DB).lastFailure());
        });
        f.requireGets(1);
    }

    @Test
    void get_noAnswerAndAskedToWait_failsWithoutARequestUntilThen() {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        f.failNext(1, FailureReason.THROTTLED, 429, Duration.ofSeconds(30));
        assertThatThrownBy(f::get).isInstanceOf(FetchFailed.class);
        f.timekeeper.advance(Duration.ofSeconds(30).minusMillis(1));

        assertThatThrownBy(f::get).isInstanceOfSatisfying(FetchFailed.class, e -> {
            assertThat(e.reason()).isEqualTo(FailureReason.THROTTLED);
            assertThat(e.httpCode()).hasValue(429);
            assertThat(e).hasCause(f.store.state(DB).lastFailure());
        });
        f.requireGets(1);
        f.timekeeper.advance(Duration.ofMillis(1));
        assertThat(f.get()).isEqualTo("v1");
    }

    @Test
    void get_noAnswerAndAskedToWaitForAYear_asksAgainAfterTwoMinutes() {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        f.failNext(1, FailureReason.THROTTLED, 429, Duration.ofDays(365));
        assertThatThrownBy(f::get).isInstanceOf(FetchFailed.class);

        f.timekeeper.advance(Duration.ofMinutes(2));

        assertThat(f.get()).isEqualTo("v1");
    }

    @Test
    void get_askedToWaitBeforeANewReference_asks() {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        f.failNext(1, FailureReason.THROTTLED, 429, Duration.ofSeconds(30));
        assertThatThrownBy(f::get).isInstanceOf(FetchFailed.class);

        f.store.addReference(DB, OTHER_POD);

        assertThat(f.get()).isEqualTo("v1");
    }

    @Test
    void get_noAnswerAndNothingComes_failsWhenTheReadTimeoutEnds() throws Exception {
        f.store.addReference(DB, POD);
        var held = f.server.hold(DB);

        CompletableFuture<String> get = f.getBehind(DB);
        held.awaitArrived();
        f.timekeeper.awaitWaiters(1);
        f.timekeeper.advance(Duration.ofSeconds(10));

        assertThat(failureOf(get))
                .isInstanceOfSatisfying(
                        FetchFailed.class, e -> assertThat(e.reason()).isEqualTo(FailureReason.TIMEOUT));
        held.release();
    }

    // Present

    @Test
    void get_presentAndFresh_asksNobody() {
        f.seen("v1");
        f.update(DB, "v2");
        f.timekeeper.advance(Duration.ofSeconds(59));

        assertThat(f.get()).isEqualTo("v1");
        f.requireGets(1);
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
    }

    @Test
    void get_presentAndStale_asksTheCache() {
        f.seen("v1");
        f.update(DB, "v2");
        f.timekeeper.advance(Duration.ofSeconds(60));

        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.STALE);
        assertThat(f.get()).isEqualTo("v2");
        assertThat(freshnesses()).containsExactly(ReadSource.QUORUM, ReadSource.CACHE);
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
    }

    @Test
    void get_staleAndUnchanged_keepsTheSharedInstance() {
        f.seen("v1");
        var before = f.store.get(DB.namespace(), DB.name());
        f.timekeeper.advance(Duration.ofSeconds(60));

        assertThat(f.store.get(DB.namespace(), DB.name())).isSameAs(before);
        f.requireGets(2);
        f.timekeeper.advance(Duration.ofSeconds(59));
        f.get();
        f.requireGets(2);
    }

    @Test
    void get_staleAndCacheLagsBehindWhatIsKnown_asksForTheLatestState() {
        f.create(DB, "v1");
        f.server.cluster().holdWatchCache();
        f.update(DB, "v2");
        f.store.addReference(DB, POD);
        assertThat(f.get()).isEqualTo("v2");
        f.timekeeper.advance(Duration.ofSeconds(60));

        assertThat(f.get()).isEqualTo("v2");
        assertThat(freshnesses()).containsExactly(ReadSource.QUORUM, ReadSource.CACHE, ReadSource.QUORUM);
        f.server.cluster().releaseWatchCache();
    }

    @Test
    void get_staleAndCacheDoesNotKnowItYet_asksForTheLatestState() {
        f.server.cluster().holdWatchCache();
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        assertThat(f.get()).isEqualTo("v1");
        f.timekeeper.advance(Duration.ofSeconds(60));

        assertThat(f.get()).isEqualTo("v1");
        assertThat(freshnesses()).containsExactly(ReadSource.QUORUM, ReadSource.CACHE, ReadSource.QUORUM);
        f.server.cluster().releaseWatchCache();
    }

    @Test
    void get_staleAndDeleted_keepsAbsent() {
        f.seen("v1");
        f.delete(DB);
        f.timekeeper.advance(Duration.ofSeconds(60));

        assertThatThrownBy(f::get).isInstanceOf(NotFound.class).hasNoCause();
        assertThat(freshnesses()).containsExactly(ReadSource.QUORUM, ReadSource.CACHE, ReadSource.QUORUM);
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.ABSENT);
    }

    @Test
    void get_staleAndLagCheckFails_servesWhatIsKnown() {
        f.server.cluster().holdWatchCache();
        f.seen("v1");
        f.timekeeper.advance(Duration.ofSeconds(60));
        // the first of the two requests is answered "not found" by the lagging cache, the second fails
        f.server.failNext(1, new ApiServerException(FailureReason.NOT_FOUND, 404, null, "lagging", null));
        f.failNext(1, FailureReason.UNAVAILABLE, 500, null);

        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.STALE);
        f.server.cluster().releaseWatchCache();
    }

    @Test
    void get_staleAndRefreshFails_servesWhatIsKnownAndSaysSo() {
        f.seen("v1");
        f.timekeeper.advance(Duration.ofSeconds(60));
        f.failNext(1, FailureReason.FORBIDDEN, 403, null);

        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.STALE);
        assertThat(f.store.state(DB).lastFailure()).hasMessageContaining("403");
        assertThat(f.store.state(DB).age()).isEqualTo(Duration.ofSeconds(60));
    }

    // Absent

    @Test
    void get_absent_isNeverFresh() {
        f.store.addReference(DB, POD);
        assertThatThrownBy(f::get).isInstanceOf(NotFound.class);
        assertThatThrownBy(f::get).isInstanceOf(NotFound.class);
        f.create(DB, "v1");

        assertThat(f.get()).isEqualTo("v1");
        assertThat(freshnesses()).containsExactly(ReadSource.QUORUM, ReadSource.QUORUM, ReadSource.QUORUM);
    }

    @Test
    void get_absentAndCheckFails_failsNotFoundWithThatCause() {
        f.store.addReference(DB, POD);
        assertThatThrownBy(f::get).isInstanceOf(NotFound.class);
        f.failNext(1, FailureReason.UNAVAILABLE, 500, null);

        assertThatThrownBy(f::get)
                .isInstanceOf(NotFound.class)
                .hasMessageContaining("checking again failed")
                .hasRootCauseMessage("GET was answered 500");
    }

    // References

    @Test
    void addReference_ofAKnownObject_forgetsTheAnswer() {
        f.seen("v1");
        f.update(DB, "v2");
        f.store.addReference(DB, OTHER_POD);

        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.UNREAD);
        assertThat(f.get()).isEqualTo("v2");
        assertThat(freshnesses()).containsExactly(ReadSource.QUORUM, ReadSource.QUORUM);
    }

    @Test
    void addAndDeleteReference_makeNoRequest() {
        f.create(DB, "v1");
        f.server.forbidCallsOnThisThread(() -> {
            f.store.addReference(DB, POD);
            f.store.addReference(DB, OTHER_POD);
            f.store.deleteReference(DB, POD);
            f.store.deleteReference(DB, OTHER_POD);
        });
        f.requireNothingHeld();
    }

    @Test
    void addReference_afterFailures_beginsWithoutTheirPauses() {
        f.refreshFails();
        f.update(DB, "v2");
        f.store.addReference(DB, OTHER_POD);

        assertThat(f.get()).isEqualTo("v2");
    }

    // TTL

    @Test
    void ttlZero_everyGetAsks() {
        f.ttl.set(Duration.ZERO);
        f.seen("v1");
        f.get();
        f.get();

        f.requireGets(3);
    }

    @Test
    void ttlShortened_holdsForWhatIsCachedAlready() {
        f.seen("v1");
        f.timekeeper.advance(Duration.ofSeconds(10));
        f.ttl.set(Duration.ofSeconds(5));
        f.timekeeper.advance(TtlFixture.TICK);
        f.get();

        f.requireGets(2);
    }

    @Test
    void ttlProlonged_holdsForWhatIsCachedAlready() {
        f.seen("v1");
        f.ttl.set(Duration.ofSeconds(300));
        f.timekeeper.advance(Duration.ofSeconds(299));
        f.get();
        f.requireGets(1);

        f.timekeeper.advance(Duration.ofSeconds(1));
        f.get();
        f.requireGets(2);
    }

    @Test
    void immutable_isNotAskedForAgain() {
        f.server.cluster().create(Secrets.immutable(DB, "v1"));
        f.store.addReference(DB, POD);
        f.get();
        f.ttl.set(Duration.ZERO);
        f.timekeeper.advance(Duration.ofHours(10));

        assertThat(f.get()).isEqualTo("v1");
        f.requireGets(1);
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
    }

    @Test
    void immutableRecreated_isReadAnewForANewReference() {
        f.server.cluster().create(Secrets.immutable(DB, "v1"));
        f.store.addReference(DB, POD);
        f.get();
        f.delete(DB);
        f.server.cluster().create(Secrets.immutable(DB, "v2"));
        f.store.addReference(DB, OTHER_POD);

        assertThat(f.get()).isEqualTo("v2");
    }

    @Test
    void immutableRecreatedAsOneThatIsNot_isFreshNoLongerThanTheTtl() {
        f.server.cluster().create(Secrets.immutable(DB, "v1"));
        f.store.addReference(DB, POD);
        f.get();
        f.delete(DB);
        f.create(DB, "v2");
        f.store.addReference(DB, OTHER_POD);
        assertThat(f.get()).isEqualTo("v2");
        f.timekeeper.advance(Duration.ofSeconds(60));
        f.update(DB, "v3");

        assertThat(f.get()).isEqualTo("v3");
    }

    // Observers

    @Test
    void observer_isToldOfWhatHappens_underNoLock() {
        f.seen("v1");
        List<String> told = new ArrayList<>();
        f.store.observe(key -> told.add(key + " " + stateFromAnotherThread()));
        f.store.addReference(DB, OTHER_POD);
        f.get();
        f.store.deleteReference(DB, OTHER_POD);
        f.store.deleteReference(DB, POD);

        assertThat(told).containsExactly("default/db UNREAD of 2", "default/db FRESH of 2", "default/db UNREAD of 0");
    }

    /** Would wait in vain while this thread holds a lock. */
    private String stateFromAnotherThread() {
        return CompletableFuture.supplyAsync(
                        () -> {
                            f.store.deleteReference(DB, PodKey.of("default", "stranger", "uid-3"));
                            assertThat(f.store.size()).isLessThanOrEqualTo(1);
                            ObjectState state = f.store.state(DB);
                            return state.cacheState() + " of " + state.references();
                        },
                        NewThread.EACH)
                .orTimeout(Patience.SECONDS, TimeUnit.SECONDS)
                .join();
    }

    // Closing

    /** The fetches end before the entries: a get that has found its entry still begins one. */
    @Test
    void close_getThatBeginsMeanwhile_endsAtOnce() {
        ObjectKey other = ObjectKey.of("default", "other");
        HeldRequests held = f.server.hold(DB);
        HeldRequests heldOther = f.server.hold(other);
        f.store.addReference(DB, POD);
        f.store.addReference(other, POD);
        List<CompletableFuture<Secret>> gets = new ArrayList<>();
        f.store.observe(dropped -> {
            ObjectKey left = dropped.equals(DB) ? other : DB;
            gets.add(f.store.getAsync(left.namespace(), left.name()));
        });
        f.store.close();

        assertThat(gets)
                .hasSize(2)
                .allSatisfy(get -> assertThat(get)
                        .isCompletedExceptionally()
                        .failsWithin(Duration.ZERO)
                        .withThrowableThat()
                        .withCauseInstanceOf(Closed.class));
        held.release();
        heldOther.release();
    }

    private List<@Nullable ReadSource> freshnesses() {
        return f.server.actions().stream().map(FakeApiServer.Action::source).toList();
    }
}
