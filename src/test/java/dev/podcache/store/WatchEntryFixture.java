package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableMap;
import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Fetched;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.ManualListerWatcher;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * An entry of strategy WATCH in any state of the table in {@link WatchEntry}: no store, and a server that answers by
 * hand, call by call.
 */
@ExtendWith(NoLeaks.class)
abstract class WatchEntryFixture {

    static final Duration SURELY_REPEATED = Duration.ofMillis(200);
    static final Duration MILLI = Duration.ofMillis(1);
    private static final ImmutableMap<String, WatchState> STATES = ImmutableMap.<String, WatchState>builder()
            .put("watch being opened", WatchState.OPENING)
            .put("watched", WatchState.LIVE)
            .put("watch lost, being reopened", WatchState.BROKEN)
            .put("watch reopened, not confirmed yet", WatchState.BROKEN)
            .put("watch lost, being reopened for a new reference", WatchState.RENEWING)
            .put("watch closed because the object was not read; the next get reopens it", WatchState.IDLE)
            .put("watch being reopened", WatchState.REOPENING)
            .put("not watched: immutable, or read once for each reference", WatchState.UNWATCHED)
            .put("evicted by payloadBudget; the next get reads the object again", WatchState.EVICTED)
            .put("not referenced", WatchState.DROPPED)
            .buildOrThrow();

    final List<String> reported = new ArrayList<>();
    final ManualTimekeeper time = new ManualTimekeeper();
    final ManualListerWatcher<Secret> server = new ManualListerWatcher<>();
    final WatchObjectStore<Secret> store = store();
    final WatchEntry<Secret> entry = entry(DB);

    /** The rows, and within a row what the server is asked for just then. */
    enum WatchRow {
        OPENING,
        OPENING_LISTED,
        LIVE,
        BROKEN,
        BROKEN_LISTING,
        RENEWING,
        RENEWING_LISTED,
        IDLE,
        REOPENING,
        REOPENING_LISTED,
        UNWATCHED,
        EVICTED,
        DROPPED;

        boolean isListing() {
            return this == OPENING || this == BROKEN_LISTING || this == REOPENING || this == RENEWING;
        }
    }

    private final class ReportRecorder implements PodcacheMetrics {

        @Override
        public void watchFailed(ObjectKind<?> kind, ObjectKey key, FailureReason failure) {
            reported.add(kind + " " + key + " failed: " + failure);
        }

        @Override
        public void watchSynced(ObjectKind<?> kind, ObjectKey key, Duration took) {
            reported.add(kind + " " + key + " synced after " + took.toMillis() + " ms");
        }
    }

    @BeforeEach
    void allowWarnings(NoLeaks leaks) {
        leaks.allowWarnings("; retrying");
    }

    void bringTo(WatchRow row) {
        entry.addReference(POD);
        switch (row) {
            case OPENING -> {}
            case OPENING_LISTED -> hear(WatchRow.OPENING, "v1", "10");
            case UNWATCHED -> hear(WatchRow.OPENING, Secrets.immutable(DB, "v1"), "10");
            default -> {
                hear(WatchRow.OPENING, "v1", "10");
                accept(WatchRow.OPENING_LISTED);
                onFromLive(row);
            }
        }
    }

    void onFromLive(WatchRow row) {
        switch (row) {
            case BROKEN -> {
                fail(WatchRow.LIVE, failure(FailureReason.UNAVAILABLE, 0));
                time.advance(SURELY_REPEATED);
            }
            case BROKEN_LISTING -> fail(WatchRow.LIVE, failure(FailureReason.EXPIRED, 410));
            case RENEWING -> {
                onFromLive(WatchRow.BROKEN);
                entry.addReference(OTHER_POD);
            }
            case RENEWING_LISTED -> {
                onFromLive(WatchRow.RENEWING);
                hear(WatchRow.RENEWING, "v1", "10");
            }
            case IDLE -> leaveUnread();
            case REOPENING -> {
                leaveUnread();
                entry.lookup();
            }
            case REOPENING_LISTED -> {
                onFromLive(WatchRow.REOPENING);
                hear(WatchRow.REOPENING, "v1", "10");
            }
            case EVICTED -> entry.evict();
            case DROPPED -> entry.deleteReference(POD);
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
            server.answer(version, List.of(new Fetched<>(secret, version, 1)));
        } else {
            server.watch().upsert(secret, version);
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
        if (row == WatchRow.BROKEN) {
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
        entry.sweep();
        entry.sweep();
        entry.sweep();
    }

    WatchState state() {
        return Objects.requireNonNull(STATES.get(entry.state().freshness()));
    }

    String served() {
        Secret known = entry.ifKnown();
        return known == null ? content(entry.answer()) : Secrets.value(known);
    }

    static String content(@Nullable Answer<Secret> answer) {
        if (answer == null) {
            return "nothing";
        }
        return answer instanceof Answer.Present<Secret> present ? Secrets.value(present.object) : "absence";
    }

    static ApiServerException failure(FailureReason reason, int code) {
        return new ApiServerException(reason, code, null, "the server answered " + code, null);
    }

    WatchEntry<Secret> entry(ObjectKey key) {
        return new WatchEntry<>(key, store);
    }

    private WatchObjectStore<Secret> store() {
        StoreOptions options =
                new StoreOptions(time, Duration.ofSeconds(10), PayloadBudget.unlimited(time), new ReportRecorder());
        return new WatchObjectStore<>(
                ObjectKind.SECRET,
                any -> server,
                (any, freshness, timeout) -> CompletableFuture.failedFuture(failure(FailureReason.FORBIDDEN, 403)),
                options,
                WatchObjectStore.WatchTimes.DEFAULT);
    }
}
