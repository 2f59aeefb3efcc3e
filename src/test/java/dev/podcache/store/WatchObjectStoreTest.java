package dev.podcache.store;

import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static dev.podcache.store.TtlFixture.broughtBy;
import static dev.podcache.store.TtlFixture.failureOf;
import static dev.podcache.store.WatchFixture.DB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.embedded.Held;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.object.Phase;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.TooManyRequests;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The state table of strategy WATCH, row by row. */
@ExtendWith(NoLeaks.class)
class WatchObjectStoreTest {

    private final WatchFixture f = new WatchFixture();

    @AfterEach
    void close() {
        f.close();
    }

    // OPENING

    @Test
    void firstReference_listsAndWatchesOnce_andGetsAskNobody() {
        live("v1");
        f.get();

        f.requireRequests(1, 1);
        assertThat(f.server.count(Verb.GET)).isZero();
        assertThat(f.store.state(DB).phase()).isEqualTo(Phase.FRESH);
        assertThat(f.store.state(DB).freshness()).isEqualTo("watched");
    }

    @Test
    void get_listUnderWay_isWokenByTheSync() throws Exception {
        f.create(DB, "v1");
        Held held = f.server.faults().hold(RequestPattern.any().verb(Verb.LIST));
        f.store.addReference(DB, POD);
        assertThat(f.store.state(DB).phase()).isEqualTo(Phase.NOT_SYNCED);
        CompletableFuture<String> get = f.getBehind();
        f.timekeeper.awaitWaiters(1);
        held.release();

        assertThat(broughtBy(get)).isEqualTo("v1");
    }

    @Test
    void get_listedButWatchNotAcceptedYet_waits() throws Exception {
        f.create(DB, "v1");
        Held held = f.server.faults().hold(RequestPattern.any().verb(Verb.WATCH));
        f.store.addReference(DB, POD);
        CompletableFuture<String> get = f.getBehind();
        f.timekeeper.awaitWaiters(1);
        assertThat(f.store.state(DB).phase()).isEqualTo(Phase.NOT_SYNCED);
        held.release();

        assertThat(broughtBy(get)).isEqualTo("v1");
    }

    @Test
    void get_noAnswerInTime_failsNotSynced() throws Exception {
        Held held = f.server.faults().hold(RequestPattern.any().verb(Verb.LIST));
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

    /** A Node authorizer that lags refuses the first list and allows the get right after. */
    @Test
    void listRefusedOnce_isRepeatedAfterTheGet_withoutFallingBack() {
        f.create(DB, "v1");
        f.refuse(Verb.LIST, 1);
        f.store.addReference(DB, POD);

        assertThat(f.get()).isEqualTo("v1");
        f.requireRequests(2, 1);
        assertThat(f.server.count(Verb.GET)).isEqualTo(1);
    }

    @Test
    @ExpectedWarnings("answered 429")
    void listRefusedAndGetThrottled_neitherIsRepeatedBeforeTheServerWants() {
        f.create(DB, "v1");
        f.refuse(Verb.LIST, 1);
        f.server.failNext(
                1, TooManyRequests.SECONDS.answer(), RequestPattern.any().verb(Verb.GET));
        f.store.addReference(DB, POD);
        f.timekeeper.advance(Duration.ofMillis(1999));
        f.requireRequests(1, 0);

        // and up to two seconds more, so that many who were asked do not come together
        f.timekeeper.advance(Duration.ofMillis(2001));
        assertThat(f.get()).isEqualTo("v1");
    }

    /** What is forgotten cannot be fetched again: a bound on payloads is the TTL store's. */
    @Test
    void payloadBudgetTooSmall_isIgnored() {
        f.create(DB, "v1");
        PayloadBudget tiny = PayloadBudget.ofBytes(1, f.timekeeper);
        try (WatchObjectStore<Secret> store = new WatchObjectStore<>(
                ObjectKind.SECRET,
                key -> f.server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()),
                f.server.getter(ObjectKind.SECRET),
                new StoreOptions(f.timekeeper, Duration.ofSeconds(10), tiny, PodcacheMetrics.NONE),
                WatchObjectStore.WatchTimes.DEFAULT)) {
            store.addReference(DB, POD);

            assertThat(Secrets.value(store.get(DB.namespace(), DB.name()))).isEqualTo("v1");
            assertThat(store.state(DB).phase()).isEqualTo(Phase.FRESH);
        }
    }

    @Test
    void withoutTheVerbList_aGetAndAWatchDo() {
        f.create(DB, "v1");
        f.refuse(Verb.LIST, 1000);
        f.store.addReference(DB, POD);
        assertThat(f.get()).isEqualTo("v1");
        f.update(DB, "v2");
        assertThat(f.get()).isEqualTo("v2");
        f.delete(DB);

        assertThatThrownBy(f::get).isInstanceOf(NotFound.class);
        f.create(DB, "v3");
        assertThat(f.get()).isEqualTo("v3");
    }

    @Test
    @ExpectedWarnings("connection")
    void withoutTheVerbList_aBrokenWatchIsResumedFromWhatIsKnown() {
        f.create(DB, "v1");
        f.refuse(Verb.LIST, 1000);
        f.store.addReference(DB, POD);
        f.server.resetWatches();
        f.update(DB, "v2");
        f.timekeeper.advance(Duration.ofMillis(200));

        assertThat(f.get()).isEqualTo("v2");
        assertThat(f.server.count(Verb.GET)).isEqualTo(1);
    }

    /** A watch without a version would not tell of it. */
    @Test
    void withoutTheVerbList_deletedBetweenTheGetAndTheWatch_isNotFound() {
        f.create(DB, "v1");
        f.refuse(Verb.LIST, 1000);
        Held held = f.server.faults().hold(RequestPattern.any().verb(Verb.WATCH));
        f.store.addReference(DB, POD);
        f.delete(DB);
        held.release();

        assertThatThrownBy(f::get).isInstanceOf(NotFound.class);
    }

    @Test
    void withoutTheVerbList_historyForgotten_watchesWithoutAVersionAndReadsOnceMore() {
        f.create(DB, "v1");
        f.refuse(Verb.LIST, 1000);
        Held held = f.server.faults().hold(RequestPattern.any().verb(Verb.WATCH));
        f.store.addReference(DB, POD);
        f.delete(DB);
        f.create(ObjectKey.of("default", "noise"), "noise");
        f.server.forgetHistory();
        held.release();

        assertThatThrownBy(f::get).isInstanceOf(NotFound.class);
        assertThat(f.store.state(DB).phase()).isEqualTo(Phase.ABSENT);
        assertThat(f.store.state(DB).lastFailure()).isNull();
    }

    @Test
    void withoutTheVerbList_anAbsentObjectIsNotFoundAndThenSeen() {
        f.refuse(Verb.LIST, 1000);
        f.store.addReference(DB, POD);

        assertThatThrownBy(f::get).isInstanceOf(NotFound.class);
        f.create(DB, "v1");
        assertThat(f.get()).isEqualTo("v1");
    }

    // LIVE

    @Test
    void changes_areSeenWithoutARequest() {
        live("v1");
        f.update(DB, "v2");
        assertThat(f.get()).isEqualTo("v2");
        f.delete(DB);
        assertThatThrownBy(f::get).isInstanceOf(NotFound.class).hasNoCause();
        f.create(DB, "v3");
        assertThat(f.get()).isEqualTo("v3");

        f.requireRequests(1, 1);
    }

    @Test
    void newReferrer_ofALiveWatch_makesNoRequestAndForgetsNothing() {
        live("v1");
        Object before = f.store.get(DB.namespace(), DB.name());
        f.store.addReference(DB, OTHER_POD);

        assertThat(f.store.get(DB.namespace(), DB.name())).isSameAs(before);
        f.requireRequests(1, 1);
    }

    @Test
    void lastReference_closesTheWatchAtOnce() {
        live("v1");
        f.store.deleteReference(DB, POD);

        f.requireNothingHeld();
    }

    @Test
    void references_whileNothingAnswers_doNotWait() {
        Held held = f.server.faults().hold(RequestPattern.any());
        for (int i = 0; i < 20; i++) {
            f.store.addReference(key(i), POD);
        }
        for (int i = 0; i < 20; i++) {
            f.store.deleteReference(key(i), POD);
        }
        held.release();

        f.requireNothingHeld();
    }

    // BROKEN

    @Test
    @ExpectedWarnings("connection")
    void brokenWatch_servesWhatIsKnown_saysStale_andRecovers() {
        live("v1");
        f.refuse(Verb.WATCH, 3);
        f.server.resetWatches();
        f.update(DB, "v2");
        f.timekeeper.advance(Duration.ofMillis(150));

        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.store.state(DB).phase()).isEqualTo(Phase.STALE);
        assertThat(f.store.state(DB).age()).isEqualTo(Duration.ofMillis(150));
        assertThat(f.store.state(DB).lastFailure()).isNotNull();

        f.timekeeper.advance(Duration.ofSeconds(10));
        assertThat(f.get()).isEqualTo("v2");
        assertThat(f.store.state(DB).phase()).isEqualTo(Phase.FRESH);
        assertThat(f.store.state(DB).lastFailure()).isNull();
        assertThat(f.server.count(Verb.LIST)).as("resumed, not listed again").isEqualTo(1);
    }

    /** What the watch missed may still be on its way: the server tells it late. */
    @Test
    @ExpectedWarnings("connection")
    void brokenWatch_resumedWhileTheServerIsBehind_isStaleUntilAReadConfirmsIt() {
        live("v1");
        f.server.cluster().holdWatchCache();
        f.server.resetWatches();
        f.update(DB, "v2");
        Held held = f.server.faults().hold(RequestPattern.any().verb(Verb.LIST));
        f.timekeeper.advance(Duration.ofSeconds(3));
        assertThat(f.server.isWatched(DB)).isTrue();
        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.store.state(DB).phase()).isEqualTo(Phase.STALE);
        assertThat(f.store.state(DB).freshness()).isEqualTo("watch open again, not confirmed yet");

        held.release();
        assertThat(f.get()).isEqualTo("v2");
        assertThat(f.store.state(DB).phase()).isEqualTo(Phase.FRESH);
        f.update(DB, "v3");
        f.server.cluster().releaseWatchCache();
        assertThat(f.get()).isEqualTo("v3");
        f.requireRequests(2, 2);
    }

    /** The events of what the read has told already come after it. */
    @Test
    @ExpectedWarnings("connection")
    void brokenWatch_readSaysAbsent_isNotUndoneByOlderEvents() {
        live("v1");
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
        live("v1");
        f.server.resetWatches();
        f.update(DB, "v2");
        f.timekeeper.advance(Duration.ofMillis(200));

        assertThat(f.store.state(DB).phase()).isEqualTo(Phase.FRESH);
        f.requireRequests(1, 2);
    }

    @Test
    @ExpectedWarnings("connection")
    void brokenWatch_readThatConfirmsFails_staysStaleAndIsRepeated() {
        live("v1");
        f.server.resetWatches();
        f.fail(Verb.LIST, 1000, FailureReason.UNAVAILABLE, 500);
        f.timekeeper.advance(Duration.ofMillis(2200));
        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.store.state(DB).phase()).isEqualTo(Phase.STALE);
        assertThat(f.server.isWatched(DB)).isTrue();

        f.server.clearFailures();
        f.timekeeper.advance(Duration.ofSeconds(5));
        assertThat(f.store.state(DB).phase()).isEqualTo(Phase.FRESH);
        assertThat(f.server.count(Verb.WATCH)).isEqualTo(2);
    }

    @Test
    void watchEndedInGoodOrder_needsNoConfirmation() {
        live("v1");
        while (f.server.count(Verb.WATCH) == 1) {
            f.timekeeper.advance(Duration.ofSeconds(20));
            f.get();
        }

        assertThat(f.store.state(DB).phase()).isEqualTo(Phase.FRESH);
        f.requireRequests(1, 2);
    }

    // RENEWING

    @Test
    @ExpectedWarnings("connection")
    void brokenWatch_newReferrer_waitsForAListOfItsOwn() {
        live("v1");
        f.refuse(Verb.WATCH, 1);
        f.server.resetWatches();
        f.timekeeper.advance(Duration.ofMillis(200));
        f.update(DB, "v2");
        f.store.addReference(DB, OTHER_POD);

        assertThat(f.get()).isEqualTo("v2");
        assertThat(f.store.state(DB).phase()).isEqualTo(Phase.FRESH);
    }

    @Test
    @ExpectedWarnings("connection")
    void brokenWatch_newReferrerWhileTheServerIsDown_isServedTheLastKnownAfterTheWait() throws Exception {
        live("v1");
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
        assertThat(f.store.state(DB).phase()).isEqualTo(Phase.STALE);
        assertThat(f.get()).isEqualTo("v1");
    }

    @Test
    @ExpectedWarnings("connection")
    void brokenWatch_absentObject_failsNotFoundWithTheCause() {
        f.store.addReference(DB, POD);
        f.refuse(Verb.WATCH, 1000);
        f.server.resetWatches();

        assertThatThrownBy(f::get).isInstanceOf(NotFound.class).hasMessageContaining("asking again failed");
    }

    @Test
    @ExpectedWarnings("connection")
    void historyForgotten_listsAgain_andKeepsNoStaleValue() {
        live("v1");
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
        live("v1");
        f.server.resetWatches();
        f.delete(DB);
        f.create(key(1), "noise");
        f.server.forgetHistory();
        f.timekeeper.advance(Duration.ofSeconds(1));

        assertThatThrownBy(f::get).isInstanceOf(NotFound.class);
    }

    // IDLE

    @Test
    void notRead_closesTheWatch_andTheNextGetOpensIt() {
        live("v1");
        f.timekeeper.advance(Duration.ofSeconds(90));
        assertThat(f.server.openWatches()).isZero();
        assertThat(f.store.state(DB).phase()).isEqualTo(Phase.STALE);
        f.update(DB, "v2");

        assertThat(f.get()).isEqualTo("v2");
        f.requireRequests(2, 2);
        assertThat(f.server.openWatches()).isEqualTo(1);
    }

    @Test
    @ExpectedWarnings("LIST secrets named db was answered 503")
    void idle_serverDownOnReopening_servesTheLastKnownAndSaysStale() {
        live("v1");
        f.timekeeper.advance(Duration.ofSeconds(90));
        f.fail(Verb.LIST, 1000, FailureReason.UNAVAILABLE, 503);

        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.store.state(DB).phase()).isEqualTo(Phase.STALE);
        assertThat(f.store.state(DB).lastFailure()).hasMessageContaining("503");
    }

    @Test
    void idle_serverSilentOnReopening_servesTheLastKnownAfterTheWait() throws Exception {
        Held held = reopenOnASilentServer();

        assertThat(f.store.state(DB).phase()).isEqualTo(Phase.STALE);
        held.release();
    }

    @Test
    @ExpectedWarnings("LIST secrets named db was answered 503")
    void idle_newReferrer_beginsAnew_andDoesNotFallBackToTheLastKnown() throws Exception {
        live("v1");
        f.timekeeper.advance(Duration.ofSeconds(90));
        f.fail(Verb.LIST, 1000, FailureReason.UNAVAILABLE, 503);
        f.store.addReference(DB, OTHER_POD);
        CompletableFuture<String> get = f.getBehind();
        f.timekeeper.awaitWaiters(1);
        f.timekeeper.advance(Duration.ofSeconds(1));

        assertThat(failureOf(get)).isInstanceOf(NotSynced.class);
    }

    @Test
    void idle_lastReferenceGone_leavesNothing() {
        live("v1");
        f.timekeeper.advance(Duration.ofSeconds(90));
        f.store.deleteReference(DB, POD);

        f.requireNothingHeld();
    }

    @Test
    void idle_serverStaysSilentOnReopening_onlyTheFirstGetWaits() throws Exception {
        Held held = reopenOnASilentServer();

        assertThat(broughtBy(f.getBehind())).isEqualTo("v1");
        assertThat(f.store.state(DB).phase()).isEqualTo(Phase.STALE);
        f.update(DB, "v2");
        held.release();
        assertThat(f.get()).isEqualTo("v2");
        assertThat(f.store.state(DB).phase()).isEqualTo(Phase.FRESH);
    }

    // the server does not do as it was asked

    @Test
    void list_bringsOtherObjectsToo_onlyTheOneThatWasAskedForCounts() {
        try (WatchFixture unfiltered = WatchFixture.withoutSelectors()) {
            unfiltered.create(key(1), "another's");
            unfiltered.store.addReference(DB, POD);
            assertThatThrownBy(unfiltered::get).isInstanceOf(NotFound.class);

            unfiltered.create(DB, "v1");
            unfiltered.update(key(1), "another's still");
            assertThat(unfiltered.get()).isEqualTo("v1");

            unfiltered.delete(key(1));
            assertThat(unfiltered.get()).isEqualTo("v1");
        }
    }

    // IMMUTABLE

    @Test
    void immutable_isServedWithoutAWatch() {
        f.server.cluster().create(Secrets.immutable(DB, "v1"));
        f.store.addReference(DB, POD);

        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.server.openWatches()).isZero();
        f.timekeeper.advance(Duration.ofHours(1));
        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.store.state(DB).phase()).isEqualTo(Phase.FRESH);
        assertThat(f.server.count(Verb.LIST)).isEqualTo(1);
    }

    @Test
    void immutable_recreated_isReadAnewForANewReferrer() {
        f.server.cluster().create(Secrets.immutable(DB, "v1"));
        f.store.addReference(DB, POD);
        f.delete(DB);
        f.server.cluster().create(Secrets.immutable(DB, "v2"));
        assertThat(f.get()).isEqualTo("v1");
        f.store.addReference(DB, OTHER_POD);

        assertThat(f.get()).isEqualTo("v2");
    }

    // The end

    @Test
    void close_whileAGetWaits_endsItPromptly() throws Exception {
        Held held = f.server.faults().hold(RequestPattern.any().verb(Verb.LIST));
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
        Held held = f.server.faults().hold(RequestPattern.any().verb(Verb.LIST));
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

    /** Has an idle object read while lists are held: the get waits, and is served what was known. */
    private Held reopenOnASilentServer() throws InterruptedException {
        live("v1");
        f.timekeeper.advance(Duration.ofSeconds(90));
        Held held = f.server.faults().hold(RequestPattern.any().verb(Verb.LIST));
        CompletableFuture<String> get = f.getBehind();
        f.timekeeper.awaitWaiters(1);
        f.timekeeper.advance(Duration.ofSeconds(1));
        assertThat(broughtBy(get)).isEqualTo("v1");
        return held;
    }

    private void live(String value) {
        f.create(DB, value);
        f.store.addReference(DB, POD);
        assertThat(f.get()).isEqualTo(value);
    }

    @Test
    void clusterScopedObject_isWatched() {
        Node node = new NodeBuilder()
                .withNewMetadata()
                .withName("worker-1")
                .endMetadata()
                .build();
        f.server.cluster().create(node);
        ObjectKey key = ObjectKey.validatedClusterScoped("worker-1");
        try (WatchObjectStore<Node> nodes = new WatchObjectStore<>(
                ObjectKind.NODE,
                of -> f.server.listerWatcher(ObjectKind.NODE, of.namespace(), "metadata.name=" + of.name()),
                f.server.getter(ObjectKind.NODE),
                StoreOptions.defaults(f.timekeeper),
                WatchObjectStore.WatchTimes.DEFAULT)) {
            nodes.addReference(key, POD);

            assertThat(nodes.get("", "worker-1").getMetadata().getName()).isEqualTo("worker-1");
            assertThatThrownBy(() -> nodes.get("", "other")).isInstanceOf(NotRegistered.class);
            assertThatThrownBy(() -> nodes.get("default", "worker-1")).isInstanceOf(IllegalArgumentException.class);
        }
    }

    private static ObjectKey key(int i) {
        return ObjectKey.of("default", "secret-" + i);
    }
}
