package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.ManualListerWatcher;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A store of strategy WATCH and one object that has been brought into a situation: a row of a table. The test is the
 * server and answers it call by call. Only what a user of the store sees is asked for.
 */
@ExtendWith(NoLeaks.class)
abstract class WatchRowFixture {

    static final Duration SURELY_REPEATED = Duration.ofMillis(200);
    static final Duration MILLI = Duration.ofMillis(1);
    static final Duration FIRST_SYNC = Duration.ofSeconds(1);

    /** Half of the time after which an object counts as not read. */
    static final Duration SWEEP = Duration.ofSeconds(30);

    private static final int BUDGET = 100;
    private static final int SIZE = 10; // of each object; the budget prefers those of a hundredth of its bound

    final List<String> reported = new ArrayList<>();
    final ManualTimekeeper time = new ManualTimekeeper();
    final ManualListerWatcher<Secret> server = new ManualListerWatcher<>();

    // its sweeps have a time of their own, which stands still
    private final PayloadBudget budget = PayloadBudget.ofBytes(BUDGET, new ManualTimekeeper());
    private final ReportRecorder listener = new ReportRecorder();
    final WatchObjectStore<Secret> store = new WatchObjectStore<>(
            ObjectKind.SECRET,
            any -> server,
            (any, freshness, timeout) -> CompletableFuture.failedFuture(failure(FailureReason.FORBIDDEN, 403)),
            new StoreOptions(time, Duration.ofSeconds(10), budget, listener).earlyRefusals(earlyRefusals()),
            new WatchObjectStore.WatchTimes(FIRST_SYNC, SWEEP.multipliedBy(2)));

    /** What has happened to the object, and what the server is asked for just then. */
    enum WatchRow {
        /** Referenced; its list is not answered. */
        LISTING,
        /** Listed as v1; its watch is not accepted. */
        LISTED,
        /** Watched. */
        WATCHED,
        /** The watch was lost; another one from the same version is not accepted. */
        LOST,
        /** The watch was lost with its version; the list is not answered. */
        LOST_LISTING,
        /** Lost, and referenced once more; the list is not answered. */
        RENEWED_LISTING,
        /** Lost, referenced once more and listed; the watch is not accepted. */
        RENEWED_LISTED,
        /** Not read for long. */
        UNREAD,
        /** Not read for long, then read; the list is not answered. */
        REREAD_LISTING,
        /** Not read for long, then read and listed; the watch is not accepted. */
        REREAD_LISTED,
        /** Listed as an immutable object. */
        IMMUTABLE,
        /** Watched, and evicted by the budget. */
        EVICTED,
        /** No longer referenced. */
        DROPPED;

        boolean isListing() {
            return this == LISTING || this == LOST_LISTING || this == REREAD_LISTING || this == RENEWED_LISTING;
        }
    }

    private final class ReportRecorder extends BegunGet.StaleGets {

        @Override
        public void watchFailed(ObjectKind<?> kind, ObjectKey key, FailureReason failure) {
            reported.add(kind + " " + key + " failed: " + failure);
        }

        @Override
        public void watchSynced(ObjectKind<?> kind, ObjectKey key, Duration took) {
            reported.add(kind + " " + key + " synced after " + took.toMillis() + " ms");
        }
    }

    /** Called before the constructor of the test. */
    EarlyRefusals earlyRefusals() {
        return EarlyRefusals.NODE;
    }

    @BeforeEach
    void allowWarnings(NoLeaks leaks) {
        leaks.allowWarnings("; retrying");
    }

    void bringTo(WatchRow row) {
        store.addReference(DB, POD);
        switch (row) {
            case LISTING -> {}
            case LISTED -> hear(WatchRow.LISTING, "v1", "10");
            case IMMUTABLE -> hear(WatchRow.LISTING, Secrets.immutable(DB, "v1"), "10");
            default -> {
                hear(WatchRow.LISTING, "v1", "10");
                accept(WatchRow.LISTED);
                onFromWatched(row);
            }
        }
    }

    void onFromWatched(WatchRow row) {
        switch (row) {
            case LOST -> {
                fail(WatchRow.WATCHED, failure(FailureReason.UNAVAILABLE, 0));
                time.advance(SURELY_REPEATED);
            }
            case LOST_LISTING -> fail(WatchRow.WATCHED, failure(FailureReason.EXPIRED, 410));
            case RENEWED_LISTING -> {
                onFromWatched(WatchRow.LOST);
                store.addReference(DB, OTHER_POD);
            }
            case RENEWED_LISTED -> {
                onFromWatched(WatchRow.RENEWED_LISTING);
                hear(WatchRow.RENEWED_LISTING, "v1", "10");
            }
            case UNREAD -> leaveUnread();
            case REREAD_LISTING -> {
                leaveUnread();
                assertThat(get()).isEqualTo("waits");
            }
            case REREAD_LISTED -> {
                onFromWatched(WatchRow.REREAD_LISTING);
                hear(WatchRow.REREAD_LISTING, "v1", "10");
            }
            case EVICTED -> evict();
            case DROPPED -> store.deleteReference(DB, POD);
            default -> {}
        }
    }

    void hear(WatchRow row, String value) {
        hear(row, value, "11");
    }

    void hear(WatchRow row, String value, String version) {
        hear(row, Secrets.of(DB, value), version);
    }

    /** The server says so, by a list if it is asked for one, else by an event. */
    void hear(WatchRow row, Secret secret, String version) {
        if (row.isListing()) {
            server.answer(version, List.of(new Fetched<>(secret, version, SIZE)));
        } else {
            server.watch().tell(new WatchEvent.Upserted<>(new Fetched<>(secret, version, SIZE)));
        }
    }

    void hearOfAbsence(WatchRow row) {
        if (row.isListing()) {
            server.answer("11", List.of());
        } else {
            server.watch().delete(Secrets.of(DB, "gone"), "11");
        }
    }

    void accept(WatchRow row) {
        assertThat(server.watches()).as("watches in the row %s", row).isPositive();
        server.watch().open();
        if (row == WatchRow.LOST) {
            server.watch().bookmark("12");
        }
    }

    void fail(WatchRow row, ApiServerException failure) {
        if (row.isListing()) {
            server.fail(failure);
        } else {
            server.watch().end(failure);
        }
    }

    /** The first sweep sees the read, or the sync, before it; two see none. */
    void leaveUnread() {
        time.advance(SWEEP.multipliedBy(3));
    }

    /**
     * Has the budget evict what is held of the object: another one is read again and again, so that the budget prefers
     * it, and then grows to the bound.
     */
    void evict() {
        long before = store.changes().evictions();
        ObjectKey key = ObjectKey.of("default", "growing");
        AtomicInteger size = new AtomicInteger();
        try (TtlObjectStore<Secret> growing = new TtlObjectStore<>(
                ObjectKind.SECRET,
                (any, freshness, timeout) -> CompletableFuture.completedFuture(
                        new Fetched<>(Secrets.of(key, "growing"), size.toString(), size.get())),
                FixedTtl.ofSeconds(0),
                new StoreOptions(time, Duration.ofSeconds(10), budget, PodcacheMetrics.NONE))) {
            growing.addReference(key, POD);
            for (int next : new int[] {BUDGET - 30, BUDGET - 29, BUDGET - 28, BUDGET}) {
                size.set(next);
                growing.get(key);
            }
        }
        assertThat(store.changes().evictions()).as("evictions").isEqualTo(before + 1);
    }

    /** What a get that begins now ends with, or that it waits. */
    String get() {
        return begunGet().outcome();
    }

    BegunGet begunGet() {
        return new BegunGet(store, DB, listener);
    }

    /** What that get ends with when the time for a first read is over. */
    String outcomeAfterTheWait(BegunGet get) {
        time.advance(FIRST_SYNC);
        return get.outcome();
    }

    CacheState shown() {
        return store.state(DB).cacheState();
    }

    @Nullable
    Throwable lastFailure() {
        return store.state(DB).lastFailure();
    }

    int requests() {
        return server.lists() + server.watches();
    }

    static ApiServerException failure(FailureReason reason, int code) {
        return new ApiServerException(reason, code, null, "the server answered " + code, null);
    }
}
