package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.PodKey;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** A TTL store of Secrets on a server without HTTP, both driven by hand. */
final class TtlFixture extends StoreFixture<TtlObjectStore<Secret>> {

    static final PodKey POD = PodKey.of("default", "web-1", "uid-1");
    static final PodKey OTHER_POD = PodKey.of("default", "web-2", "uid-2");

    /** So much later than the TTL says may an object still be fresh, and a changed TTL count. */
    static final Duration TICK = Duration.ofMillis(100);

    final FixedTtl ttl;

    TtlFixture() {
        this(new ManualTimekeeper());
    }

    TtlFixture(ManualTimekeeper timekeeper) {
        this(timekeeper, StoreOptions.defaults(timekeeper));
    }

    TtlFixture(ManualTimekeeper timekeeper, StoreOptions options) {
        this(timekeeper, options, UnaryOperator.identity());
    }

    /** With something between the store and its server. */
    TtlFixture(ManualTimekeeper timekeeper, StoreOptions options, UnaryOperator<ObjectGetter<Secret>> between) {
        this(timekeeper, options, FixedTtl.ofSeconds(60), between);
    }

    private TtlFixture(
            ManualTimekeeper timekeeper,
            StoreOptions options,
            FixedTtl ttl,
            UnaryOperator<ObjectGetter<Secret>> between) {
        super(
                timekeeper,
                server -> new TtlObjectStore<>(
                        ObjectKind.SECRET, between.apply(server.getter(ObjectKind.SECRET)), ttl, options));
        this.ttl = ttl;
    }

    static TtlFixture reportingTo(PodcacheMetrics metrics) {
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

    @Override
    void hear() {
        timekeeper.advance(Duration.ofMinutes(2));
    }

    /** What a get behind ended with, at once or never. */
    static @Nullable Throwable failureOf(CompletableFuture<String> get) {
        try {
            return new AssertionError(
                    "brought " + get.orTimeout(60, TimeUnit.SECONDS).join());
        } catch (CompletionException e) {
            return e.getCause();
        }
    }

    static String broughtBy(CompletableFuture<String> get) {
        return get.orTimeout(60, TimeUnit.SECONDS).join();
    }

    void failNext(int times, FailureReason reason, int code, @Nullable Duration retryAfter) {
        server.failNext(times, new ApiServerException(reason, code, retryAfter, "GET was answered " + code, null));
    }

    void requireGets(int expected) {
        assertThat(server.gets(DB)).as("requests for " + DB).isEqualTo(expected);
    }

    /** The store has the Secret, fresh. */
    void seen(String value) {
        create(DB, value);
        store.addReference(DB, POD);
        assertThat(get()).isEqualTo(value);
    }

    /** The store has the Secret as v1, stale, and has just failed to refresh it. */
    void refreshFails() {
        seen("v1");
        timekeeper.advance(Duration.ofSeconds(60));
        failNext(1, FailureReason.UNAVAILABLE, 503, null);
        assertThat(get()).isEqualTo("v1");
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
