package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.object.ReadConsistency;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Strategy WATCH: an object that this identity may not read, and what follows once access is granted. */
class RefusedObjectTest extends WatchRowFixture {

    private static final Duration ASKED_AGAIN = Duration.ofMillis(250);

    private int answered; // the lists that were answered
    private @Nullable ApiServerException lastRefusal;

    /** Refuses every list until the pauses between them are long. */
    private void refuseForLong() {
        bringTo(WatchRow.LISTING);
        while (answered < 9) {
            refuseNewLists();
            time.advance(Duration.ofMillis(5));
        }
        time.advance(ASKED_AGAIN);
        assertThat(server.lists()).as("the pause is long").isEqualTo(answered);
    }

    private void refuseNewLists() {
        if (server.lists() > answered) {
            answered = server.lists();
            lastRefusal = failure(FailureReason.FORBIDDEN, 403);
            server.fail(lastRefusal);
        }
    }

    @Test
    void get_asksAtOnce_andThrowsWhatItWasTold() {
        refuseForLong();
        ApiServerException before = Objects.requireNonNull(lastRefusal);
        CompletableFuture<Secret> get = store.getAsync(DB.namespace(), DB.name());
        assertThat(server.lists()).isEqualTo(answered + 1);
        assertThat(get).isNotDone();
        refuseNewLists();

        assertThat(get).isCompletedExceptionally();
        assertThat(failureOf(get).reason()).isEqualTo(FailureReason.FORBIDDEN);
        assertThat(failureOf(get)).hasCause(lastRefusal);
        assertThat(failureOf(get).getCause()).isNotSameAs(before);
    }

    @Test
    void gets_soonAfterARefusal_failAtOnceWithIt_andAskNobody() {
        refuseForLong();
        begunGet();
        refuseNewLists();
        time.advance(ASKED_AGAIN.minus(MILLI));
        CompletableFuture<Secret> get = store.getAsync(DB.namespace(), DB.name());

        assertThat(failureOf(get)).hasCause(lastRefusal);
        assertThat(server.lists()).isEqualTo(answered);
        time.advance(MILLI);
        begunGet();
        assertThat(server.lists()).isEqualTo(answered + 1);
    }

    @Test
    void gets_withoutAPause_askAtMostFourTimesASecond() {
        refuseForLong();
        int lists = server.lists();
        for (int i = 0; i < 1_000; i++) {
            begunGet();
            refuseNewLists();
            time.advance(Duration.ofMillis(10));
        }

        assertThat(server.lists() - lists).isBetween(35, 41);
    }

    @Test
    void granted_theNextGetThatAsksSucceeds() {
        refuseForLong();
        begunGet();
        refuseNewLists();
        time.advance(ASKED_AGAIN);
        BegunGet get = begunGet();
        hear(WatchRow.LISTING, "v1", "10");
        accept(WatchRow.LISTED);

        assertThat(get.outcome()).isEqualTo("v1");
        assertThat(shown()).isEqualTo(CacheState.FRESH);
    }

    /** A Node authorizer lags behind the binding of a pod. */
    @Test
    void refusedForLessThanASecond_getsWaitForTheNextAttempt() {
        bringTo(WatchRow.LISTING);
        BegunGet get = begunGet();
        for (int i = 0; i < 2; i++) {
            refuseNewLists();
            assertThat(get.outcome()).isEqualTo("waits");
            assertThat(get()).isEqualTo("waits");
            time.advance(SURELY_REPEATED);
            assertThat(server.lists()).isEqualTo(answered + 1);
        }
        hear(WatchRow.LISTING, "v1", "10");
        accept(WatchRow.LISTED);

        assertThat(get.outcome()).isEqualTo("v1");
    }

    @Test
    void getsBehind_areNotSpedUpByOthers_whereTheServerAskedForAPause() {
        refuseForLong();
        begunGet();
        server.fail(new ApiServerException(
                FailureReason.THROTTLED, 429, Duration.ofSeconds(20), "the server answered 429", null));
        int lists = server.lists();
        time.advance(Duration.ofSeconds(5));
        BegunGet get = begunGet();

        assertThat(server.lists()).isEqualTo(lists);
        assertThat(outcomeAfterTheWait(get)).isEqualTo("NotSynced");
    }

    /** What was refused to one pod may be allowed to the next. */
    @Test
    void anotherReference_asksAgainAtOnce_andItsGetsWait() {
        refuseForLong();
        store.addReference(DB, OTHER_POD);
        assertThat(server.lists()).isEqualTo(answered + 1);
        BegunGet get = begunGet();
        refuseNewLists();
        assertThat(get.outcome()).isEqualTo("waits");
        time.advance(Duration.ofMillis(50));
        hear(WatchRow.LISTING, "v1", "10");
        accept(WatchRow.LISTED);

        assertThat(get.outcome()).isEqualTo("v1");
        assertThat(shown()).isEqualTo(CacheState.FRESH);
    }

    // a quorum read

    @Test
    void latest_thatSucceeds_isKept_andTheWatchIsOpenedAgain() {
        refuseForLong();
        List<CacheState> told = new ArrayList<>();
        Runnable end = store.observe(key -> told.add(shown()));
        int lists = server.lists();
        CompletableFuture<String> latest = latest();
        hear(WatchRow.LISTING, "v1", "10");

        assertThat(latest.join()).isEqualTo("v1");
        assertThat(get()).isEqualTo("v1 stale");
        assertThat(shown()).isEqualTo(CacheState.STALE);
        assertThat(told).contains(CacheState.STALE);
        time.advance(ASKED_AGAIN);
        assertThat(server.lists()).as("the read, and the list of the watch").isEqualTo(lists + 2);
        hear(WatchRow.LISTING, "v1", "11");
        accept(WatchRow.LISTED);
        assertThat(get()).isEqualTo("v1");
        assertThat(shown()).isEqualTo(CacheState.FRESH);
        end.run();
    }

    @Test
    void latest_thatFindsNothing_isKept() {
        refuseForLong();
        CompletableFuture<String> latest = latest();
        server.answer("10", List.of());
        latest.handle((value, failure) -> failure).join();

        assertThat(get()).isEqualTo("NotFound unsure");
    }

    /** What a new pod gets was asked for after its registration. */
    @Test
    void latest_thatBeganBeforeANewReference_isNotKept() {
        refuseForLong();
        begunGet();
        refuseNewLists();
        CompletableFuture<String> latest = latest();
        store.addReference(DB, OTHER_POD);
        hear(WatchRow.LISTING, "v1", "10");

        assertThat(latest.join()).isEqualTo("v1");
        assertThat(shown()).isEqualTo(CacheState.NOT_SYNCED);
    }

    /** The first list and watch are on their way: the state must not say STALE meanwhile. */
    @Test
    void latest_beforeAnyAttemptHasFailed_isNotKept() {
        bringTo(WatchRow.LISTED);
        CompletableFuture<String> latest = latest();
        hear(WatchRow.LISTING, "v1", "10");
        latest.join();

        assertThat(shown()).isEqualTo(CacheState.NOT_SYNCED);
        accept(WatchRow.LISTED);
        assertThat(shown()).isEqualTo(CacheState.FRESH);
    }

    private CompletableFuture<String> latest() {
        int lists = server.lists();
        CompletableFuture<String> latest = CompletableFuture.supplyAsync(
                () -> Secrets.value(store.get("default", "db", ReadConsistency.latest())), NewThread.EACH);
        Patience.await().until(() -> server.lists() > lists);
        return latest;
    }

    private static NotSynced failureOf(CompletableFuture<Secret> get) {
        assertThat(get).isDone();
        return (NotSynced) get.handle((object, failure) -> failure).join();
    }
}
