package dev.podcache.store;

import static dev.podcache.store.StoreFixture.DB;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.podcache.apiserver.ReadSource;
import dev.podcache.embedded.HeldRequests;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.ReadConsistency;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Reads with a consistency, and without blocking, under strategy CACHE. */
@ExtendWith(NoLeaks.class)
class TtlConsistencyTest {

    @AutoClose
    private final TtlFixture f = new TtlFixture();

    @Test
    void latest_asksThoughTheHeldObjectIsFresh_andIsKept() {
        f.seen("v1");
        f.update(DB, "v2");
        assertThat(f.get()).isEqualTo("v1");

        assertThat(get(ReadConsistency.latest())).isEqualTo("v2");
        assertThat(f.get()).isEqualTo("v2");
        f.requireGets(2);
        assertThat(f.server.actions()).extracting(FakeApiServer.Action::source).containsOnly(ReadSource.QUORUM);
    }

    @Test
    void latest_isSharedByAllWhoAskMeanwhile() throws Exception {
        f.seen("v1");
        HeldRequests held = f.server.hold(DB);
        List<CompletableFuture<String>> gets = new ArrayList<>();
        gets.add(behind());
        held.awaitArrived();
        f.update(DB, "v2");
        Stream.generate(this::behind).limit(5).forEach(gets::add);
        f.timekeeper.awaitWaiters(6);
        held.release();

        assertThat(gets.get(0).join()).isIn("v1", "v2");
        assertThat(gets.subList(1, 6)).allSatisfy(get -> assertThat(get.join()).isEqualTo("v2"));
        f.requireGets(3);
    }

    @Test
    void latest_whileTheServersCacheIsAsked_isNotAnsweredByIt_andNotReplaced() throws Exception {
        f.seen("v1");
        f.server.cluster().holdWatchCache();
        f.update(DB, "v2");
        f.timekeeper.advance(Duration.ofSeconds(61));
        HeldRequests refresh = f.server.holdNext(DB);
        CompletableFuture<String> refreshed = f.getBehind();
        refresh.awaitArrived();

        assertThat(get(ReadConsistency.latest())).isEqualTo("v2");
        refresh.release();
        refreshed.join();
        assertThat(f.get()).isEqualTo("v2");
    }

    @Test
    void latest_thatFails_throws_andTheHeldObjectStays() {
        f.seen("v1");
        f.failNext(1, FailureReason.REJECTED, 400, null);

        assertThatExceptionOfType(FetchFailed.class)
                .isThrownBy(() -> get(ReadConsistency.latest()))
                .satisfies(failed -> assertThat(failed.reason()).isEqualTo(FailureReason.REJECTED));
        assertThat(f.get()).isEqualTo("v1");
    }

    @Test
    void latest_ofAnObjectThatIsGone_isNotFound() {
        f.seen("v1");
        f.delete(DB);

        assertThatExceptionOfType(NotFound.class).isThrownBy(() -> get(ReadConsistency.latest()));
        assertThatExceptionOfType(NotFound.class).isThrownBy(f::get);
    }

    @Test
    void latest_ofAnObjectThatNobodyRefersTo_isNotRegistered() {
        assertThatExceptionOfType(NotRegistered.class).isThrownBy(() -> get(ReadConsistency.latest()));
        f.requireGets(0);
    }

    @Test
    void atLeast_asksOnlyIfTheHeldVersionIsOlder() {
        f.seen("v1");
        String version = f.store.state(DB).resourceVersion();
        assertThat(get(ReadConsistency.atLeast(version))).isEqualTo("v1");
        f.requireGets(1);

        Secret written = f.server.cluster().update(Secrets.of(DB, "v2"));
        assertThat(get(ReadConsistency.atLeast(written.getMetadata().getResourceVersion())))
                .isEqualTo("v2");
        f.requireGets(2);
    }

    @Test
    void maxAge_asksOnlyIfTheHeldAnswerIsOlder() {
        f.seen("v1");
        f.update(DB, "v2");
        f.timekeeper.advance(Duration.ofSeconds(5));

        assertThat(get(ReadConsistency.maxAge(Duration.ofSeconds(5)))).isEqualTo("v1");
        assertThat(get(ReadConsistency.maxAge(Duration.ofSeconds(4)))).isEqualTo("v2");
        f.requireGets(2);
    }

    @Test
    void async_hit_isCompleteAtOnce() {
        f.seen("v1");
        assertThat(f.store.getAsync("default", "db")).isCompleted();
        f.requireGets(1);
    }

    @Test
    void async_miss_completesWithTheAnswer_andCancellingOneHarmsNobody() throws Exception {
        f.create(DB, "v1");
        f.store.addReference(DB, TtlFixture.POD);
        HeldRequests held = f.server.hold(DB);
        CompletableFuture<Secret> cancelled = f.store.getAsync("default", "db");
        CompletableFuture<Secret> other = f.store.getAsync("default", "db");
        assertThat(other).isNotDone();
        cancelled.cancel(true);
        held.release();

        assertThat(Secrets.value(other.join())).isEqualTo("v1");
        f.requireGets(1);
        assertThat(f.timekeeper.scheduledTasks()).as("the clock of the store").isEqualTo(1);
    }

    @Test
    void async_endsWithTheReadTimeout_andWithTheCache() throws Exception {
        f.create(DB, "v1");
        f.store.addReference(DB, TtlFixture.POD);
        HeldRequests held = f.server.hold(DB);
        CompletableFuture<Secret> late = f.store.getAsync("default", "db");
        f.timekeeper.advance(Duration.ofSeconds(10));
        assertThat(late).isCompletedExceptionally();

        CompletableFuture<Secret> closed = f.store.getAsync("default", "db");
        f.store.close();
        assertThat(closed).isCompletedExceptionally();
        held.release();
    }

    private String get(ReadConsistency consistency) {
        return Secrets.value(f.store.get("default", "db", consistency));
    }

    private CompletableFuture<String> behind() {
        CompletableFuture<String> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                result.complete(get(ReadConsistency.latest()));
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return result;
    }
}
