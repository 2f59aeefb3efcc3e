package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A watch store of Secrets on a server without HTTP, both driven by hand. */
final class WatchFixture implements AutoCloseable {

    static final ObjectKey DB = TtlFixture.DB;

    final ManualTimekeeper timekeeper;
    final FakeApiServer server;
    final WatchObjectStore<Secret> store;

    WatchFixture() {
        this(new ManualTimekeeper(), PodcacheMetrics.NONE);
    }

    WatchFixture(ManualTimekeeper timekeeper, PodcacheMetrics metrics) {
        this.timekeeper = timekeeper;
        this.server = new FakeApiServer(timekeeper);
        this.store = new WatchObjectStore<>(
                ObjectKind.SECRET,
                key -> server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()),
                server.getter(ObjectKind.SECRET),
                new StoreOptions(timekeeper, Duration.ofSeconds(10), PayloadBudget.unlimited(timekeeper), metrics),
                new WatchObjectStore.WatchTimes(Duration.ofSeconds(1), Duration.ofMinutes(1)));
    }

    void create(ObjectKey key, String value) {
        server.cluster().create(Secrets.of(key, value));
    }

    void update(ObjectKey key, String value) {
        server.cluster().update(Secrets.of(key, value));
    }

    void delete(ObjectKey key) {
        server.cluster().delete(Secrets.of(key, ""));
    }

    String get(ObjectKey key) {
        try {
            return Secrets.value(store.get(key.namespace(), key.name()));
        } catch (RuntimeException e) {
            throw NoLeaks.saw(e);
        } finally {
            NoLeaks.saw(store.state(key));
        }
    }

    String get() {
        return get(DB);
    }

    CompletableFuture<String> getBehind() {
        CompletableFuture<String> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                result.complete(get());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return result;
    }

    void refuse(Verb verb, int times) {
        fail(verb, times, FailureReason.FORBIDDEN, 403);
    }

    void fail(Verb verb, int times, FailureReason reason, int code) {
        server.failNext(
                times,
                new ApiServerException(reason, code, null, verb + " secrets named db was answered " + code, null),
                RequestPattern.any().verb(verb));
    }

    /** All requests of these kinds so far. */
    void requireRequests(int lists, int watches) {
        assertThat(server.count(Verb.LIST)).as("lists").isEqualTo(lists);
        assertThat(server.count(Verb.WATCH)).as("watches").isEqualTo(watches);
    }

    void requireNothingHeld() {
        assertThat(store.size()).as("entries").isZero();
        assertThat(server.openWatches()).as("open watches").isZero();
        assertThat(timekeeper.scheduledTasks()).as("timers").isZero();
    }

    @Override
    public void close() {
        store.close();
        requireNothingHeld();
        server.close();
    }
}
