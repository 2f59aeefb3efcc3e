package dev.podcache.josdk;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.josdk.RegisteredPrimaries.WantedObject;
import dev.podcache.manager.Manager;
import dev.podcache.manager.Managers;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.ObjectState;
import dev.podcache.object.ObjectUnavailableException.Closed;
import dev.podcache.store.Store;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.WatchObjectStore;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.javaoperatorsdk.operator.health.Status;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * What the event source does while the API server has not answered yet, with answers and time under control. A website
 * names the Secret of its own name. Time stands still: nothing here waits for a timeout unless the test advances it.
 */
@ExtendWith(NoLeaks.class)
@Timeout(120)
class HeldReadsTest {

    private static final Duration FIRST_SYNC = Duration.ofSeconds(10);

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final List<Store<?>> stores = new ArrayList<>();
    private final Managers managers = new Managers(new Managers.Stores() {
        @Override
        public <T extends HasMetadata> Store<T> storeOf(ObjectKind<T> kind) {
            WatchObjectStore<T> store = new WatchObjectStore<>(
                    kind,
                    key -> server.listerWatcher(kind, key.namespace(), "metadata.name=" + key.name()),
                    server.getter(kind),
                    StoreOptions.defaults(timekeeper),
                    new WatchTimes(FIRST_SYNC, Duration.ofHours(1)));
            stores.add(store);
            return store;
        }

        @Override
        public boolean countsReferences(ObjectKind<?> kind) {
            return true;
        }
    });
    private final Manager<Secret> secrets = managers.of(ObjectKind.SECRET);
    private final List<Website> known = new ArrayList<>();
    private final PodcacheEventSource<Secret, Website> source = new PodcacheEventSource<>(
            ObjectKind.SECRET,
            secrets,
            website -> Set.of(ObjectRef.of(
                    ObjectKind.SECRET,
                    website.getMetadata().getNamespace(),
                    website.getMetadata().getName())),
            known::stream,
            () -> Runnable::run);

    @BeforeEach
    void setHandler() {
        source.setEventHandler(event -> {});
    }

    @AfterEach
    void close() {
        source.stop();
        stores.forEach(store -> ((WatchObjectStore<?>) store).close());
        server.close();
    }

    @Test
    void start_readsAllAtOnce_andEndsWithTheLastAnswer() throws Exception {
        know("shop", 5);
        HeldRequests lists = server.faults().hold(RequestPattern.any().verb(Verb.LIST));
        CompletableFuture<Void> started = CompletableFuture.runAsync(source::start, NewThread.EACH);

        await().until(() -> lists.arrivals() == 5);
        assertThat(started).isNotDone();
        lists.release();

        started.get();
        assertThat(source.getStatus()).isEqualTo(Status.HEALTHY);
    }

    @Test
    void start_refusedObjects_endTheirWaitAtTheFirstAnswer(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("failed; retrying"); // but not "although not all objects"
        know("shop", 3);
        know("refused", 15);
        refuse("refused");

        CompletableFuture.runAsync(source::start, NewThread.EACH).get();

        assertThat(source.getSecondaryResources(website("shop", 0))).hasSize(1);
    }

    @Test
    void start_slowObject_isWaitedForOnlyWhileThatBringsOthers(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("although not all objects of kind Secret are read: 1 of 4 are not, such as slow/s0");
        know("shop", 3);
        know("slow", 1);
        HeldRequests slow = server.faults().hold(RequestPattern.any().namespace("slow"));
        long begin = timekeeper.nanoTime();
        CompletableFuture<Void> started = CompletableFuture.runAsync(source::start, NewThread.EACH);
        slow.awaitArrived();

        await().pollInterval(Duration.ofMillis(5)).until(() -> {
            timekeeper.advance(Duration.ofMillis(500));
            return started.isDone();
        });

        started.get();
        assertThat(Duration.ofNanos(timekeeper.nanoTime() - begin)).isGreaterThan(FIRST_SYNC);
        assertThat(source.getSecondaryResources(website("shop", 0))).hasSize(1);
        slow.release();
    }

    @Test
    void start_thatWaitsLong_leavesNothingOnTheReadsForEachLook() throws Exception {
        ObjectKey key = ObjectKey.of("shop", "s0");
        HeldRequests lists = server.faults().hold(RequestPattern.any().verb(Verb.LIST));
        secrets.register(() -> "an owner", Set.of(key));
        Queue<CompletableFuture<?>> reads = new ConcurrentLinkedQueue<>();
        AtomicInteger looks = new AtomicInteger();
        StartReads<Secret> starting = new StartReads<>("test", ObjectKind.SECRET, watched(reads, looks));
        CompletableFuture<Void> started =
                CompletableFuture.runAsync(() -> starting.read(Stream.of(new WantedObject(null, key))), NewThread.EACH);

        await().until(() -> looks.get() >= 10);

        assertThat(reads).hasSize(1);
        assertThat(reads.element().getNumberOfDependents()).isLessThan(5);
        lists.release();
        started.get();
    }

    /** Returns a manager that keeps the reads that begin, and counts how often a state is asked for. */
    @SuppressWarnings("unchecked") // the proxy is of the type that is asked for
    private Manager<Secret> watched(Queue<CompletableFuture<?>> reads, AtomicInteger looks) {
        return (Manager<Secret>) Proxy.newProxyInstance(
                Manager.class.getClassLoader(), new Class<?>[] {Manager.class}, (proxy, method, args) -> {
                    Object answer = method.invoke(secrets, args);
                    if (answer instanceof CompletableFuture<?> read) {
                        reads.add(read);
                    } else if (answer instanceof ObjectState) {
                        looks.incrementAndGet();
                    }
                    return answer;
                });
    }

    @Test
    void read_thatWaitsWhileTheSourceIsStopped_findsWhatExists() throws Exception {
        source.start();
        server.cluster().create(Secrets.of("shop", "s0", "v1"));
        HeldRequests lists = server.faults().hold(RequestPattern.any().verb(Verb.LIST));
        source.onResourceCreated(website("shop", 0));
        lists.awaitArrived();
        int timers = timekeeper.scheduledTasks();
        CompletableFuture<Set<Secret>> read =
                CompletableFuture.supplyAsync(() -> source.getSecondaryResources(website("shop", 0)), NewThread.EACH);
        await().until(() -> timekeeper.scheduledTasks() > timers); // the read waits

        source.stop();
        lists.release();

        assertThat(read.get()).hasSize(1);
        assertThat(managers.entries()).isEmpty();
    }

    @Test
    void read_afterTheCacheWasClosed_fails() {
        know("shop", 1);
        source.start();
        source.stop();
        stores.forEach(store -> ((WatchObjectStore<?>) store).close());

        assertThatExceptionOfType(Closed.class).isThrownBy(() -> source.getSecondaryResources(website("shop", 0)));
    }

    @Test
    void read_thatWaitsWhileTheCacheIsClosed_fails() throws Exception {
        source.start();
        HeldRequests lists = server.faults().hold(RequestPattern.any().verb(Verb.LIST));
        CompletableFuture<Set<Secret>> read =
                CompletableFuture.supplyAsync(() -> source.getSecondaryResources(website("late", 0)), NewThread.EACH);
        lists.awaitArrived();

        stores.forEach(store -> ((WatchObjectStore<?>) store).close());

        // the latter if the list arrives before the read's registration has returned
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(read::get)
                .havingCause()
                .isInstanceOfAny(Closed.class, IllegalStateException.class);
    }

    /** The controller knows these websites, and their Secrets exist. */
    private void know(String namespace, int count) {
        IntStream.range(0, count).forEach(i -> {
            server.cluster().create(Secrets.of(namespace, "s" + i, "v1"));
            known.add(website(namespace, i));
        });
    }

    private void refuse(String namespace) {
        server.failNext(
                Integer.MAX_VALUE,
                new ApiServerException(FailureReason.FORBIDDEN, 403, null, "was answered 403", null),
                RequestPattern.any().namespace(namespace));
    }

    private static Website website(String namespace, int i) {
        Website website = new Website();
        website.setMetadata(new ObjectMetaBuilder()
                .withNamespace(namespace)
                .withName("s" + i)
                .withUid("uid-" + namespace + i)
                .withResourceVersion("1")
                .build());
        return website;
    }
}
