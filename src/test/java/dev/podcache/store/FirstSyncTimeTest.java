package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * From when the time for a first read counts: what the way to the server takes, in a program that has just started, is
 * not the time of the server.
 */
class FirstSyncTimeTest extends WatchRowFixture {

    private static final Duration TO_REACH = Duration.ofSeconds(10);

    private BegunGet coldGet() {
        server.setWritesLater();
        bringTo(WatchRow.LISTING);
        return begunGet();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 300, 2_000, 9_999})
    void coldStart_theTimeCountsFromTheListBeingWritten(long untilWritten) {
        BegunGet get = coldGet();
        time.advance(Duration.ofMillis(untilWritten));
        server.write();
        time.advance(FIRST_SYNC.minus(MILLI));
        assertThat(get.outcome()).isEqualTo("waits");
        hear(WatchRow.LISTING, "v1", "10");
        accept(WatchRow.LISTED);

        assertThat(get.outcome()).isEqualTo("v1");
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 300, 2_000, 9_999})
    void coldStart_writtenAndNotAnswered_endsInTime_andSaysSo(long untilWritten) {
        CompletableFuture<Secret> get = coldGetAsync();
        time.advance(Duration.ofMillis(untilWritten));
        server.write();
        time.advance(FIRST_SYNC.minus(MILLI));
        assertThat(get).isNotDone();
        time.advance(MILLI);

        assertThat(notSynced(get).reason()).isEqualTo(FailureReason.TIMEOUT);
        assertThat(notSynced(get)).hasMessageContaining("no answer yet");
    }

    @Test
    void coldStart_theAnswerIsDecodedAndTheWatchOpened_eachInATimeOfItsOwn() {
        BegunGet get = coldGet();
        server.write();
        time.advance(FIRST_SYNC.minus(MILLI));
        hear(WatchRow.LISTING, "v1", "10");
        time.advance(FIRST_SYNC.minus(MILLI));
        assertThat(get.outcome()).isEqualTo("waits");
        accept(WatchRow.LISTED);

        assertThat(get.outcome()).isEqualTo("v1");
    }

    @Test
    void coldStart_serverNotReached_endsAfterTenSeconds_andSaysSo() {
        CompletableFuture<Secret> get = coldGetAsync();
        time.advance(TO_REACH.minus(MILLI));
        assertThat(get).isNotDone();
        time.advance(MILLI);

        assertThat(notSynced(get).reason()).isEqualTo(FailureReason.UNAVAILABLE);
        assertThat(notSynced(get)).hasMessageContaining("within 10000 ms").hasMessageContaining("was not reached");
    }

    /** A streamed list is one request with its watch. */
    @Test
    void coldStart_ofAStreamedList_theTimeCountsFromItsBeingWritten() {
        server.setStreams(true);
        server.setWritesLater();
        store.addReference(DB, POD);
        BegunGet get = begunGet();
        time.advance(Duration.ofSeconds(5));
        assertThat(get.outcome()).isEqualTo("waits");
        server.write();
        time.advance(FIRST_SYNC);

        assertThat(get.outcome()).isEqualTo("NotSynced");
    }

    @Test
    void coldStart_ofANamespace_theTimeCountsFromItsListBeingWritten() {
        server.setWritesLater();
        try (WatchObjectStore<Secret> namespaces = WatchObjectStore.ofNamespaces(
                ObjectKind.SECRET,
                any -> server,
                (namespace, names) -> server,
                (any, freshness, timeout) -> new CompletableFuture<>(),
                StoreOptions.defaults(time),
                WatchObjectStore.WatchTimes.DEFAULT)) {
            namespaces.addReference(DB, POD);
            CompletableFuture<Secret> get = namespaces.getAsync(DB.namespace(), DB.name());
            time.advance(Duration.ofSeconds(5));
            server.write();
            time.advance(FIRST_SYNC.minus(MILLI));
            assertThat(get).isNotDone();
            time.advance(MILLI);

            assertThat(notSynced(get).reason()).isEqualTo(FailureReason.TIMEOUT);
        }
    }

    @Test
    void coldStart_anAttemptFails_endsAGetWhoseTimeIsOver() {
        CompletableFuture<Secret> get = coldGetAsync();
        time.advance(Duration.ofSeconds(3));
        fail(WatchRow.LISTING, failure(FailureReason.UNAVAILABLE, 0));

        assertThat(notSynced(get).reason()).isEqualTo(FailureReason.UNAVAILABLE);
        assertThat(notSynced(get)).hasMessageContaining("the server answered 0");
    }

    @Test
    void anAttemptHasFailed_laterGetsWaitAsLongAsEver() {
        CompletableFuture<Secret> first = coldGetAsync();
        fail(WatchRow.LISTING, failure(FailureReason.UNAVAILABLE, 0));
        time.advance(FIRST_SYNC);
        assertThat(first).isDone();
        BegunGet get = begunGet();

        assertThat(outcomeAfterTheWait(get)).isEqualTo("NotSynced");
    }

    /** In an outage, the list of a new object waits until a probe of another is answered. */
    @Test
    void anotherObjectHasFailed_aNewObjectIsNoColdStart() {
        server.setWritesLater();
        store.addReference(ObjectKey.of("default", "other"), POD);
        fail(WatchRow.LISTING, failure(FailureReason.UNAVAILABLE, 0));
        store.addReference(DB, POD);

        assertThat(outcomeAfterTheWait(begunGet())).isEqualTo("NotSynced");
    }

    @Test
    void readAgainAfterAPause_whatIsKnownIsServedAfterTheTimeFromTheGet() {
        bringTo(WatchRow.UNREAD);
        server.setWritesLater();

        assertThat(outcomeAfterTheWait(begunGet())).isEqualTo("v1 stale");
    }

    private CompletableFuture<Secret> coldGetAsync() {
        server.setWritesLater();
        bringTo(WatchRow.LISTING);
        return store.getAsync(DB.namespace(), DB.name());
    }

    private static NotSynced notSynced(CompletableFuture<Secret> get) {
        assertThat(get).isDone();
        return (NotSynced) get.handle((object, failure) -> failure).join();
    }
}
