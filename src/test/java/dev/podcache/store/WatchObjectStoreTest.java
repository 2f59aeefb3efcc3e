package dev.podcache.store;

import static dev.podcache.store.TtlFixture.OTHER_POD;
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
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Objects that are watched, and those that need no watch for a while. */
@ExtendWith(NoLeaks.class)
class WatchObjectStoreTest {

    private final WatchFixture f = new WatchFixture();

    @AfterEach
    void close() {
        f.close();
    }

    @Test
    void changes_areSeenWithoutARequest() {
        f.live("v1");
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
        f.live("v1");
        Object before = f.store.get(DB.namespace(), DB.name());
        f.store.addReference(DB, OTHER_POD);

        assertThat(f.store.get(DB.namespace(), DB.name())).isSameAs(before);
        f.requireRequests(1, 1);
    }

    @Test
    void lastReference_closesTheWatchAtOnce() {
        f.live("v1");
        f.store.deleteReference(DB, POD);

        f.requireNothingHeld();
    }

    @Test
    void references_whileNothingAnswers_doNotWait() {
        HeldRequests held = f.server.faults().hold(RequestPattern.any());
        for (int i = 0; i < 20; i++) {
            f.store.addReference(WatchFixture.key(i), POD);
        }
        for (int i = 0; i < 20; i++) {
            f.store.deleteReference(WatchFixture.key(i), POD);
        }
        held.release();

        f.requireNothingHeld();
    }

    @Test
    void notRead_closesTheWatch_andTheNextGetOpensIt() {
        f.live("v1");
        f.timekeeper.advance(Duration.ofSeconds(90));
        assertThat(f.server.openWatches()).isZero();
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.STALE);
        f.update(DB, "v2");

        assertThat(f.get()).isEqualTo("v2");
        f.requireRequests(2, 2);
        assertThat(f.server.openWatches()).isEqualTo(1);
    }

    @Test
    @ExpectedWarnings("LIST secrets named db was answered 503")
    void idle_serverDownOnReopening_servesTheLastKnownAndSaysStale() {
        f.live("v1");
        f.timekeeper.advance(Duration.ofSeconds(90));
        f.fail(Verb.LIST, 1000, FailureReason.UNAVAILABLE, 503);

        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.STALE);
        assertThat(f.store.state(DB).lastFailure()).hasMessageContaining("503");
    }

    @Test
    void idle_serverSilentOnReopening_servesTheLastKnownAfterTheWait() throws Exception {
        HeldRequests held = reopenOnASilentServer();

        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.STALE);
        held.release();
    }

    @Test
    @ExpectedWarnings("LIST secrets named db was answered 503")
    void idle_newReferrer_beginsAnew_andDoesNotFallBackToTheLastKnown() throws Exception {
        f.live("v1");
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
        f.live("v1");
        f.timekeeper.advance(Duration.ofSeconds(90));
        f.store.deleteReference(DB, POD);

        f.requireNothingHeld();
    }

    @Test
    void idle_serverStaysSilentOnReopening_onlyTheFirstGetWaits() throws Exception {
        HeldRequests held = reopenOnASilentServer();

        assertThat(broughtBy(f.getBehind())).isEqualTo("v1");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.STALE);
        f.update(DB, "v2");
        held.release();
        assertThat(f.get()).isEqualTo("v2");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
    }

    @Test
    void list_bringsOtherObjectsToo_onlyTheOneThatWasAskedForCounts() {
        try (WatchFixture unfiltered = WatchFixture.withoutSelectors()) {
            unfiltered.create(WatchFixture.key(1), "another's");
            unfiltered.store.addReference(DB, POD);
            assertThatThrownBy(unfiltered::get).isInstanceOf(NotFound.class);

            unfiltered.create(DB, "v1");
            unfiltered.update(WatchFixture.key(1), "another's still");
            assertThat(unfiltered.get()).isEqualTo("v1");

            unfiltered.delete(WatchFixture.key(1));
            assertThat(unfiltered.get()).isEqualTo("v1");
        }
    }

    @Test
    void immutable_isServedWithoutAWatch() {
        f.server.cluster().create(Secrets.immutable(DB, "v1"));
        f.store.addReference(DB, POD);

        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.server.openWatches()).isZero();
        f.timekeeper.advance(Duration.ofHours(1));
        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
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

    /** Has an idle object read while lists are held: the get waits, and is served what was known. */
    private HeldRequests reopenOnASilentServer() throws InterruptedException {
        f.live("v1");
        f.timekeeper.advance(Duration.ofSeconds(90));
        HeldRequests held = f.server.faults().hold(RequestPattern.any().verb(Verb.LIST));
        CompletableFuture<String> get = f.getBehind();
        f.timekeeper.awaitWaiters(1);
        f.timekeeper.advance(Duration.ofSeconds(1));
        assertThat(broughtBy(get)).isEqualTo("v1");
        return held;
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
}
