package dev.podcache.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.PodKey;
import dev.podcache.object.Referrer;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.WatchObjectStore;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Listeners with a gathering delay. The executor and the time are driven by hand. */
@ExtendWith(NoLeaks.class)
class GatheredEventsTest {

    private static final ObjectKey DB = ObjectKey.of("shop", "db");
    private static final ObjectKey MAIL = ObjectKey.of("shop", "mail");
    private static final Referrer OWNER = PodKey.of("shop", "web", "uid-web");
    private static final Referrer OTHER = PodKey.of("shop", "mail", "uid-mail");
    private static final Duration GATHER = Duration.ofMillis(50);

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final WatchObjectStore<Secret> store = new WatchObjectStore<>(
            ObjectKind.SECRET,
            key -> server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()),
            server.getter(ObjectKind.SECRET),
            StoreOptions.defaults(timekeeper),
            WatchTimes.DEFAULT);
    private final Manager<Secret> manager = Managers.caching(store, pod -> Set.of());
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final List<Told> told = new ArrayList<>();

    /** One call of the listener. */
    private record Told(Referrer owner, List<ObjectEvent<Secret>> events) {

        List<String> texts() {
            return events.stream()
                    .map(event -> event
                            + event.current()
                                    .map(secret -> " " + Secrets.value(secret))
                                    .orElse(""))
                    .toList();
        }
    }

    /** Which of them the caller has registered, the cache does not know. */
    @Test
    void ownerIsRegisteredAgainByOneThatIsNotEqual_isTold() throws Exception {
        knownTo(() -> "this-application", DB);
        manager.register(() -> "this-application", Set.of(DB));

        update(DB, "v2");
        pass();

        assertThat(told).hasSize(1);
        assertThat(told.get(0).texts()).containsExactly("UPDATED Secret shop/db v2");
    }

    @Test
    void changesOfOneOwner_withinTheDelay_areOneCall() throws Exception {
        knownTo(OWNER, DB, MAIL);
        update(DB, "v2");
        timekeeper.advance(Duration.ofMillis(40));
        update(MAIL, "v2");
        update(DB, "v3");
        runAll();
        assertThat(told).isEmpty();

        timekeeper.advance(Duration.ofMillis(10));
        runAll();
        assertThat(told).hasSize(1);
        assertThat(told.get(0).owner()).isEqualTo(OWNER);
        assertThat(told.get(0).texts()).containsExactly("UPDATED Secret shop/mail v2", "UPDATED Secret shop/db v3");
        assertThat(Secrets.value(told.get(0).events().get(1).previous().orElseThrow()))
                .isEqualTo("v1");
    }

    @Test
    void changeAfterTheDelay_isAnotherCall() throws Exception {
        knownTo(OWNER, DB);
        update(DB, "v2");
        pass();
        update(DB, "v3");
        pass();

        assertThat(told)
                .extracting(Told::texts)
                .containsExactly(List.of("UPDATED Secret shop/db v2"), List.of("UPDATED Secret shop/db v3"));
    }

    @Test
    void slowListener_isToldTheLastState() throws Exception {
        knownTo(OWNER, DB);
        update(DB, "v2");
        timekeeper.advance(GATHER);
        update(DB, "v3");
        timekeeper.advance(GATHER);
        runAll();

        assertThat(told).extracting(Told::texts).containsExactly(List.of("UPDATED Secret shop/db v3"));
    }

    @Test
    void eachOwnerOfAnObject_isToldOnce() throws Exception {
        knownTo(OWNER, DB);
        manager.register(OTHER, Set.of(DB));
        pass();
        told.clear();
        update(DB, "v2");
        pass();

        assertThat(told).extracting(Told::owner).containsExactlyInAnyOrder(OWNER, OTHER);
    }

    @Test
    void deletedAndCreatedWithinTheDelay_isUpdated_deletedLast_isDeleted() throws Exception {
        knownTo(OWNER, DB, MAIL);
        server.cluster().delete(Secrets.of(DB, "v1"));
        server.cluster().create(Secrets.of(DB, "v2"));
        update(MAIL, "v2");
        server.cluster().delete(Secrets.of(MAIL, "v2"));
        pass();

        assertThat(told.get(0).texts()).containsExactly("UPDATED Secret shop/db v2", "DELETED Secret shop/mail");
    }

    @Test
    void createdDeletedAndCreatedWithinTheDelay_isAdded() throws Exception {
        manager.register(OWNER, Set.of(DB));
        listen();
        server.cluster().create(Secrets.of(DB, "v1"));
        server.cluster().delete(Secrets.of(DB, "v1"));
        server.cluster().create(Secrets.of(DB, "v2"));
        pass();

        assertThat(told).extracting(Told::texts).containsExactly(List.of("ADDED Secret shop/db v2"));
        assertThat(told.get(0).events().get(0).previous()).isEmpty();
    }

    @Test
    void createdAndDeletedWithinTheDelay_isNotTold() throws Exception {
        manager.register(OWNER, Set.of(DB));
        listen();
        server.cluster().create(Secrets.of(DB, "v1"));
        update(DB, "v2");
        server.cluster().delete(Secrets.of(DB, "v2"));
        pass();
        assertThat(told).isEmpty();

        server.cluster().create(Secrets.of(DB, "v3"));
        pass();
        assertThat(told).extracting(Told::texts).containsExactly(List.of("ADDED Secret shop/db v3"));
    }

    @Test
    void createdStaleAndDeletedWithinTheDelay_noEventShowsTheObject(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("watch of Secret shop/db failed");
        manager.register(OWNER, Set.of(DB));
        Duration gather = Duration.ofMinutes(1);
        manager.listen(tasks::add, gather, (owner, events) -> told.add(new Told(owner, events)));
        server.cluster().create(Secrets.of(DB, "v1"));
        server.resetWatches();
        server.cluster().delete(Secrets.of(DB, "v1"));
        timekeeper.advance(gather);
        runAll();

        assertThat(told).extracting(Told::texts).containsExactly(List.of("RECOVERED Secret shop/db"));
    }

    @Test
    void knownObjects_areToldAsInitial() throws Exception {
        server.cluster().create(Secrets.of(DB, "v1"));
        manager.register(OWNER, Set.of(DB));
        listen();
        pass();

        assertThat(told.get(0).events().get(0).initial()).isTrue();
    }

    @Test
    void stalenessIsAnEventOfItsOwn(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("watch of Secret shop/db failed");
        knownTo(OWNER, DB);
        update(DB, "v2");
        server.resetWatches();
        pass();

        assertThat(told.get(0).texts()).containsExactly("UPDATED Secret shop/db v2", "STALE Secret shop/db v2");
    }

    @Test
    void ownerThatReleasedTheObjectMeanwhile_isNotTold() throws Exception {
        knownTo(OWNER, DB);
        manager.register(OTHER, Set.of(DB));
        update(DB, "v2");
        manager.unregister(OWNER);
        pass();
        assertThat(told).extracting(Told::owner).doesNotContain(OWNER);

        told.clear();
        update(DB, "v3");
        manager.unregister(OTHER);
        pass();
        assertThat(told).isEmpty();
    }

    @Test
    void ownerThatReleasedTheObjectAndHoldsItAgain_isToldOfItsNewLifeOnly() throws Exception {
        knownTo(OWNER, DB);
        update(DB, "v2");
        manager.unregister(OWNER);
        update(DB, "v3");
        manager.register(OWNER, Set.of(DB));
        pass();

        assertThat(told).extracting(Told::texts).containsExactly(List.of("ADDED Secret shop/db v3"));
        assertThat(told.get(0).events().get(0).previous()).isEmpty();
    }

    @Test
    void closed_noCallBegins() throws Exception {
        server.cluster().create(Secrets.of(DB, "v1"));
        manager.register(OWNER, Set.of(DB));
        AutoCloseable subscription = listen();
        pass();
        told.clear();
        update(DB, "v2");
        timekeeper.advance(GATHER);
        subscription.close();
        subscription.close();
        runAll();
        update(DB, "v3");
        pass();

        assertThat(told).isEmpty();
    }

    @Test
    void listenerThatThrows_getsTheNextChanges(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("a listener failed with [UPDATED Secret shop/db]");
        knownTo(OWNER, DB);
        List<String> calls = new ArrayList<>();
        manager.listen(tasks::add, GATHER, (owner, events) -> {
            calls.add(events.toString());
            if (calls.size() == 2) {
                throw new IllegalStateException("broken listener");
            }
        });
        pass();
        update(DB, "v2");
        pass();
        update(DB, "v3");
        pass();

        assertThat(calls).hasSize(3);
    }

    @Test
    void executorThatTakesNoTask_endsTheSubscription(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("did not take a task");
        server.cluster().create(Secrets.of(DB, "v1"));
        manager.register(OWNER, Set.of(DB));
        List<Runnable> offered = new ArrayList<>();
        manager.listen(
                task -> {
                    offered.add(task);
                    throw new RejectedExecutionException("shut down");
                },
                GATHER,
                (owner, events) -> told.add(new Told(owner, events)));
        pass();
        update(DB, "v2");
        pass();

        assertThat(offered).hasSize(1);
        assertThat(told).isEmpty();
    }

    @Test
    void delayThatIsNotPositive_isRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> manager.listen(tasks::add, Duration.ZERO, (owner, events) -> {}))
                .withMessageContaining("gather");
    }

    private AutoCloseable listen() {
        return manager.listen(tasks::add, GATHER, (owner, events) -> told.add(new Told(owner, events)));
    }

    /** Has {@code owner} hold objects whose first state the listener was told. */
    private void knownTo(Referrer owner, ObjectKey... keys) throws Exception {
        for (ObjectKey key : keys) {
            server.cluster().create(Secrets.of(key, "v1"));
        }
        manager.register(owner, Set.of(keys));
        listen();
        pass();
        told.clear();
    }

    private void update(ObjectKey key, String value) {
        server.cluster().update(Secrets.of(key, value));
    }

    private void pass() throws Exception {
        timekeeper.advance(GATHER);
        runAll();
    }

    private void runAll() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            task.run();
        }
    }
}
