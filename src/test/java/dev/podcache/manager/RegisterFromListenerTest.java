package dev.podcache.manager;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.PodKey;
import dev.podcache.object.Referrer;
import dev.podcache.store.PayloadBudget;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.WatchObjectStore;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Listeners run on the thread that registers, under no lock: two owners are registered at once, and the listener of each
 * change registers the other owner. Here everything happens on the threads of the test.
 */
@ExtendWith(NoLeaks.class)
class RegisterFromListenerTest {

    private static final ObjectKey A = ObjectKey.of("shop", "a");
    private static final ObjectKey B = ObjectKey.of("shop", "b");
    private static final Referrer OWNER_A = PodKey.of("shop", "owner-a", "uid-a");
    private static final Referrer OWNER_B = PodKey.of("shop", "owner-b", "uid-b");

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final CountDownLatch told = new CountDownLatch(2);
    private final WatchObjectStore<Secret> store = new WatchObjectStore<>(
            ObjectKind.SECRET,
            key -> server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()),
            server.getter(ObjectKind.SECRET),
            new StoreOptions(
                    timekeeper, Duration.ofSeconds(10), PayloadBudget.unlimited(timekeeper), new PodcacheMetrics() {
                        @Override
                        public void watchSynced(ObjectKind<?> kind, ObjectKey key, Duration took) {
                            synced.accept(key);
                        }
                    }),
            WatchTimes.DEFAULT);
    private final Manager<Secret> manager = Managers.caching(store, pod -> Set.of());
    private volatile Consumer<ObjectKey> synced = key -> {};

    @AfterEach
    void close() {
        store.close();
        server.close();
    }

    @Test
    void listenersThatRegisterTheOwnersOfEachOther_bothEnd() throws Exception {
        manager.listen(Runnable::run, event -> registerTheOther(event.key()));

        registerBoth();
    }

    @Test
    void metricsThatRegisterTheOwnersOfEachOther_bothEnd() throws Exception {
        synced = this::registerTheOther;

        registerBoth();
    }

    @Test
    void listenerThatUnregistersItsOwner_leavesNothing() {
        server.cluster().create(Secrets.of(A, "v1"));
        manager.listen(Runnable::run, event -> manager.unregister(OWNER_A));
        manager.register(OWNER_A, Set.of(A));

        assertThat(store.keys()).isEmpty();
        assertThat(server.openWatches()).isZero();
    }

    private void registerBoth() throws Exception {
        server.cluster().create(Secrets.of(A, "v1"));
        server.cluster().create(Secrets.of(B, "v1"));
        CompletableFuture<Void> first =
                CompletableFuture.runAsync(() -> manager.register(OWNER_A, Set.of(A)), NewThread.EACH);
        CompletableFuture<Void> second =
                CompletableFuture.runAsync(() -> manager.register(OWNER_B, Set.of(B)), NewThread.EACH);
        first.get(Patience.SECONDS, TimeUnit.SECONDS);
        second.get(Patience.SECONDS, TimeUnit.SECONDS);

        assertThat(told.getCount()).as("listeners that did not run").isZero();
        assertThat(store.state(A).references()).isEqualTo(2);
        assertThat(store.state(B).references()).isEqualTo(2);
    }

    /** Called on the thread that registers, when the other one is here too. */
    private void registerTheOther(ObjectKey key) {
        if (told.getCount() == 0) {
            return;
        }
        told.countDown();
        try {
            told.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        manager.register(key.equals(A) ? OWNER_B : OWNER_A, Set.of(A, B));
    }
}
