package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.function.BiFunction;
import java.util.function.Function;

/** A watch store of Secrets on a server without HTTP, both driven by hand. */
final class WatchFixture extends StoreFixture<WatchObjectStore<Secret>> {

    private static final WatchObjectStore.WatchTimes TIMES =
            new WatchObjectStore.WatchTimes(Duration.ofSeconds(1), Duration.ofMinutes(1));

    WatchFixture() {
        this(new ManualTimekeeper(), PodcacheMetrics.NONE);
    }

    /** Where access follows references. */
    static WatchFixture grantsFollow(ManualTimekeeper timekeeper) {
        return new WatchFixture(
                timekeeper,
                server -> new WatchObjectStore<>(
                        ObjectKind.SECRET,
                        key -> server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()),
                        server.getter(ObjectKind.SECRET),
                        StoreOptions.defaults(timekeeper).earlyRefusals(EarlyRefusals.ofGrants(TIMES.firstSync())),
                        TIMES));
    }

    WatchFixture(ManualTimekeeper timekeeper, PodcacheMetrics metrics) {
        this(timekeeper, metrics, key -> "metadata.name=" + key.name());
    }

    /** On a server, or behind a proxy, that ignores field selectors. */
    static WatchFixture withoutSelectors() {
        return new WatchFixture(new ManualTimekeeper(), PodcacheMetrics.NONE, key -> "");
    }

    /** With something between the store and its server. */
    WatchFixture(
            ManualTimekeeper timekeeper, BiFunction<ObjectKey, ListerWatcher<Secret>, ListerWatcher<Secret>> between) {
        this(timekeeper, PodcacheMetrics.NONE, key -> "metadata.name=" + key.name(), between);
    }

    private WatchFixture(
            ManualTimekeeper timekeeper, PodcacheMetrics metrics, Function<ObjectKey, String> fieldSelector) {
        this(timekeeper, metrics, fieldSelector, (key, server) -> server);
    }

    private WatchFixture(
            ManualTimekeeper timekeeper,
            PodcacheMetrics metrics,
            Function<ObjectKey, String> fieldSelector,
            BiFunction<ObjectKey, ListerWatcher<Secret>, ListerWatcher<Secret>> between) {
        this(
                timekeeper,
                server -> new WatchObjectStore<>(
                        ObjectKind.SECRET,
                        key -> between.apply(
                                key,
                                server.listerWatcher(ObjectKind.SECRET, key.namespace(), fieldSelector.apply(key))),
                        server.getter(ObjectKind.SECRET),
                        new StoreOptions(
                                timekeeper, Duration.ofSeconds(10), PayloadBudget.unlimited(timekeeper), metrics),
                        TIMES));
    }

    private WatchFixture(ManualTimekeeper timekeeper, Function<FakeApiServer, WatchObjectStore<Secret>> store) {
        super(timekeeper, store);
    }

    /** With one watch for each namespace. */
    static WatchFixture ofNamespaces(ManualTimekeeper timekeeper) {
        return ofNamespaces(timekeeper, (key, server) -> server);
    }

    /** With one watch for each namespace, and something between the store and its server; the name may be empty. */
    static WatchFixture ofNamespaces(
            ManualTimekeeper timekeeper, BiFunction<ObjectKey, ListerWatcher<Secret>, ListerWatcher<Secret>> between) {
        return new WatchFixture(
                timekeeper,
                server -> WatchObjectStore.ofNamespaces(
                        ObjectKind.SECRET,
                        key -> between.apply(
                                key,
                                server.listerWatcher(
                                        ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name())),
                        (namespace, names) -> between.apply(
                                ObjectKey.of(namespace, ""),
                                server.inNamespace(ObjectKind.SECRET).apply(namespace, names)),
                        server.getter(ObjectKind.SECRET),
                        StoreOptions.defaults(timekeeper),
                        TIMES));
    }

    @Override
    void hear() {
        // it is told
    }

    static ObjectKey key(int i) {
        return ObjectKey.of("default", "secret-" + i);
    }

    /** Creates the Secret and brings its watch to LIVE. */
    void live(String value) {
        create(DB, value);
        store.addReference(DB, TtlFixture.POD);
        assertThat(get()).isEqualTo(value);
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
