package dev.podcache.manager;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.metrics.CountedEvents;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.PodKey;
import dev.podcache.object.Referrer;
import dev.podcache.store.DirectObjectStore;
import dev.podcache.store.EntryStore;
import dev.podcache.store.Store;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.store.WatchObjectStore;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The wait for the first reads ends with the change that makes the last object known: no time passes between, because the
 * test drives the time.
 */
@ExtendWith(NoLeaks.class)
class AwaitSyncedTest {

    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final ObjectKey DB = ObjectKey.of("shop", "db");
    private static final ObjectKey IDLE = ObjectKey.of("shop", "idle");
    private static final Referrer OWNER = PodKey.of("shop", "web", "uid-web");
    private static final Referrer OTHER = PodKey.of("shop", "mail", "uid-mail");

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final List<EntryStore<?>> stores = new ArrayList<>();

    @AfterEach
    void close() {
        stores.forEach(EntryStore::close);
        server.close();
        timekeeper.close();
    }

    private Managers managers(ChangeDetectionStrategy strategy) {
        StoreOptions options = StoreOptions.defaults(timekeeper);
        return new Managers(
                new Managers.Stores() {
                    @Override
                    public <T extends HasMetadata> Store<T> storeOf(ObjectKind<T> kind) {
                        if (strategy == ChangeDetectionStrategy.GET) {
                            return new DirectObjectStore<>(kind, server.getter(kind), options);
                        }
                        EntryStore<T> store = strategy == ChangeDetectionStrategy.CACHE
                                ? new TtlObjectStore<>(kind, server.getter(kind), FixedTtl.ofSeconds(60), options)
                                : new WatchObjectStore<>(
                                        kind,
                                        key -> server.listerWatcher(
                                                kind, key.namespace(), "metadata.name=" + key.name()),
                                        server.getter(kind),
                                        options,
                                        WatchTimes.DEFAULT);
                        stores.add(store);
                        return store;
                    }

                    @Override
                    public boolean countsReferences(ObjectKind<?> kind) {
                        return strategy != ChangeDetectionStrategy.GET;
                    }
                },
                new CountedEvents(PodcacheMetrics.NONE),
                false,
                Set.of());
    }

    private CompletableFuture<List<ObjectEntry>> await(Managers managers) throws InterruptedException {
        CompletableFuture<List<ObjectEntry>> waiting = CompletableFuture.supplyAsync(
                () -> managers.awaitSynced(Duration.ofSeconds(5), timekeeper), NewThread.EACH);
        timekeeper.awaitWaiters(1);
        return waiting;
    }

    private void requireEnds(CompletableFuture<List<ObjectEntry>> waiting, Duration at) throws Exception {
        assertThat(waiting.get(Patience.SECONDS, TimeUnit.SECONDS)).isEmpty();
        assertThat(timekeeper.nanoTime()).isEqualTo(at.toNanos());
    }

    @Test
    void underWatch_objectIsSyncedAfterItsReadHasGivenUp_endsWithTheSync() throws Exception {
        Managers managers = managers(ChangeDetectionStrategy.WATCH);
        server.cluster().create(Secrets.of(DB, "v1"));
        HeldRequests held = server.faults().hold(RequestPattern.any().verb(Verb.LIST));
        managers.of(ObjectKind.SECRET).register(OWNER, Set.of(DB));
        CompletableFuture<List<ObjectEntry>> waiting = await(managers);

        timekeeper.advance(SECOND);
        held.release();

        requireEnds(waiting, SECOND);
        assertThat(server.count(Verb.LIST)).isOne();
        assertThat(server.count(Verb.WATCH)).isOne();
    }

    @Test
    void underWatch_theWaitOpensNoWatchOfAnIdleObject() throws Exception {
        Managers managers = managers(ChangeDetectionStrategy.WATCH);
        server.cluster().create(Secrets.of(DB, "v1"));
        server.cluster().create(Secrets.of(IDLE, "v1"));
        managers.of(ObjectKind.SECRET).register(OTHER, Set.of(IDLE));
        timekeeper.advance(Duration.ofMinutes(30));
        assertThat(server.isWatched(IDLE)).isFalse();
        HeldRequests held = server.faults().hold(RequestPattern.any().verb(Verb.LIST));
        managers.of(ObjectKind.SECRET).register(OWNER, Set.of(DB));
        CompletableFuture<List<ObjectEntry>> waiting = await(managers);
        held.release();

        requireEnds(waiting, Duration.ofMinutes(30));
        assertThat(server.isWatched(IDLE)).isFalse();
    }

    @Test
    void underCache_anotherGetReadsTheLastObjectInThePause_endsWithThatRead() throws Exception {
        Managers managers = managers(ChangeDetectionStrategy.CACHE);
        server.cluster().create(Secrets.of(DB, "v1"));
        managers.of(ObjectKind.SECRET).register(OWNER, Set.of(DB));
        server.failNext(1, new ApiServerException(FailureReason.REJECTED, 400, null, "GET was answered 400", null));
        CompletableFuture<List<ObjectEntry>> waiting = await(managers);
        managers.of(ObjectKind.SECRET).getObject("shop", "db");

        requireEnds(waiting, Duration.ZERO);
        assertThat(server.gets(DB)).isEqualTo(2);
    }

    @Test
    void objectIsUnregisteredMeanwhile_endsAtOnce() throws Exception {
        Managers managers = managers(ChangeDetectionStrategy.WATCH);
        HeldRequests held = server.faults().hold(RequestPattern.any().verb(Verb.LIST));
        managers.of(ObjectKind.SECRET).register(OWNER, Set.of(DB));
        CompletableFuture<List<ObjectEntry>> waiting = await(managers);
        managers.of(ObjectKind.SECRET).unregister(OWNER);

        requireEnds(waiting, Duration.ZERO);
        held.release();
    }

    @Test
    void cacheIsClosedMeanwhile_endsAtOnce() throws Exception {
        Managers managers = managers(ChangeDetectionStrategy.WATCH);
        HeldRequests held = server.faults().hold(RequestPattern.any().verb(Verb.LIST));
        managers.of(ObjectKind.SECRET).register(OWNER, Set.of(DB));
        CompletableFuture<List<ObjectEntry>> waiting = await(managers);
        stores.forEach(EntryStore::close);

        requireEnds(waiting, Duration.ZERO);
        held.release();
    }

    @Test
    void underGet_endsAtOnce() {
        Managers managers = managers(ChangeDetectionStrategy.GET);

        assertThat(managers.awaitSynced(SECOND, timekeeper)).isEmpty();
        assertThat(server.actions()).isEmpty();
    }
}
