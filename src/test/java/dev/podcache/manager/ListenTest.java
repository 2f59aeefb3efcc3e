package dev.podcache.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.PodKey;
import dev.podcache.object.Referrer;
import dev.podcache.store.DirectObjectStore;
import dev.podcache.store.PayloadBudget;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.store.WatchObjectStore;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What listeners are promised. The executor is driven by hand, so each test decides when a listener runs. */
@ExtendWith(NoLeaks.class)
class ListenTest {

    private static final ObjectKey DB = ObjectKey.of("shop", "db");
    private static final Referrer OWNER = PodKey.of("shop", "web", "uid-web");
    private static final Referrer OTHER = PodKey.of("shop", "mail", "uid-mail");
    private static final Referrer THIRD = PodKey.of("shop", "jobs", "uid-jobs");

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final InterruptedTime interrupted = new InterruptedTime(timekeeper);
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final StoreOptions options = StoreOptions.defaults(timekeeper);
    private final WatchObjectStore<Secret> store = new WatchObjectStore<>(
            ObjectKind.SECRET,
            key -> server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()),
            server.getter(ObjectKind.SECRET),
            options,
            WatchTimes.DEFAULT);
    private final Manager<Secret> manager = Managers.caching(store, pod -> Set.of());
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final List<ObjectEvent<Secret>> events = new ArrayList<>();
    private boolean exists;

    /** Has something happen once, when the time is read after {@link #arm}. */
    private static final class InterruptedTime extends ForwardingTimekeeper {

        private Runnable armed = () -> {};
        private Runnable atNextRead = () -> {};

        InterruptedTime(ManualTimekeeper time) {
            super(time);
        }

        void arm() {
            atNextRead = armed;
            armed = () -> {};
        }

        @Override
        public long nanoTime() {
            Runnable once = atNextRead;
            atNextRead = () -> {};
            once.run();
            return super.nanoTime();
        }
    }

    @Test
    void object_thatIsReadForTheFirstTime_isAdded() throws Exception {
        manager.listen(tasks::add, events::add);
        put("v1");
        register(OWNER);
        runAll();

        assertThat(types()).containsExactly(ObjectEvent.Type.ADDED);
        ObjectEvent<Secret> added = events.get(0);
        assertThat(added.kind()).isEqualTo(ObjectKind.SECRET);
        assertThat(added.key()).isEqualTo(DB);
        assertThat(added.previous()).isEmpty();
        assertThat(Secrets.value(added.current().orElseThrow())).isEqualTo("v1");
        assertThat(added.referrers()).containsExactly(OWNER);
        assertThat(added.initial()).isFalse();
    }

    @Test
    void object_thatIsReplaced_isUpdated() throws Exception {
        put("v1");
        register(OWNER);
        manager.listen(tasks::add, events::add);
        runAll();
        put("v2");
        runAll();

        assertThat(types()).containsExactly(ObjectEvent.Type.ADDED, ObjectEvent.Type.UPDATED);
        assertThat(events.get(0).initial()).isTrue();
        assertThat(Secrets.value(events.get(1).previous().orElseThrow())).isEqualTo("v1");
        assertThat(Secrets.value(events.get(1).current().orElseThrow())).isEqualTo("v2");
    }

    @Test
    void object_thatIsDeletedAndComesAgain_isDeletedAndAdded() throws Exception {
        put("v1");
        register(OWNER);
        manager.listen(tasks::add, events::add);
        runAll();
        server.cluster().delete(Secrets.of(DB, "v1"));
        exists = false;
        runAll();
        put("v2");
        runAll();

        assertThat(types()).containsExactly(ObjectEvent.Type.ADDED, ObjectEvent.Type.DELETED, ObjectEvent.Type.ADDED);
        assertThat(events.get(1).current()).isEmpty();
        assertThat(events.get(2).initial()).isFalse();
    }

    @Test
    void object_thatDoesNotExist_isNoEvent() throws Exception {
        manager.listen(tasks::add, events::add);
        register(OWNER);
        runAll();

        assertThat(events).isEmpty();
    }

    @Test
    void watch_thatIsLostAndOpenAgain_isStaleAndRecovered(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("watch of Secret shop/db failed");
        put("v1");
        register(OWNER);
        manager.listen(tasks::add, events::add);
        runAll();
        server.resetWatches();
        runAll();
        timekeeper.advance(Duration.ofSeconds(10));
        runAll();

        assertThat(types()).containsExactly(ObjectEvent.Type.ADDED, ObjectEvent.Type.STALE, ObjectEvent.Type.RECOVERED);
        assertThat(events.get(2).current()).isEqualTo(events.get(0).current());
    }

    @Test
    void slowListener_seesTheLastStateOnly() throws Exception {
        put("v1");
        register(OWNER);
        manager.listen(tasks::add, events::add);
        runAll();
        for (int i = 2; i <= 9; i++) {
            put("v" + i);
        }

        assertThat(tasks).hasSize(1);
        runAll();
        assertThat(types()).containsExactly(ObjectEvent.Type.ADDED, ObjectEvent.Type.UPDATED);
        assertThat(Secrets.value(events.get(1).current().orElseThrow())).isEqualTo("v9");
        assertThat(Secrets.value(events.get(1).previous().orElseThrow())).isEqualTo("v1");
    }

    @Test
    void answer_thatRepeatsWhatIsKnown_isNoEvent(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("watch of Secret shop/db failed");
        put("v1");
        register(OWNER);
        manager.listen(tasks::add, events::add);
        runAll();
        server.forgetHistory();
        server.resetWatches();
        timekeeper.advance(Duration.ofSeconds(30));
        runAll();

        assertThat(types()).doesNotContain(ObjectEvent.Type.UPDATED);
    }

    @Test
    void newReference_isNoEvent_butIsAmongTheReferrersOfTheNext() throws Exception {
        put("v1");
        register(OWNER);
        manager.listen(tasks::add, events::add);
        runAll();
        register(OTHER);
        runAll();
        assertThat(types()).containsExactly(ObjectEvent.Type.ADDED);

        put("v2");
        runAll();
        assertThat(events.get(1).referrers()).containsExactlyInAnyOrder(OWNER, OTHER);
    }

    @Test
    void event_madeBeforeTheLastReferenceWent_doesNotBeginAfterIt() throws Exception {
        put("v1");
        register(OWNER);
        manager.listen(tasks::add, events::add);
        runAll();
        put("v2");
        manager.unregister(OWNER);
        runAll();

        assertThat(types()).containsExactly(ObjectEvent.Type.ADDED);
    }

    /** What is known and stale when the listener looks is two events at once. */
    @Test
    void event_madeWithOneInWhichTheListenerUnregistersTheLastOwner_doesNotBegin(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("watch of Secret shop/db failed");
        put("v1");
        register(OWNER);
        server.resetWatches();
        manager.listen(tasks::add, event -> {
            events.add(event);
            manager.unregister(OWNER);
        });
        runAll();

        assertThat(types()).containsExactly(ObjectEvent.Type.ADDED);
    }

    @Test
    void object_thatIsReferencedAnew_isAddedAgain() throws Exception {
        put("v1");
        register(OWNER);
        manager.listen(tasks::add, events::add);
        runAll();
        manager.unregister(OWNER);
        register(OTHER);
        runAll();

        assertThat(types()).containsExactly(ObjectEvent.Type.ADDED, ObjectEvent.Type.ADDED);
        assertThat(events.get(1).referrers()).containsExactly(OTHER);
        assertThat(events.get(1).initial()).isFalse();
    }

    @Test
    void object_thatIsReferencedAnewWhileItIsLookedUp_isAddedAgain() throws Exception {
        TtlObjectStore<Secret> caching = new TtlObjectStore<>(
                ObjectKind.SECRET,
                server.getter(ObjectKind.SECRET),
                FixedTtl.ofSeconds(60),
                StoreOptions.defaults(interrupted));
        Manager<Secret> cached = Managers.caching(caching, pod -> Set.of());
        put("v1");
        cached.register(OWNER, Set.of(DB));
        cached.getObject("shop", "db");
        caching.observe(key -> interrupted.arm());
        cached.listen(tasks::add, events::add);
        runAll();
        timekeeper.advance(Duration.ofSeconds(61));
        interrupted.armed = () -> {
            cached.unregister(OWNER);
            cached.register(OTHER, Set.of(DB));
            cached.getObject("shop", "db");
        };
        cached.getObject("shop", "db");
        runAll();

        assertThat(types()).containsExactly(ObjectEvent.Type.ADDED, ObjectEvent.Type.ADDED);
        assertThat(events.get(1).referrers()).containsExactly(OTHER);
    }

    /** An immutable object is not watched, so its state is as old as its list: the time is read for it. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void object_thatIsReferencedAnewAfterItWasLookedUp_isAddedAgainOnce(boolean toldMeanwhile) throws Exception {
        WatchObjectStore<Secret> watching = new WatchObjectStore<>(
                ObjectKind.SECRET,
                key -> server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()),
                server.getter(ObjectKind.SECRET),
                StoreOptions.defaults(interrupted),
                WatchTimes.DEFAULT);
        Manager<Secret> watched = Managers.caching(watching, pod -> Set.of());
        server.cluster().create(Secrets.immutable(DB, "v1"));
        watched.register(OWNER, Set.of(DB));
        watching.observe(key -> {
            if (watching.state(DB).cacheState() == CacheState.FRESH) {
                interrupted.arm();
            }
        });
        watched.listen(tasks::add, events::add);
        runAll();
        interrupted.armed = () -> {
            watched.unregister(OWNER);
            watched.unregister(OTHER);
            watched.register(THIRD, Set.of(DB));
            if (toldMeanwhile) {
                runAll();
            }
        };
        watched.register(OTHER, Set.of(DB));
        runAll();
        server.cluster().delete(Secrets.of(DB, "v1"));
        server.cluster().create(Secrets.immutable(DB, "v2"));
        watched.register(OWNER, Set.of(DB));
        runAll();

        assertThat(types()).containsExactly(ObjectEvent.Type.ADDED, ObjectEvent.Type.ADDED, ObjectEvent.Type.UPDATED);
        assertThat(events.get(1).referrers()).containsExactly(THIRD);
    }

    @Test
    void closed_noEventBegins() throws Exception {
        put("v1");
        register(OWNER);
        AutoCloseable subscription = manager.listen(tasks::add, events::add);
        subscription.close();
        subscription.close();
        put("v2");
        runAll();

        assertThat(events).isEmpty();
    }

    @Test
    void cacheClosed_noEventBegins() throws Exception {
        put("v1");
        register(OWNER);
        manager.listen(tasks::add, events::add);
        store.close();
        runAll();

        assertThat(events).isEmpty();
    }

    @Test
    void listen_cacheIsClosed_isRefused() {
        store.close();

        assertThatIllegalStateException()
                .isThrownBy(() -> manager.listen(tasks::add, events::add))
                .withMessage("the cache is closed: no listener for objects of kind Secret was subscribed");
        assertThatIllegalStateException()
                .isThrownBy(() -> manager.listen(tasks::add, Duration.ofSeconds(1), (owner, changes) -> {}))
                .withMessageContaining("the cache is closed");
    }

    @Test
    void listener_thatThrows_harmsNobody(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("a listener failed with ADDED Secret shop/db");
        put("v1");
        register(OWNER);
        manager.listen(tasks::add, event -> {
            throw new IllegalStateException("broken listener");
        });
        manager.listen(tasks::add, events::add);
        runAll();

        assertThat(types()).containsExactly(ObjectEvent.Type.ADDED);
    }

    @Test
    void executor_thatTakesNoTask_endsTheSubscription_whateverItThrows(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("did not take a task");
        List<Throwable> failures = List.of(
                new RejectedExecutionException("shut down"),
                new IllegalStateException("broken executor"),
                new NoClassDefFoundError("of the executor"),
                new IOException("thrown in spite of the compiler"));
        for (Throwable failure : failures) {
            AtomicInteger tasks = new AtomicInteger();
            manager.listen(
                    task -> {
                        tasks.incrementAndGet();
                        ListenTest.<RuntimeException>thrown(failure);
                    },
                    events::add);
            put("v1");
            register(OWNER);
            put("v2");

            assertThat(tasks).hasValue(1);
            assertThat(Secrets.value(manager.getObject("shop", "db"))).isEqualTo("v2");
            manager.unregister(OWNER);
        }
        assertThat(events).isEmpty();
    }

    /** The first listener has idle watches opened again, whose change the executor refuses before listen() returns. */
    @Test
    void executor_thatTakesNoTaskAtTheSubscription_leavesNoListenerBehind(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("did not take a task");
        put("v1");
        register(OWNER);
        manager.getObject("shop", "db");
        timekeeper.advance(Duration.ofMinutes(30));
        int watches = server.openWatches();
        manager.listen(
                task -> {
                    throw new RejectedExecutionException("shut down");
                },
                events::add);
        timekeeper.advance(Duration.ofMinutes(30));

        assertThat(watches).isZero();
        assertThat(server.openWatches()).isZero();
    }

    @SuppressWarnings("unchecked") // throws anything, as code in other languages does
    private static <E extends Throwable> void thrown(Throwable failure) throws E {
        throw (E) failure;
    }

    @Test
    void objectThatNobodyReads_staysWatchedWhileThereIsAListener() throws Exception {
        put("v1");
        register(OWNER);
        AutoCloseable subscription = manager.listen(tasks::add, events::add);
        runAll();
        timekeeper.advance(Duration.ofMinutes(30));
        assertThat(server.isWatched(DB)).isTrue();

        subscription.close();
        timekeeper.advance(Duration.ofMinutes(30));
        assertThat(server.isWatched(DB)).isFalse();
    }

    @Test
    void watch_thatWasClosedAsIdle_isOpenedByAListener() throws Exception {
        put("v1");
        register(OWNER);
        timekeeper.advance(Duration.ofMinutes(30));
        assertThat(server.isWatched(DB)).isFalse();
        put("v2");

        manager.listen(tasks::add, events::add);
        runAll();

        assertThat(server.isWatched(DB)).isTrue();
        assertThat(events.get(0).type()).isEqualTo(ObjectEvent.Type.ADDED);
        assertThat(events.get(0).initial()).isTrue();
        assertThat(Secrets.value(manager.getObject("shop", "db"))).isEqualTo("v2");
        assertThat(Secrets.value(events.get(events.size() - 1).current().orElseThrow()))
                .isEqualTo("v2");
    }

    @Test
    void underCache_changeIsSeenByTheFirstGetAfterTheTtl() throws Exception {
        TtlObjectStore<Secret> caching = new TtlObjectStore<>(
                ObjectKind.SECRET, server.getter(ObjectKind.SECRET), FixedTtl.ofSeconds(60), options);
        Manager<Secret> cached = Managers.caching(caching, pod -> Set.of());
        cached.listen(tasks::add, events::add);
        put("v1");
        cached.register(OWNER, Set.of(DB));
        cached.getObject("shop", "db");
        put("v2");
        cached.getObject("shop", "db");
        runAll();
        assertThat(types()).containsExactly(ObjectEvent.Type.ADDED);

        timekeeper.advance(Duration.ofSeconds(61));
        cached.getObject("shop", "db");
        runAll();
        assertThat(types()).containsExactly(ObjectEvent.Type.ADDED, ObjectEvent.Type.UPDATED);
    }

    @Test
    void underCache_newReferenceToTheSameVersion_isNoEvent() throws Exception {
        TtlObjectStore<Secret> caching = new TtlObjectStore<>(
                ObjectKind.SECRET, server.getter(ObjectKind.SECRET), FixedTtl.ofSeconds(60), options);
        Manager<Secret> cached = Managers.caching(caching, pod -> Set.of());
        cached.listen(tasks::add, events::add);
        put("v1");
        cached.register(OWNER, Set.of(DB));
        cached.getObject("shop", "db");
        runAll();
        cached.register(OTHER, Set.of(DB));
        runAll();
        cached.getObject("shop", "db");
        runAll();

        assertThat(types()).containsExactly(ObjectEvent.Type.ADDED);
    }

    @Test
    void update_ofAnObjectThatTheBudgetEvictsAtOnce_isTold() throws Exception {
        WatchObjectStore<Secret> bounded = new WatchObjectStore<>(
                ObjectKind.SECRET,
                key -> server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()),
                server.getter(ObjectKind.SECRET),
                new StoreOptions(
                        timekeeper, Duration.ofSeconds(10), PayloadBudget.ofBytes(1, timekeeper), PodcacheMetrics.NONE),
                WatchTimes.DEFAULT);
        Manager<Secret> evicting = Managers.caching(bounded, pod -> Set.of());
        evicting.listen(Runnable::run, events::add);
        put("v1");
        evicting.register(OWNER, Set.of(DB));
        put("v2");

        assertThat(evicting.peek("shop", "db")).isEmpty();
        assertThat(events.stream().map(event -> Secrets.value(event.current().orElseThrow())))
                .containsExactly("v2");
        bounded.close();
    }

    @Test
    void underGet_isRefused() {
        Manager<Secret> direct =
                Managers.simple(new DirectObjectStore<>(ObjectKind.SECRET, server.getter(ObjectKind.SECRET), options));

        assertThatIllegalStateException()
                .isThrownBy(() -> direct.listen(tasks::add, events::add))
                .withMessageContaining("use WATCH or CACHE");
    }

    private void register(Referrer owner) {
        manager.register(owner, Set.of(DB));
    }

    private void put(String value) {
        Secret secret = Secrets.of(DB, value);
        if (exists) {
            server.cluster().update(secret);
        } else {
            server.cluster().create(secret);
        }
        exists = true;
    }

    private void runAll() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
    }

    private List<ObjectEvent.Type> types() {
        return events.stream().map(ObjectEvent::type).toList();
    }
}
