package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.PodKey;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** A TTL store of Secrets on a server without HTTP, both driven by hand. */
final class TtlFixture implements AutoCloseable {

    static final ObjectKey DB = ObjectKey.of("default", "db");
    static final PodKey POD = PodKey.of("default", "web-1", "uid-1");
    static final PodKey OTHER_POD = PodKey.of("default", "web-2", "uid-2");

    final ManualTimekeeper timekeeper;
    final FakeApiServer server;
    final FixedTtl ttl = FixedTtl.ofSeconds(60);
    final TtlObjectStore<Secret> store;

    TtlFixture() {
        this(new ManualTimekeeper());
    }

    TtlFixture(ManualTimekeeper timekeeper) {
        this(timekeeper, StoreOptions.defaults(timekeeper));
    }

    TtlFixture(ManualTimekeeper timekeeper, StoreOptions options) {
        this.timekeeper = timekeeper;
        this.server = new FakeApiServer(timekeeper);
        this.store = new TtlObjectStore<>(ObjectKind.SECRET, server.getter(ObjectKind.SECRET), ttl, options);
    }

    static TtlFixture telling(PodcacheMetrics metrics) {
        ManualTimekeeper timekeeper = new ManualTimekeeper();
        return new TtlFixture(
                timekeeper,
                new StoreOptions(timekeeper, Duration.ofSeconds(10), PayloadBudget.unlimited(timekeeper), metrics));
    }

    /** With background refresh. */
    static TtlFixture refreshingBehind(Duration maxStaleness, PodcacheMetrics metrics) {
        ManualTimekeeper timekeeper = new ManualTimekeeper();
        StoreOptions options =
                new StoreOptions(timekeeper, Duration.ofSeconds(10), PayloadBudget.unlimited(timekeeper), metrics);
        return new TtlFixture(timekeeper, options.backgroundRefresh(maxStaleness));
    }

    static TtlFixture boundedTo(long bytes) {
        ManualTimekeeper timekeeper = new ManualTimekeeper();
        return new TtlFixture(
                timekeeper,
                new StoreOptions(
                        timekeeper,
                        Duration.ofSeconds(10),
                        PayloadBudget.ofBytes(bytes, timekeeper),
                        PodcacheMetrics.NONE));
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

    /** The value of the Secret, by a get that must not need to wait. */
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

    /** A get on a thread of its own. */
    CompletableFuture<String> getBehind(ObjectKey key) {
        CompletableFuture<String> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                result.complete(get(key));
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return result;
    }

    /** What a get behind ended with, at once or never. */
    static @Nullable Throwable failureOf(CompletableFuture<String> get) {
        try {
            return new AssertionError("brought "
                    + get.orTimeout(60, java.util.concurrent.TimeUnit.SECONDS).join());
        } catch (CompletionException e) {
            return e.getCause();
        }
    }

    static String broughtBy(CompletableFuture<String> get) {
        return get.orTimeout(60, java.util.concurrent.TimeUnit.SECONDS).join();
    }

    void failNext(int times, FailureReason reason, int code, @Nullable Duration retryAfter) {
        server.failNext(times, new ApiServerException(reason, code, retryAfter, "GET was answered " + code, null));
    }

    void requireGets(int expected) {
        assertThat(server.gets(DB)).as("requests for " + DB).isEqualTo(expected);
    }

    /** Checks that nothing is left, then ends everything. */
    void requireNothingHeld() {
        assertThat(store.size()).as("entries").isZero();
        assertThat(timekeeper.scheduledTasks()).as("timers").isZero();
    }

    @Override
    public void close() {
        store.close();
        requireNothingHeld();
        server.close();
    }
}
