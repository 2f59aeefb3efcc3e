package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ManualListerWatcher;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Warnings of watches that fail: one line, even for hundreds of watches. */
@ExtendWith(NoLeaks.class)
class WatchFailuresTest {

    private static final Duration QUIET = Duration.ofSeconds(10);
    private static final Duration SURELY_REPEATED = Duration.ofMillis(200);

    private final List<String> reported = new ArrayList<>();
    private final ManualTimekeeper time = new ManualTimekeeper();
    private final Map<ObjectKey, ManualListerWatcher<Secret>> servers = new HashMap<>();
    private final WatchObjectStore<Secret> store = store();

    @AfterEach
    void close() {
        store.close();
    }

    @Test
    @ExpectedWarnings("watch of Secret default/db failed; retrying: reset")
    void failed_manyAtOnce_warnsOfTheFirstAndTellsAll() {
        List<ObjectKey> keys = List.of(DB, key(1), key(2), key(3));
        for (ObjectKey key : keys) {
            watched(key);
        }
        for (ObjectKey key : keys) {
            lose(key, "reset");
        }
        watched(key(4));
        time.advance(QUIET.minusNanos(1));
        lose(key(4), "timed out");

        assertThat(reported)
                .containsExactly(
                        "default/db UNAVAILABLE",
                        "default/secret-1 UNAVAILABLE",
                        "default/secret-2 UNAVAILABLE",
                        "default/secret-3 UNAVAILABLE",
                        "default/secret-4 UNAVAILABLE");
    }

    @Test
    @ExpectedWarnings({
        "watch of Secret default/db failed; retrying: reset",
        "watch of Secret default/secret-3 failed; retrying: timed out; 2 more have failed since the last warning",
        "watch of Secret default/secret-5 failed; retrying: closed; 1 more have failed since the last warning"
    })
    void failed_afterTenSeconds_warnsAgainAndCountsThoseSince() {
        watched(DB);
        for (int i = 1; i <= 5; i++) {
            watched(key(i));
        }
        lose(DB, "reset");
        lose(key(1), "reset");
        lose(key(2), "reset");
        time.advance(QUIET);
        lose(key(3), "timed out");
        lose(key(4), "reset");
        time.advance(QUIET);

        lose(key(5), "closed");
    }

    /** Ten seconds later, when a warning would be due. */
    @Test
    @ExpectedWarnings("watch of Secret default/db failed; retrying: reset")
    void failed_onceMore_isReportedWithoutAWarning() {
        watched(DB);
        lose(DB, "reset");
        time.advance(SURELY_REPEATED);
        time.advance(QUIET);
        lose(DB, "reset");

        assertThat(reported).containsExactly("default/db UNAVAILABLE", "default/db UNAVAILABLE");
    }

    @Test
    @ExpectedWarnings({
        "watch of Secret default/db failed; retrying: reset",
        "watch of Secret default/db failed; retrying: closed"
    })
    void failed_afterItWorkedAgain_isWarnedOfAgain() {
        watched(DB);
        lose(DB, "reset");
        time.advance(SURELY_REPEATED);
        server(DB).watch().open();
        server(DB).watch().bookmark("2");
        time.advance(QUIET);

        lose(DB, "closed");
    }

    /** A list follows at once, and if that fails too, it says so. */
    @Test
    void failed_versionForgotten_isReportedWithoutAWarning() {
        watched(DB);
        server(DB).watch().end(failure(FailureReason.EXPIRED, 410));

        assertThat(reported).containsExactly("default/db EXPIRED");
    }

    private static ObjectKey key(int i) {
        return ObjectKey.of("default", "secret-" + i);
    }

    private ManualListerWatcher<Secret> server(ObjectKey key) {
        return servers.computeIfAbsent(key, first -> new ManualListerWatcher<>());
    }

    /** Has the object, which is absent, watched. */
    private void watched(ObjectKey key) {
        store.addReference(key, POD);
        server(key).answer("1", List.of());
        server(key).watch().open();
    }

    /** The connection of the watch is lost; a new one is tried from the same version. */
    private void lose(ObjectKey key, String how) {
        server(key).watch().end(new ApiServerException(FailureReason.UNAVAILABLE, 0, null, how, null));
    }

    private static ApiServerException failure(FailureReason reason, int code) {
        return new ApiServerException(reason, code, null, "answered " + code, null);
    }

    private WatchObjectStore<Secret> store() {
        StoreOptions options =
                new StoreOptions(time, Duration.ofSeconds(10), PayloadBudget.unlimited(time), new PodcacheMetrics() {
                    @Override
                    public void watchFailed(ObjectKind<?> kind, ObjectKey key, FailureReason failure) {
                        reported.add(key + " " + failure);
                    }
                });
        return new WatchObjectStore<>(
                ObjectKind.SECRET,
                this::server,
                (key, freshness, timeout) -> CompletableFuture.failedFuture(failure(FailureReason.FORBIDDEN, 403)),
                options,
                WatchObjectStore.WatchTimes.DEFAULT);
    }
}
