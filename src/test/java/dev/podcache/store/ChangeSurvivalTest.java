package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ReadConsistency;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What follows a change of an answer happens, whatever something else that follows it throws. */
@ExtendWith(NoLeaks.class)
class ChangeSurvivalTest {

    private static final ObjectKey OTHER = ObjectKey.of("default", "other");

    private final ManualTimekeeper manual = ManualTimekeeper.passingWhileWaiting();
    private final BrokenTimekeeper broken = new BrokenTimekeeper(manual);

    /** Throws where a test says so, once or more. */
    private static final class BrokenTimekeeper extends ForwardingTimekeeper {

        private int refusedSweeps;
        private int sweeps;
        private boolean clockThrows;
        private int clockReadsBefore;
        private boolean refusesTasks;

        BrokenTimekeeper(ManualTimekeeper time) {
            super(time);
        }

        @Override
        public Scheduled schedule(Duration delay, Runnable task) {
            if (delay.equals(Duration.ofSeconds(1))) {
                if (refusedSweeps > 0) {
                    refusedSweeps--;
                    throw new InternalError("no timer");
                }
                sweeps++;
            }
            return super.schedule(delay, task);
        }

        @Override
        public long nanoTime() {
            if (clockThrows && clockReadsBefore > 0) {
                clockReadsBefore--;
            } else if (clockThrows) {
                clockThrows = false;
                throw new InternalError("no time");
            }
            return super.nanoTime();
        }

        @Override
        public Executor blocking() {
            return refusesTasks
                    ? task -> {
                        throw new InternalError("no thread");
                    }
                    : super.blocking();
        }
    }

    private StoreOptions bounded(long bytes) {
        return new StoreOptions(
                broken, Duration.ofSeconds(10), PayloadBudget.ofBytes(bytes, broken), PodcacheMetrics.NONE);
    }

    @Test
    @ExpectedWarnings("an observer of a change of default/db failed")
    void observerThrows_othersAreToldAndTheGetIsAnswered() {
        try (TtlFixture f = new TtlFixture(manual)) {
            List<ObjectKey> told = new ArrayList<>();
            f.store.observe(key -> {
                throw new IllegalStateException("an observer");
            });
            f.store.observe(told::add);
            f.seen("v1");

            // the reference, and the answer
            assertThat(told).containsExactly(DB, DB);
        }
    }

    @Test
    @ExpectedWarnings("the reads of objects are not counted for the payload budget until the next object is received")
    void sweepCannotBeScheduled_getIsAnsweredAndTheNextObjectStartsIt() {
        try (TtlFixture f = new TtlFixture(manual, bounded(12_000))) {
            broken.refusedSweeps = 1;
            f.seen("v1");
            assertThat(broken.sweeps).isZero();

            read(f, OTHER);
            assertThat(broken.sweeps).isOne();
            drop(f, DB, OTHER);
        }
    }

    @Test
    @ExpectedWarnings("the reads of objects are not counted for the payload budget until the next object is received")
    void sweepCannotBeRepeated_theNextObjectStartsItAgain() {
        try (TtlFixture f = new TtlFixture(manual, bounded(12_000))) {
            f.seen("v1");
            broken.refusedSweeps = 1;
            manual.advance(Duration.ofSeconds(3));
            assertThat(broken.sweeps).isOne();

            read(f, OTHER);
            assertThat(broken.sweeps).isEqualTo(2);
            manual.advance(Duration.ofSeconds(3));
            assertThat(broken.sweeps).isEqualTo(5);
            drop(f, DB, OTHER);
        }
    }

    @Test
    @ExpectedWarnings("the eviction of default/db failed")
    void evictionThrows_watchGoesOnAndTheNextEvictionSucceeds() {
        FakeApiServer server = new FakeApiServer(manual);
        try (server;
                WatchObjectStore<Secret> store = watching(server)) {
            server.cluster().create(Secrets.of(DB, "v1"));
            store.addReference(DB, POD);
            assertThat(store.state(DB).cacheState()).isEqualTo(CacheState.UNREAD);

            // observers are told before the budget weighs
            Runnable end = store.observe(key -> broken.clockThrows = true);
            server.cluster().update(Secrets.of(DB, "v2"));
            end.run();
            assertThat(store.ifHit("default", "db")).extracting(Secrets::value).isEqualTo("v2");
            assertThat(store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);

            server.cluster().update(Secrets.of(DB, "v3"));
            assertThat(store.ifHit("default", "db")).isNull();
            assertThat(store.state(DB).cacheState()).isEqualTo(CacheState.UNREAD);
        }
    }

    @Test
    @ExpectedWarnings("a part of what follows a change of default/Not legal failed")
    void effectThrows_othersHappen() {
        FakeApiServer server = new FakeApiServer(manual);
        List<String> happened = new ArrayList<>();
        try (server;
                WatchObjectStore<Secret> store = watching(server)) {
            // its name is not legal, so it opens no watch
            WatchEntry<Secret> entry = new WatchEntry<>(ObjectKey.of("default", "Not legal"), store);
            synchronized (entry) {
                entry.deferLocked(() -> {
                    throw new IllegalStateException("an effect");
                });
                entry.deferLocked(() -> happened.add("other"));
            }
            entry.changed();
        }

        assertThat(happened).containsExactly("other");
    }

    @Test
    void noThreadForAnAsyncGet_completesAllTheSame() {
        try (TtlFixture f = new TtlFixture(manual, StoreOptions.defaults(broken))) {
            f.create(DB, "v1");
            f.store.addReference(DB, POD);
            broken.refusesTasks = true;
            CompletableFuture<Secret> brought = f.store.getAsync("default", "db");
            CompletableFuture<Secret> failed = f.store.getAsync("default", "missing");
            broken.refusesTasks = false;

            assertThat(brought)
                    .isCompletedWithValueMatching(
                            secret -> Secrets.value(secret).equals("v1"));
            assertThat(failed).isCompletedExceptionally();
        }
    }

    @Test
    void clockThrowsAtANewReference_leavesNone() {
        FakeApiServer server = new FakeApiServer(manual);
        try (server;
                WatchObjectStore<Secret> store = watching(server, StoreOptions.defaults(broken))) {
            server.cluster().create(Secrets.immutable(DB, "v1"));
            store.addReference(DB, POD);
            broken.clockThrows = true;
            assertThatThrownBy(() -> store.addReference(DB, OTHER_POD)).hasMessage("no time");

            store.deleteReference(DB, POD);
            assertThat(store.size()).isZero();
        }
    }

    @Test
    void clockThrowsAtTheLastReference_closesTheWatch() {
        FakeApiServer server = new FakeApiServer(manual);
        try (server;
                WatchObjectStore<Secret> store = watching(server, StoreOptions.defaults(broken))) {
            server.cluster().create(Secrets.of(DB, "v1"));
            store.addReference(DB, POD);
            List<Runnable> effects = new ArrayList<>();
            broken.clockThrows = true;
            store.deleteReference(DB, POD, effects::add);
            broken.clockThrows = false;
            effects.forEach(Runnable::run);

            assertThat(store.size()).isZero();
            assertThat(server.openWatches()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void clockThrowsDuringARead_theNextReadIsAnswered(int clockReadsBefore) {
        try (TtlFixture f = new TtlFixture(manual, StoreOptions.defaults(broken))) {
            f.create(DB, "v1");
            f.store.addReference(DB, POD);
            clockThrowsDuring(clockReadsBefore, () -> f.store.get(DB));

            assertThat(f.get(DB)).isEqualTo("v1");
            f.store.deleteReference(DB, POD);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void clockThrowsDuringAReadOfTheLatestState_theNextReadIsAnswered(int clockReadsBefore) {
        FakeApiServer server = new FakeApiServer(manual);
        try (server;
                WatchObjectStore<Secret> store = watching(server, StoreOptions.defaults(broken))) {
            server.cluster().create(Secrets.of(DB, "v1"));
            store.addReference(DB, POD);
            clockThrowsDuring(clockReadsBefore, () -> store.get("default", "db", ReadConsistency.latest()));

            assertThat(store.get("default", "db", ReadConsistency.latest()))
                    .extracting(Secrets::value)
                    .isEqualTo("v1");
        }
    }

    private void clockThrowsDuring(int clockReadsBefore, ThrowingCallable read) {
        broken.clockReadsBefore = clockReadsBefore;
        broken.clockThrows = true;
        Throwable thrown = catchThrowable(read);
        broken.clockThrows = false;
        if (thrown != null) {
            assertThat(thrown).hasStackTraceContaining("no time");
        }
    }

    private WatchObjectStore<Secret> watching(FakeApiServer server) {
        return watching(server, bounded(1));
    }

    private static WatchObjectStore<Secret> watching(FakeApiServer server, StoreOptions options) {
        return new WatchObjectStore<>(
                ObjectKind.SECRET,
                key -> server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()),
                server.getter(ObjectKind.SECRET),
                options,
                WatchTimes.DEFAULT);
    }

    private static void read(TtlFixture f, ObjectKey key) {
        f.create(key, "v1");
        f.store.addReference(key, POD);
        assertThat(f.get(key)).isEqualTo("v1");
    }

    private void drop(TtlFixture f, ObjectKey... keys) {
        for (ObjectKey key : keys) {
            f.store.deleteReference(key, POD);
        }
        // the sweep finds nothing left
        manual.advance(Duration.ofSeconds(2));
    }
}
