package dev.podcache.store;

import static dev.podcache.store.StoreFixture.DB;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A payload budget that holds nothing, with a watch of the object and with one of its namespace. */
@ExtendWith(NoLeaks.class)
class EvictedReadsTest {

    private static final ObjectKey CERT = ObjectKey.of("default", "cert");

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(time);

    @SuppressWarnings("NullAway.Init") // each test opens it first
    private WatchObjectStore<Secret> store;

    private @Nullable Queue<Runnable> lateEvents; // null while events come at once

    private void open(boolean namespaces) {
        StoreOptions options =
                new StoreOptions(time, Duration.ofSeconds(10), PayloadBudget.ofBytes(1, time), PodcacheMetrics.NONE);
        store = namespaces
                ? WatchObjectStore.ofNamespaces(
                        ObjectKind.SECRET,
                        key -> server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()),
                        (namespace, names) -> new LateEvents(
                                server.inNamespace(ObjectKind.SECRET).apply(namespace, names)),
                        server.getter(ObjectKind.SECRET),
                        options,
                        WatchTimes.DEFAULT)
                : new WatchObjectStore<>(
                        ObjectKind.SECRET,
                        key -> server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()),
                        server.getter(ObjectKind.SECRET),
                        options,
                        WatchTimes.DEFAULT);
        for (ObjectKey key : List.of(DB, CERT)) {
            server.cluster().create(Secrets.of(key, "v1"));
            store.addReference(key, POD);
        }
        time.advance(Duration.ofSeconds(1));
        server.clearActions();
    }

    @AfterEach
    void close() {
        store.close();
        time.advance(Duration.ofSeconds(2));
        assertThat(server.openWatches()).isZero();
        assertThat(time.scheduledTasks()).isZero();
        server.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void gets_oneAfterTheOther_areOneReadEach_andNoWatch(boolean namespaces) {
        open(namespaces);
        for (int i = 1; i <= 10; i++) {
            assertThat(Secrets.value(store.get(DB))).isEqualTo("v1");
            assertThat(store.state(DB).cacheState()).isEqualTo(CacheState.UNREAD);
            requireReads(i);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void gets_together_areOneRead_andNoWatch(boolean namespaces) {
        open(namespaces);
        HeldRequests held = server.faults().hold(RequestPattern.any().verb(Verb.LIST));
        List<CompletableFuture<Secret>> gets = IntStream.range(0, 100)
                .mapToObj(i -> store.getAsync(DB.namespace(), DB.name()))
                .toList();
        held.release();

        assertThat(gets)
                .allSatisfy(get -> assertThat(Secrets.value(get.getNow(null))).isEqualTo("v1"));
        requireReads(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void get_changedMeanwhile_isWhatTheServerHas(boolean namespaces) {
        open(namespaces);
        for (int i = 2; i < 6; i++) {
            server.cluster().update(Secrets.of(DB, "v" + i));
            assertThat(Secrets.value(store.get(DB))).isEqualTo("v" + i);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void get_whoseReadFails_isRepeated_andTheWatchStays(boolean namespaces) {
        open(namespaces);
        server.failNext(
                2,
                new ApiServerException(FailureReason.UNAVAILABLE, 503, null, "a list was answered 503", null),
                RequestPattern.any().verb(Verb.LIST));
        CompletableFuture<Secret> get = store.getAsync(DB.namespace(), DB.name());
        time.advance(Duration.ofMillis(900));

        assertThat(Secrets.value(get.getNow(null))).isEqualTo("v1");
        requireReads(3);
    }

    /** The answer of the read is newer than the last event, and older than the next one. */
    @Test
    void read_answeredBetweenTwoEventsOfALateWatch_hidesNoneOfThem() {
        open(true);
        HeldRequests held =
                server.faults().holdBeforeReading(RequestPattern.any().verb(Verb.LIST));
        lateEvents = new ArrayDeque<>();
        CompletableFuture<Secret> get = store.getAsync(DB.namespace(), DB.name());
        server.cluster().delete(Secrets.of(DB, "v1"));
        server.cluster().create(Secrets.of(DB, "v2"));

        lateEvents.remove().run();
        assertThat(get).as("the object was deleted").isCompletedExceptionally();
        held.release();
        lateEvents.remove().run();

        assertThat(Secrets.value(store.get(DB))).isEqualTo("v2");
    }

    /** Keeps the events of a watch back while a test says so. */
    private final class LateEvents implements ListerWatcher<Secret> {

        private final ListerWatcher<Secret> onTime;

        LateEvents(ListerWatcher<Secret> onTime) {
            this.onTime = onTime;
        }

        @Override
        public CompletableFuture<Listed<Secret>> list(Duration timeout) {
            return onTime.list(timeout);
        }

        @Override
        public WatchHandle watch(String version, Duration serverTimeout, Consumer<WatchEvent<Secret>> events) {
            return onTime.watch(version, serverTimeout, event -> {
                if (lateEvents == null) {
                    events.accept(event);
                } else {
                    lateEvents.add(() -> events.accept(event));
                }
            });
        }

        @Override
        public String toString() {
            return onTime.toString();
        }
    }

    private void requireReads(int reads) {
        assertThat(server.count(Verb.LIST)).as("lists").isEqualTo(reads);
        assertThat(server.count(Verb.WATCH)).as("watches").isZero();
        assertThat(server.count(Verb.GET)).as("gets").isZero();
    }
}
