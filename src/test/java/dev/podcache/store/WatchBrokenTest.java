package dev.podcache.store;

import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static dev.podcache.store.TtlFixture.broughtBy;
import static dev.podcache.store.WatchFixture.DB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ManualListerWatcher;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.TooManyRequests;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A watch that is lost, and how its object becomes fresh again. */
@ExtendWith(NoLeaks.class)
class WatchBrokenTest {

    private final WatchFixture f = new WatchFixture();

    @AfterEach
    void close() {
        f.close();
    }

    @Test
    @ExpectedWarnings("connection")
    void brokenWatch_servesWhatIsKnown_saysStale_andRecovers() {
        f.live("v1");
        f.refuse(Verb.WATCH, 3);
        f.server.resetWatches();
        f.update(DB, "v2");
        f.timekeeper.advance(Duration.ofMillis(150));

        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.STALE);
        assertThat(f.store.state(DB).age()).isEqualTo(Duration.ofMillis(150));
        assertThat(f.store.state(DB).lastFailure()).isNotNull();

        f.timekeeper.advance(Duration.ofSeconds(10));
        assertThat(f.get()).isEqualTo("v2");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
        assertThat(f.store.state(DB).lastFailure()).isNull();
        assertThat(f.server.count(Verb.LIST)).as("the second confirms").isEqualTo(2);
    }

    /** What the watch missed may still be on its way: the server tells it late. */
    @Test
    @ExpectedWarnings("connection")
    void brokenWatch_resumedWhileTheServerIsBehind_isStaleUntilAReadConfirmsIt() {
        f.live("v1");
        f.server.cluster().holdWatchCache();
        f.server.resetWatches();
        f.update(DB, "v2");
        HeldRequests held = f.server.faults().hold(RequestPattern.any().verb(Verb.LIST));
        f.timekeeper.advance(Duration.ofSeconds(3));
        assertThat(f.server.isWatched(DB)).isTrue();
        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.STALE);
        assertThat(f.store.state(DB).freshness()).isEqualTo("watch reopened, not confirmed yet");

        held.release();
        assertThat(f.get()).isEqualTo("v2");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
        f.update(DB, "v3");
        f.server.cluster().releaseWatchCache();
        assertThat(f.get()).isEqualTo("v3");
        f.requireRequests(2, 2);
    }

    /** The events of what the read has told already come after it. */
    @Test
    @ExpectedWarnings("connection")
    void brokenWatch_readSaysAbsent_isNotUndoneByOlderEvents() {
        f.live("v1");
        f.server.cluster().holdWatchCache();
        f.server.resetWatches();
        f.update(DB, "v2");
        f.delete(DB);
        f.timekeeper.advance(Duration.ofSeconds(3));
        assertThatThrownBy(f::get).isInstanceOf(NotFound.class);
        f.create(DB, "v3");
        f.timekeeper.advance(Duration.ofSeconds(3));
        f.server.cluster().releaseWatchCache();

        assertThat(f.get()).isEqualTo("v3");
    }

    @Test
    @ExpectedWarnings("connection")
    void brokenWatch_resumed_anEventDoesNotConfirmIt_theListThatFollowsDoes() {
        f.live("v1");
        f.server.resetWatches();
        f.update(DB, "v2");
        HeldRequests held = f.server.faults().hold(RequestPattern.any().verb(Verb.LIST));
        f.timekeeper.advance(Duration.ofMillis(200));
        assertThat(f.get()).isEqualTo("v2");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.STALE);

        f.timekeeper.advance(Duration.ofSeconds(2));
        held.release();
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
        f.requireRequests(2, 2);
    }

    @Test
    @ExpectedWarnings("connection")
    void brokenWatch_readThatConfirmsFails_staysStaleAndIsRepeated() {
        f.live("v1");
        f.server.resetWatches();
        f.fail(Verb.LIST, 1000, FailureReason.UNAVAILABLE, 500);
        f.timekeeper.advance(Duration.ofMillis(2200));
        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.STALE);
        assertThat(f.store.state(DB).lastFailure()).hasMessageContaining("answered 500");
        assertThat(f.server.isWatched(DB)).isTrue();

        f.server.clearFailures();
        f.timekeeper.advance(Duration.ofSeconds(5));
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
        assertThat(f.server.count(Verb.WATCH)).isEqualTo(2);
    }

    @Test
    void watchEndedInGoodOrder_needsNoConfirmation() {
        f.live("v1");
        while (f.server.count(Verb.WATCH) == 1) {
            f.timekeeper.advance(Duration.ofSeconds(20));
            f.get();
        }

        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
        f.requireRequests(1, 2);
    }

    @Test
    @ExpectedWarnings("connection")
    void brokenWatch_newReferrer_waitsForAListOfItsOwn() {
        f.live("v1");
        f.refuse(Verb.WATCH, 1);
        f.server.resetWatches();
        f.timekeeper.advance(Duration.ofMillis(200));
        f.update(DB, "v2");
        f.store.addReference(DB, OTHER_POD);

        assertThat(f.get()).isEqualTo("v2");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
    }

    @Test
    @ExpectedWarnings("connection")
    void brokenWatch_newReferrerWhileTheServerIsDown_isServedTheLastKnownAfterTheWait() throws Exception {
        f.live("v1");
        f.fail(Verb.WATCH, 1000, FailureReason.UNAVAILABLE, 503);
        f.fail(Verb.LIST, 1000, FailureReason.UNAVAILABLE, 503);
        f.server.resetWatches();
        f.store.addReference(DB, OTHER_POD);
        CompletableFuture<String> get = f.getBehind();
        f.timekeeper.awaitWaiters(1);
        f.timekeeper.advance(Duration.ofMillis(999));
        assertThat(get).isNotDone();
        f.timekeeper.advance(Duration.ofMillis(1));

        assertThat(broughtBy(get)).isEqualTo("v1");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.STALE);
        assertThat(f.get()).isEqualTo("v1");
    }

    @Test
    @ExpectedWarnings("connection")
    void brokenWatch_absentObject_failsNotFoundWithTheCause() {
        f.store.addReference(DB, POD);
        f.refuse(Verb.WATCH, 1000);
        f.server.resetWatches();

        assertThatThrownBy(f::get).isInstanceOf(NotFound.class).hasMessageContaining("checking again failed");
    }

    /** The answer may be hours old: only the watch that was closed has confirmed it. */
    @Test
    void closedWatch_absentObject_andASlowServer_failsNotFoundThatSaysWhyItIsNotSure() throws Exception {
        f.store.addReference(DB, POD);
        assertThatThrownBy(f::get).isInstanceOf(NotFound.class).hasNoCause();
        f.timekeeper.advance(Duration.ofMinutes(3));
        assertThat(f.server.openWatches()).isZero();
        f.create(DB, "v1");
        HeldRequests lists = f.server.faults().hold(RequestPattern.any().verb(Verb.LIST));
        CompletableFuture<String> get = f.getBehind();
        f.timekeeper.awaitWaiters(1);
        f.timekeeper.advance(Duration.ofSeconds(1));

        assertThatThrownBy(get::get)
                .hasRootCauseInstanceOf(NotSynced.class)
                .hasMessageContaining("not found in the last answer; checking again failed: ")
                .hasMessageContaining("not synced within 1000 ms");
        assertThatThrownBy(f::get).isInstanceOf(NotFound.class).hasCauseInstanceOf(NotSynced.class);
        lists.release();
        assertThat(f.get()).isEqualTo("v1");
    }

    @Test
    @ExpectedWarnings("connection")
    void historyForgotten_listsAgain_andKeepsNoStaleValue() {
        f.live("v1");
        f.server.resetWatches();
        f.update(DB, "v2");
        f.update(DB, "v3");
        f.server.forgetHistory();
        f.timekeeper.advance(Duration.ofSeconds(1));

        assertThat(f.get()).isEqualTo("v3");
        assertThat(f.server.count(Verb.LIST)).isEqualTo(2);
    }

    @Test
    @ExpectedWarnings("connection")
    void historyForgotten_objectDeletedMeanwhile_isNotFound() {
        f.live("v1");
        f.server.resetWatches();
        f.delete(DB);
        f.create(WatchFixture.key(1), "noise");
        f.server.forgetHistory();
        f.timekeeper.advance(Duration.ofSeconds(1));

        assertThatThrownBy(f::get).isInstanceOf(NotFound.class);
    }

    /** An answer, too, though it is not what was asked for. */
    @Test
    @ExpectedWarnings("closed")
    void serverUnreachable_andThenRefusesEverything_everyObjectSaysSoSoon() {
        List<ObjectKey> keys = watchMany();
        failUnanswered();
        f.server.resetWatches();
        f.timekeeper.advance(Duration.ofSeconds(10));
        f.server.clearFailures();
        f.refuse(Verb.LIST, Integer.MAX_VALUE);
        f.refuse(Verb.WATCH, Integer.MAX_VALUE);
        f.timekeeper.advance(Duration.ofSeconds(3));

        assertThat(keys)
                .allSatisfy(key -> assertThat(f.store.state(key).lastFailure()).hasMessageContaining("answered 403"));
    }

    /** Otherwise the others would wait for it for 5 s. */
    @Test
    @ExpectedWarnings("closed")
    void serverUnreachable_theObjectThatTriesIsUnregistered_anotherTriesSoon() {
        List<ObjectKey> keys = watchMany();
        failUnanswered();
        f.server.resetWatches();
        f.timekeeper.advance(Duration.ofSeconds(10));
        f.server.clearFailures();
        HeldRequests held = f.server.faults().holdNext(1, RequestPattern.any().verb(Verb.WATCH));
        f.server.clearActions();
        while (held.arrivals() == 0) {
            f.timekeeper.advance(Duration.ofMillis(10));
        }
        ObjectKey tries = f.server.actions().get(0).key();
        f.store.deleteReference(tries, POD);
        f.timekeeper.advance(Duration.ofSeconds(2));

        assertThat(keys).filteredOn(key -> !key.equals(tries)).allMatch(f.server::isWatched);
        held.release();
    }

    /** So one object that is left is back as soon as many are: its own pauses would grow to 30 s. */
    @Test
    @ExpectedWarnings("closed")
    void serverUnreachable_onlyOneObjectIsLeft_isTriedEveryTenSecondsAtLeast() {
        List<ObjectKey> keys = watchMany();
        keys.forEach(key -> f.store.deleteReference(key, POD));
        f.live("v1");
        failUnanswered();
        f.server.resetWatches();
        f.timekeeper.advance(Duration.ofMinutes(5));

        assertThat(pausesInFiveMinutes()).isNotEmpty().allMatch(pause -> pause <= 10);
    }

    @Test
    @ExpectedWarnings("closed")
    void retryAfterAgainAndAgain_isAskedEverMoreSeldom_everyHalfMinuteAtLeast() {
        watchMany();
        f.server.failNext(Integer.MAX_VALUE, TooManyRequests.SECONDS.answer(), RequestPattern.any());
        f.server.resetWatches();
        f.timekeeper.advance(Duration.ofSeconds(1));

        List<Long> pauses = pausesInFiveMinutes();
        assertThat(pauses).hasSizeBetween(9, 40).allMatch(pause -> pause >= 2 && pause <= 32);
        assertThat(pauses).anyMatch(pause -> pause > 10);
    }

    /** The whole seconds between the requests of five minutes. */
    private List<Long> pausesInFiveMinutes() {
        List<Long> requests = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) {
            f.server.clearActions();
            f.timekeeper.advance(Duration.ofMillis(100));
            if (!f.server.actions().isEmpty()) {
                requests.add(Duration.ofNanos(f.timekeeper.nanoTime()).toSeconds());
            }
        }
        return IntStream.range(1, requests.size())
                .mapToObj(i -> requests.get(i) - requests.get(i - 1))
                .toList();
    }

    private List<ObjectKey> watchMany() {
        List<ObjectKey> keys =
                IntStream.range(0, 20).mapToObj(WatchFixture::key).toList();
        for (ObjectKey key : keys) {
            f.create(key, "v1");
            f.store.addReference(key, POD);
            assertThat(f.get(key)).isEqualTo("v1");
        }
        return keys;
    }

    private void failUnanswered() {
        f.server.failNext(
                Integer.MAX_VALUE,
                new ApiServerException(FailureReason.UNAVAILABLE, 0, null, "the server did not answer", null),
                RequestPattern.any());
    }

    /** Its versions begin anew, so what is older than what is known is the truth. */
    @Test
    @ExpectedWarnings("closed")
    void brokenWatch_storageOfTheServerWasRestored_whatItHasNowIsTakenIn() {
        ManualListerWatcher<Secret> server = new ManualListerWatcher<>();
        try (WatchObjectStore<Secret> store = new WatchObjectStore<>(
                ObjectKind.SECRET,
                key -> server,
                f.server.getter(ObjectKind.SECRET),
                StoreOptions.defaults(f.timekeeper),
                WatchObjectStore.WatchTimes.DEFAULT)) {
            store.addReference(DB, POD);
            server.answer("10", List.of(new Fetched<>(Secrets.of(DB, "lost"), "10", 1)));
            server.watch().open();
            server.watch().end(new ApiServerException(FailureReason.UNAVAILABLE, 0, null, "connection closed", null));
            f.timekeeper.advance(Duration.ofMillis(200));
            server.watch().open();
            f.timekeeper.advance(Duration.ofSeconds(2));
            List<Fetched<Secret>> restored = List.of(new Fetched<>(Secrets.of(DB, "restored"), "5", 1));
            server.answer("5", restored);
            assertThat(store.state(DB).cacheState()).isEqualTo(CacheState.STALE);
            f.timekeeper.advance(Duration.ofMillis(400));
            server.answer("5", restored);

            assertThat(Secrets.value(store.get(DB.namespace(), DB.name()))).isEqualTo("restored");
            assertThat(server.lists()).isEqualTo(3);
            store.deleteReference(DB, POD);
        }
    }

    /** A port must not throw. If it does all the same, the object is listed and watched again. */
    @Test
    @ExpectedWarnings({"closed", "this is a bug in Podcache"})
    void watchThatThrowsWhenItIsClosed_isFollowedByAnother() {
        AtomicInteger toThrow = new AtomicInteger();
        try (WatchObjectStore<Secret> store = storeOf((server, version, length, events) -> {
            WatchHandle watch = server.watch(version, length, events);
            return () -> {
                watch.close();
                if (toThrow.getAndDecrement() > 0) {
                    throw new OutOfMemoryError("unable to create native thread");
                }
            };
        })) {
            f.create(DB, "v1");
            store.addReference(DB, POD);
            toThrow.set(1);
            f.server.resetWatches();
            f.update(DB, "v2");
            f.timekeeper.advance(Duration.ofSeconds(3));

            assertThat(toThrow.get()).isZero();
            assertThat(Secrets.value(store.get(DB.namespace(), DB.name()))).isEqualTo("v2");
            assertThat(store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
            toThrow.set(0);
            store.deleteReference(DB, POD);
        }
        f.requireNothingHeld();
    }

    @Test
    void lastReferenceDeletedWhileItsWatchIsOpened_watchIsClosed() {
        AtomicReference<Runnable> meanwhile = new AtomicReference<>(() -> {});
        try (WatchObjectStore<Secret> store = storeOf((server, version, length, events) -> {
            WatchHandle watch = server.watch(version, length, events);
            Objects.requireNonNull(meanwhile.get()).run();
            return watch;
        })) {
            meanwhile.set(() -> store.deleteReference(DB, POD));
            f.create(DB, "v1");
            store.addReference(DB, POD);
        }

        assertThat(f.server.count(Verb.WATCH)).isEqualTo(1);
        f.requireNothingHeld();
    }

    /** Opens a watch of a server, or does something else. */
    private interface WatchOpener {

        WatchHandle watch(
                ListerWatcher<Secret> server, String version, Duration length, Consumer<WatchEvent<Secret>> events);
    }

    private WatchObjectStore<Secret> storeOf(WatchOpener opener) {
        return new WatchObjectStore<>(
                ObjectKind.SECRET,
                key -> new OpenedThrough(
                        f.server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()),
                        opener),
                f.server.getter(ObjectKind.SECRET),
                StoreOptions.defaults(f.timekeeper),
                WatchObjectStore.WatchTimes.DEFAULT);
    }

    private record OpenedThrough(ListerWatcher<Secret> server, WatchOpener opener) implements ListerWatcher<Secret> {

        @Override
        public CompletableFuture<Listed<Secret>> list(Duration timeout) {
            return server.list(timeout);
        }

        @Override
        public WatchHandle watch(String version, Duration length, Consumer<WatchEvent<Secret>> events) {
            return opener.watch(server, version, length, events);
        }
    }

    /** Every client is a process of its own, so only chance can keep them apart. */
    @Test
    @ExpectedWarnings("answered 429")
    void listThrottled_clientsThatGotTheSameAnswer_returnSpreadOverTwoSeconds() {
        LongSummaryStatistics waits =
                IntStream.range(0, 20).mapToLong(i -> waitAfterRetryAfter()).summaryStatistics();

        assertThat(waits.getMin()).isGreaterThanOrEqualTo(2_000);
        assertThat(waits.getMax()).isBetween(waits.getMin() + 500, 4_000L);
    }

    /** How many milliseconds a client that is told to wait for two seconds lets pass, while it is served otherwise. */
    private static long waitAfterRetryAfter() {
        try (WatchFixture client = new WatchFixture()) {
            client.live("v1");
            ObjectKey throttled = WatchFixture.key(1);
            client.server.failNext(
                    1, TooManyRequests.SECONDS.answer(), RequestPattern.any().verb(Verb.LIST));
            client.store.addReference(throttled, POD);
            int lists = client.server.count(Verb.LIST);
            long told = client.timekeeper.nanoTime();
            while (client.server.count(Verb.LIST) == lists) {
                client.timekeeper.advance(Duration.ofMillis(10));
            }
            client.store.deleteReference(throttled, POD);
            client.store.deleteReference(DB, POD);
            return Duration.ofNanos(client.timekeeper.nanoTime() - told).toMillis();
        }
    }
}
