package dev.podcache.store;

import static dev.podcache.store.TtlFixture.POD;
import static dev.podcache.store.WatchFixture.DB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.ObjectGetter;
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
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.TooManyRequests;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Objects that may be read and watched, but not listed. */
@ExtendWith(NoLeaks.class)
class WatchWithoutListTest {

    private final ApiServerException forbidden = new ApiServerException(FailureReason.FORBIDDEN, 403, null, "no", null);
    private final WatchFixture f = new WatchFixture();

    @AfterEach
    void close() {
        f.close();
    }

    /** A Node authorizer that lags refuses the first list and allows the get right after. */
    @Test
    void listRefusedOnce_isRepeatedAfterTheGet_withoutFallingBack() {
        f.create(DB, "v1");
        f.refuse(Verb.LIST, 1);
        f.store.addReference(DB, POD);

        assertThat(f.get()).isEqualTo("v1");
        f.requireRequests(2, 1);
        assertThat(f.server.count(Verb.GET)).isEqualTo(1);
    }

    @Test
    @ExpectedWarnings("answered 429")
    void listRefusedAndGetThrottled_neitherIsRepeatedBeforeTheServerWants() {
        f.create(DB, "v1");
        f.refuse(Verb.LIST, 1);
        f.server.failNext(
                1, TooManyRequests.SECONDS.answer(), RequestPattern.any().verb(Verb.GET));
        f.store.addReference(DB, POD);
        f.timekeeper.advance(Duration.ofMillis(1999));
        f.requireRequests(1, 0);

        // and up to two seconds more, so that many who were asked do not come together
        f.timekeeper.advance(Duration.ofMillis(2001));
        assertThat(f.get()).isEqualTo("v1");
    }

    @Test
    void withoutTheVerbList_aGetAndAWatchDo() {
        f.create(DB, "v1");
        f.refuse(Verb.LIST, 1000);
        f.store.addReference(DB, POD);
        assertThat(f.get()).isEqualTo("v1");
        f.update(DB, "v2");
        assertThat(f.get()).isEqualTo("v2");
        f.delete(DB);

        assertThatThrownBy(f::get).isInstanceOf(NotFound.class);
        f.create(DB, "v3");
        assertThat(f.get()).isEqualTo("v3");
    }

    @Test
    @ExpectedWarnings("connection")
    void withoutTheVerbList_aBrokenWatchIsResumedFromWhatIsKnown() {
        f.create(DB, "v1");
        f.refuse(Verb.LIST, 1000);
        f.store.addReference(DB, POD);
        f.server.resetWatches();
        f.update(DB, "v2");
        f.timekeeper.advance(Duration.ofMillis(200));

        assertThat(f.get()).isEqualTo("v2");
        assertThat(f.server.count(Verb.GET)).isEqualTo(1);
    }

    /** A watch without a version would not tell of it. */
    @Test
    void withoutTheVerbList_deletedBetweenTheGetAndTheWatch_isNotFound() {
        f.create(DB, "v1");
        f.refuse(Verb.LIST, 1000);
        HeldRequests held = f.server.faults().hold(RequestPattern.any().verb(Verb.WATCH));
        f.store.addReference(DB, POD);
        f.delete(DB);
        held.release();

        assertThatThrownBy(f::get).isInstanceOf(NotFound.class);
    }

    @Test
    void withoutTheVerbList_historyForgotten_watchesWithoutAVersionAndReadsOnceMore() {
        f.create(DB, "v1");
        f.refuse(Verb.LIST, 1000);
        HeldRequests held = f.server.faults().hold(RequestPattern.any().verb(Verb.WATCH));
        f.store.addReference(DB, POD);
        f.delete(DB);
        f.create(ObjectKey.of("default", "noise"), "noise");
        f.server.forgetHistory();
        held.release();

        assertThatThrownBy(f::get).isInstanceOf(NotFound.class);
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.ABSENT);
        assertThat(f.store.state(DB).lastFailure()).isNull();
    }

    /** A watch without a version begins with what exists, and so tells nothing of what does not exist any more. */
    @Test
    void withoutTheVerbList_deletedBeforeAWatchWithoutAVersion_isReadOnceMoreAndNotFound() {
        f.create(DB, "v1");
        f.refuse(Verb.LIST, 1000);
        HeldRequests resuming =
                f.server.faults().holdNext(1, RequestPattern.any().verb(Verb.WATCH));
        f.store.addReference(DB, POD);
        f.create(ObjectKey.of("default", "noise"), "noise");
        f.server.forgetHistory();
        HeldRequests withoutVersion =
                f.server.faults().holdNext(1, RequestPattern.any().verb(Verb.WATCH));
        resuming.release();
        f.delete(DB);
        withoutVersion.release();

        assertThatThrownBy(f::get).isInstanceOf(NotFound.class);
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.ABSENT);
    }

    @Test
    void withoutTheVerbList_changedWhileItIsReadOnceMore_staysChanged() {
        f.create(DB, "v1");
        f.refuse(Verb.LIST, 1000);
        HeldRequests resuming =
                f.server.faults().holdNext(1, RequestPattern.any().verb(Verb.WATCH));
        f.store.addReference(DB, POD);
        f.create(ObjectKey.of("default", "noise"), "noise");
        f.server.forgetHistory();
        HeldRequests withoutVersion =
                f.server.faults().holdNext(1, RequestPattern.any().verb(Verb.WATCH));
        resuming.release();
        HeldRequests readsOnceMore = f.server.holdNext(DB);
        withoutVersion.release();
        assertThat(readsOnceMore.arrivals()).isEqualTo(1);
        f.update(DB, "v2");
        readsOnceMore.release();

        assertThat(f.get()).isEqualTo("v2");
        f.timekeeper.advance(Duration.ofSeconds(2));
        assertThat(f.get()).isEqualTo("v2");
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
    }

    @Test
    void withoutTheVerbList_anAbsentObjectIsNotFoundAndThenSeen() {
        f.refuse(Verb.LIST, 1000);
        f.store.addReference(DB, POD);

        assertThatThrownBy(f::get).isInstanceOf(NotFound.class);
        f.create(DB, "v1");
        assertThat(f.get()).isEqualTo("v1");
    }

    /** The server walks over every object of the kind for a watch without a version. */
    @Test
    @ExpectedWarnings("connection")
    void withoutTheVerbList_historyForgotten_onlyOneWatchHasNoVersion() {
        List<String> versions = new ArrayList<>();
        try (WatchObjectStore<Secret> store = new WatchObjectStore<>(
                ObjectKind.SECRET,
                key -> new Recording(
                        f.server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=db"), versions),
                f.server.getter(ObjectKind.SECRET),
                StoreOptions.defaults(f.timekeeper),
                WatchObjectStore.WatchTimes.DEFAULT)) {
            f.create(DB, "v1");
            f.refuse(Verb.LIST, 1000);
            HeldRequests held = f.server.faults().hold(RequestPattern.any().verb(Verb.WATCH));
            store.addReference(DB, POD);
            f.create(ObjectKey.of("default", "noise"), "noise");
            f.server.forgetHistory();
            held.release();
            f.update(DB, "v2");
            f.server.resetWatches();
            f.timekeeper.advance(Duration.ofSeconds(1));

            assertThat(Secrets.value(store.get(DB.namespace(), DB.name()))).isEqualTo("v2");
            assertThat(versions).hasSize(3);
            assertThat(versions.get(0)).isNotEmpty();
            assertThat(versions.get(1)).isEmpty();
            assertThat(versions.get(2)).isNotEmpty();
        }
    }

    @Test
    void withoutTheVerbList_theRequestsOfOneReadShareItsTimeout() {
        List<Duration> timeouts = new ArrayList<>();
        ObjectGetter<Secret> getter = f.server.getter(ObjectKind.SECRET);
        ListOrGet<Secret> read = new ListOrGet<>(
                DB,
                new Timed(f.server.listerWatcher(ObjectKind.SECRET, DB.namespace(), "metadata.name=db"), timeouts),
                (key, source, timeout) -> {
                    timeouts.add(timeout);
                    return getter.get(key, source, timeout);
                },
                f.timekeeper,
                () -> false,
                new AtomicBoolean(true));
        f.create(DB, "v1");
        f.refuse(Verb.LIST, 1000);
        HeldRequests get = f.server.faults().holdNext(1, RequestPattern.any().verb(Verb.GET));
        CompletableFuture<Listed<Secret>> listed = read.list(Duration.ofSeconds(30));
        f.timekeeper.advance(Duration.ofSeconds(25));
        get.release();

        assertThat(listed).isCompleted();
        assertThat(timeouts).containsExactly(Duration.ofSeconds(30), Duration.ofSeconds(30), Duration.ofSeconds(5));
    }

    @Test
    void listIsRefusedAtTheEndOfItsTime_noGetFollows() {
        CompletableFuture<Listed<Secret>> list = new CompletableFuture<>();
        CompletableFuture<Listed<Secret>> read = listOnly(list, () -> false).read(Duration.ofSeconds(30));
        f.timekeeper.advance(Duration.ofSeconds(30).minusNanos(1));

        list.completeExceptionally(forbidden);

        assertThat(read).failsWithin(Duration.ZERO).withThrowableThat().withCause(forbidden);
    }

    @Test
    void listIsRefusedAfterTheClose_noGetFollows() {
        CompletableFuture<Listed<Secret>> list = new CompletableFuture<>();
        AtomicBoolean closed = new AtomicBoolean();
        CompletableFuture<Listed<Secret>> read = listOnly(list, closed::get).read(Duration.ofSeconds(30));
        closed.set(true);

        list.completeExceptionally(forbidden);

        assertThat(read).failsWithin(Duration.ZERO).withThrowableThat().withCause(forbidden);
    }

    private ListOrGet<Secret> listOnly(CompletableFuture<Listed<Secret>> answer, BooleanSupplier closed) {
        return new ListOrGet<>(
                DB,
                new OneList(answer),
                (key, source, timeout) -> {
                    throw new AssertionError("a GET");
                },
                f.timekeeper,
                closed,
                new AtomicBoolean(true));
    }

    /** A server that answers a list when it is told to, and nothing else. */
    private record OneList(CompletableFuture<Listed<Secret>> answer) implements ListerWatcher<Secret> {

        @Override
        public CompletableFuture<Listed<Secret>> list(Duration timeout) {
            return answer;
        }

        @Override
        public WatchHandle watch(String version, Duration timeout, Consumer<WatchEvent<Secret>> events) {
            throw new AssertionError("a watch");
        }
    }

    @Test
    void storeIsClosedDuringTheGet_noListFollows() {
        f.create(DB, "v1");
        f.refuse(Verb.LIST, 1000);
        HeldRequests get = f.server.faults().holdNext(1, RequestPattern.any().verb(Verb.GET));
        f.store.addReference(DB, POD);
        f.store.close();
        get.release();

        assertThat(f.server.count(Verb.LIST)).isOne();
    }

    /** Records the timeouts of lists. */
    private record Timed(ListerWatcher<Secret> server, List<Duration> timeouts) implements ListerWatcher<Secret> {

        @Override
        public CompletableFuture<Listed<Secret>> list(Duration timeout) {
            timeouts.add(timeout);
            return server.list(timeout);
        }

        @Override
        public WatchHandle watch(String version, Duration timeout, Consumer<WatchEvent<Secret>> events) {
            return server.watch(version, timeout, events);
        }
    }

    /** Records from which versions watches begin. */
    private record Recording(ListerWatcher<Secret> server, List<String> versions) implements ListerWatcher<Secret> {

        @Override
        public CompletableFuture<Listed<Secret>> list(Duration timeout) {
            return server.list(timeout);
        }

        @Override
        public WatchHandle watch(String version, Duration timeout, Consumer<WatchEvent<Secret>> events) {
            versions.add(version);
            return server.watch(version, timeout, events);
        }
    }
}
