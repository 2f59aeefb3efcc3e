package dev.podcache.store;

import static dev.podcache.store.StoreFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RefusingTimers;
import dev.podcache.testing.Secrets;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Objects that share one watch of their namespace. */
@ExtendWith(NoLeaks.class)
class NamespaceScopeTest {

    private static final ObjectKey NAMESPACE = ObjectKey.of("default", "");
    private static final ObjectKey CERT = ObjectKey.of("default", "cert");
    private static final Duration GATHERED = Duration.ofMillis(10);

    private final WatchFixture f = WatchFixture.ofNamespaces(new ManualTimekeeper());

    @AfterEach
    void close() {
        f.close();
    }

    @Test
    void objectsRegisteredTogether_areReadByOneListAndOneWatch() {
        for (int i = 0; i < 100; i++) {
            f.create(WatchFixture.key(i), "v1");
            f.store.addReference(WatchFixture.key(i), POD);
        }
        f.requireRequests(0, 0);
        f.timekeeper.advance(GATHERED);
        f.timekeeper.advance(GATHERED);

        f.requireRequests(1, 1);
        for (int i = 0; i < 100; i++) {
            assertThat(f.get(WatchFixture.key(i))).isEqualTo("v1");
            f.update(WatchFixture.key(i), "v2");
            assertThat(f.get(WatchFixture.key(i))).isEqualTo("v2");
        }
        f.requireRequests(1, 1);
    }

    @Test
    void objectsRegisteredOneAfterTheOther_areReadByOneList_thatWaitsForAtMost100Millis() {
        for (int i = 0; i < 20; i++) {
            f.store.addReference(WatchFixture.key(i), POD);
            f.timekeeper.advance(Duration.ofMillis(5));
        }
        f.requireRequests(1, 1);

        // too late for that list
        f.store.addReference(WatchFixture.key(20), POD);
        f.requireRequests(2, 1);
    }

    @Test
    void get_doesNotWaitForFurtherRegistrations() {
        f.live("v1");

        f.requireRequests(1, 1);
    }

    @Test
    void objectInAnotherNamespace_hasAnotherWatch() {
        f.live("v1");
        ObjectKey other = ObjectKey.of("kube-system", "db");
        f.create(other, "v2");
        f.store.addReference(other, POD);

        assertThat(f.get(other)).isEqualTo("v2");
        assertThat(f.server.openWatches()).isEqualTo(2);
    }

    @Test
    void join_ofALiveWatch_isReadByName_alsoIfAbsent() {
        f.live("v1");
        f.create(CERT, "c1");
        f.store.addReference(CERT, POD);
        f.store.addReference(WatchFixture.key(1), POD);

        assertThat(f.get(CERT)).isEqualTo("c1");
        assertThatThrownBy(() -> f.get(WatchFixture.key(1))).isInstanceOf(NotFound.class);
        f.requireRequests(3, 1);
        assertThat(f.store.state(CERT).cacheState()).isEqualTo(CacheState.FRESH);
        f.update(CERT, "c2");
        assertThat(f.get(CERT)).isEqualTo("c2");
    }

    /** 400 join a live watch, as after a restart; a get waits for the last of them. */
    @Test
    void reads_ofMembersForWhichGetsWait_goFirst() {
        f.live("v1");
        List<HeldRequests> held = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            f.create(WatchFixture.key(i), "v" + i);
            held.add(hold(WatchFixture.key(i)));
        }
        for (int i = 0; i < 400; i++) {
            f.store.addReference(WatchFixture.key(i), POD);
        }
        f.requireRequests(17, 1);
        CompletableFuture<String> last =
                f.store.getAsync("default", WatchFixture.key(399).name()).thenApply(Secrets::value);
        // one of those in flight makes room
        held.get(3).release();

        assertThat(held.get(399).arrivals()).isEqualTo(1);
        assertThat(held.get(16).arrivals()).isZero();
        held.get(399).release();
        assertThat(last).isCompletedWithValue("v399");
        assertThat(held.get(16).arrivals()).as("then the next in turn").isEqualTo(1);
        assertThat(held.get(17).arrivals()).isZero();
        held.forEach(HeldRequests::release);
        f.requireRequests(401, 1);
    }

    /** Its place in the queue is not the time of the server. */
    @Test
    void get_ofAMemberWhoseReadIsNotSentYet_waitsLonger() {
        f.live("v1");
        List<HeldRequests> held = new ArrayList<>();
        for (int i = 0; i < 17; i++) {
            f.create(WatchFixture.key(i), "v" + i);
            held.add(hold(WatchFixture.key(i)));
            f.store.addReference(WatchFixture.key(i), POD);
        }
        CompletableFuture<String> last =
                f.store.getAsync("default", WatchFixture.key(16).name()).thenApply(Secrets::value);
        f.timekeeper.advance(Duration.ofSeconds(2));
        assertThat(last).isNotDone();
        held.get(0).release();
        held.get(16).release();

        assertThat(last).isCompletedWithValue("v16");
        held.forEach(HeldRequests::release);
    }

    @Test
    void join_whileTheNamespaceIsListed_isNotAnsweredByThatList() {
        f.create(DB, "v1");
        f.create(CERT, "c1");
        HeldRequests list = hold(NAMESPACE);
        f.store.addReference(DB, POD);
        f.timekeeper.advance(GATHERED);
        assertThat(list.arrivals()).isEqualTo(1);
        f.update(CERT, "c2");
        f.server.cluster().holdWatchCache();
        f.store.addReference(CERT, POD);
        list.release();

        assertThat(f.get(DB)).isEqualTo("v1");
        assertThat(f.get(CERT)).isEqualTo("c2");
        f.requireRequests(2, 1);
        f.server.cluster().releaseWatchCache();
    }

    @Test
    void eventDuringTheRead_isNewerThanItsAnswer() {
        f.live("v1");
        f.create(CERT, "c1");
        HeldRequests read = hold(CERT);
        f.store.addReference(CERT, POD);
        f.update(CERT, "c2");
        read.release();

        assertThat(f.get(CERT)).isEqualTo("c2");
    }

    @Test
    void deletionDuringTheRead_isNewerThanItsAnswer() {
        f.live("v1");
        f.create(CERT, "c1");
        HeldRequests read = hold(CERT);
        f.store.addReference(CERT, POD);
        f.delete(CERT);
        read.release();

        assertThatThrownBy(() -> f.get(CERT)).isInstanceOf(NotFound.class);
    }

    @Test
    void eventsThatTheReadCovers_changeNothing() {
        f.live("v1");
        f.create(CERT, "c1");
        f.server.cluster().holdWatchCache();
        f.update(CERT, "c2");
        f.delete(CERT);
        f.create(CERT, "c3");
        f.store.addReference(CERT, POD);
        assertThat(f.get(CERT)).isEqualTo("c3");
        List<String> seen = new ArrayList<>();
        Runnable end = f.store.observe(key -> seen.add(f.get(key)));

        f.server.cluster().releaseWatchCache();
        f.update(CERT, "c4");
        end.run();

        assertThat(seen).isNotEmpty().containsOnly("c4");
    }

    @Test
    void newReference_toALiveObject_makesNoRequest() {
        f.live("v1");
        f.store.addReference(DB, OTHER_POD);

        assertThat(f.get()).isEqualTo("v1");
        f.requireRequests(1, 1);
    }

    @Test
    void watch_isClosedWithItsLastMember() {
        f.live("v1");
        f.store.addReference(CERT, POD);
        f.store.deleteReference(DB, POD);
        assertThat(f.server.openWatches()).isEqualTo(1);

        f.store.deleteReference(CERT, POD);

        assertThat(f.server.openWatches()).isZero();
    }

    @Test
    void reference_takenBackBeforeTheFirstList_makesNoRequest() {
        f.store.addReference(DB, POD);
        f.store.deleteReference(DB, POD);
        f.timekeeper.advance(GATHERED);

        f.requireRequests(0, 0);
    }

    @Test
    void immutableObject_leaves() {
        f.server.cluster().create(Secrets.immutable(DB, "v1"));
        f.store.addReference(DB, POD);

        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.server.openWatches()).isZero();
    }

    @Test
    void unreadObject_leaves_andItsNextGetReadsItByName() {
        f.live("v1");
        f.create(CERT, "c1");
        f.store.addReference(CERT, POD);
        for (int i = 0; i < 4; i++) {
            f.get(CERT);
            f.timekeeper.advance(Duration.ofSeconds(30));
        }
        assertThat(f.store.state(DB).freshness()).contains("because the object was not read");
        f.update(DB, "v2");

        assertThat(f.get()).isEqualTo("v2");
        assertThat(f.server.openWatches()).isEqualTo(1);
    }

    @Test
    @ExpectedWarnings("answered 500")
    void read_thatFails_isRepeatedAfterAPause() {
        f.live("v1");
        f.create(CERT, "c1");
        f.fail(Verb.LIST, 1, FailureReason.UNAVAILABLE, 500);
        f.store.addReference(CERT, POD);
        assertThat(f.store.state(CERT).cacheState()).isEqualTo(CacheState.NOT_SYNCED);
        assertThat(f.store.state(CERT).lastFailure()).hasMessageContaining("answered 500");

        f.timekeeper.advance(Duration.ofMillis(200));

        assertThat(f.get(CERT)).isEqualTo("c1");
        assertThat(f.get()).isEqualTo("v1");
    }

    /** As of a Secret that the server cannot decrypt. */
    @Test
    @ExpectedWarnings("answered 500")
    void reads_ofOneMemberAlwaysFail_delayNoOther() {
        f.live("v1");
        ObjectKey broken = WatchFixture.key(1);
        RequestPattern itsReads = RequestPattern.any().verb(Verb.LIST).key(broken);
        f.server.failNext(Integer.MAX_VALUE, failure(500, "answered 500"), itsReads);
        f.store.addReference(broken, POD);
        f.timekeeper.advance(Duration.ofMinutes(3));
        assertThat(f.server.count(Verb.LIST)).as("with pauses that grow").isBetween(9, 40);
        f.create(CERT, "c1");

        f.store.addReference(CERT, POD);

        assertThat(f.store.state(CERT).cacheState()).isEqualTo(CacheState.FRESH);
        f.server.clearFailures();
        f.timekeeper.advance(Duration.ofSeconds(30));
        assertThat(f.store.state(broken).cacheState()).isEqualTo(CacheState.ABSENT);
    }

    @Test
    @ExpectedWarnings("not answered")
    void reads_ofOneMemberAreNeverAnswered_delayNoOther() {
        f.live("v1");
        ObjectKey silent = WatchFixture.key(1);
        f.server.failNext(
                Integer.MAX_VALUE,
                failure(0, "not answered"),
                RequestPattern.any().verb(Verb.LIST).key(silent));
        f.store.addReference(silent, POD);
        f.timekeeper.advance(Duration.ofMinutes(3));

        f.store.addReference(CERT, POD);

        assertThat(f.store.state(CERT).cacheState()).isEqualTo(CacheState.ABSENT);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 500})
    @ExpectedWarnings("not answered")
    void reads_ofTwoMembersFail_pauseThoseOfOthers(int code) {
        f.live("v1");
        f.server.failNext(
                Integer.MAX_VALUE,
                failure(code, "not answered"),
                RequestPattern.any().verb(Verb.LIST));
        for (int i = 0; i < 100; i++) {
            f.store.addReference(WatchFixture.key(i), POD);
        }
        f.requireRequests(3, 1);
        f.timekeeper.advance(Duration.ofSeconds(10));
        assertThat(f.server.count(Verb.LIST))
                .as("of 16 members after each pause")
                .isLessThan(150);

        f.server.clearFailures();
        f.timekeeper.advance(Duration.ofSeconds(30));
        for (int i = 0; i < 100; i++) {
            assertThat(f.store.state(WatchFixture.key(i)).cacheState()).isEqualTo(CacheState.ABSENT);
        }
    }

    private static ApiServerException failure(int code, String message) {
        return new ApiServerException(FailureReason.UNAVAILABLE, code, null, message, null);
    }

    @Test
    @ExpectedWarnings("connection closed")
    void lostWatch_makesAllStale_andAListConfirmsThem() {
        f.live("v1");
        f.create(CERT, "c1");
        f.store.addReference(CERT, POD);
        f.get(CERT);
        f.server.cluster().holdWatchCache();
        f.server.resetWatches();
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.STALE);
        f.update(DB, "v2");

        // the pause after a failure, and the time within which the list is made
        f.timekeeper.advance(Duration.ofMillis(2200));

        assertThat(f.get()).isEqualTo("v2");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
        assertThat(f.store.state(CERT).cacheState()).isEqualTo(CacheState.FRESH);
        f.server.cluster().releaseWatchCache();
    }

    @Test
    @ExpectedWarnings("connection closed")
    void join_whileTheWatchIsBroken_listsAtOnce() {
        f.live("v1");
        f.create(CERT, "c1");
        f.fail(Verb.WATCH, 100, FailureReason.UNAVAILABLE, 500);
        f.server.resetWatches();
        // the pauses have grown
        f.timekeeper.advance(Duration.ofSeconds(5));
        f.server.clearFailures();
        f.requireRequests(1, f.server.count(Verb.WATCH));

        f.store.addReference(CERT, POD);

        assertThat(f.get(CERT)).isEqualTo("c1");
        assertThat(f.get()).isEqualTo("v1");
        f.requireRequests(2, f.server.count(Verb.WATCH));
    }

    /** As where no thread can be started. */
    @Test
    void join_workersRefuseIt_isReadAllTheSame() {
        RefusingWorkers workers = new RefusingWorkers(f.timekeeper);
        try (WatchObjectStore<Secret> store = storeOn(workers)) {
            store.addReference(DB, POD);
            f.timekeeper.advance(GATHERED.multipliedBy(2));
            workers.refusals = 1;
            store.addReference(CERT, POD);

            assertThat(workers.refusals).isZero();
            assertThat(store.state(CERT).cacheState()).isEqualTo(CacheState.ABSENT);
            store.deleteReference(DB, POD);
            store.deleteReference(CERT, POD);
        }
    }

    @Test
    @ExpectedWarnings("a timer could not be set; setting it again")
    void join_timerRefusesToGather_isReadAllTheSame() {
        RefusingTimers timers = new RefusingTimers(f.timekeeper);
        try (WatchObjectStore<Secret> store = storeOn(timers)) {
            // the first is that of the sweep
            store.addReference(ObjectKey.of("other", "one"), POD);
            timers.refusals = 1;
            store.addReference(DB, POD);
            f.timekeeper.advance(GATHERED.multipliedBy(2));

            assertThat(timers.refusals).isZero();
            assertThat(store.state(DB).cacheState()).isEqualTo(CacheState.ABSENT);
            store.deleteReference(DB, POD);
            store.deleteReference(ObjectKey.of("other", "one"), POD);
        }
    }

    private WatchObjectStore<Secret> storeOn(Timekeeper timekeeper) {
        return WatchObjectStore.ofNamespaces(
                ObjectKind.SECRET,
                key -> f.server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()),
                f.server.inNamespace(ObjectKind.SECRET),
                f.server.getter(ObjectKind.SECRET),
                StoreOptions.defaults(timekeeper),
                WatchObjectStore.WatchTimes.DEFAULT);
    }

    /** Refuses tasks, as often as requested. */
    private static final class RefusingWorkers extends ForwardingTimekeeper {

        private int refusals;

        RefusingWorkers(Timekeeper time) {
            super(time);
        }

        @Override
        public Executor workers() {
            return task -> {
                if (refusals > 0) {
                    refusals--;
                    throw new RejectedExecutionException("thrown by the test");
                }
                super.workers().execute(task);
            };
        }
    }

    private HeldRequests hold(ObjectKey listed) {
        return f.server
                .faults()
                .holdNext(1, RequestPattern.any().verb(Verb.LIST).key(listed));
    }
}
