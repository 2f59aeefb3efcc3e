package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
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
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Warnings of watches that fail: one line, even for hundreds of watches. */
@ExtendWith(NoLeaks.class)
class WatchFailuresTest {

    private static final ObjectKey TLS = ObjectKey.of("default", "tls");
    private static final Duration QUIET = Duration.ofSeconds(10);

    private final List<String> reported = new ArrayList<>();
    private final ManualTimekeeper time = new ManualTimekeeper();
    private final WatchObjectStore<Secret> store = store();

    @Test
    @ExpectedWarnings("watch of Secret default/db failed; retrying: answered 503")
    void failed_manyAtOnce_warnsOfTheFirstAndTellsAll() {
        store.failed(DB, failure(FailureReason.UNAVAILABLE, 503), true);
        time.advance(QUIET.minusNanos(1));
        store.failed(TLS, failure(FailureReason.FORBIDDEN, 403), true);

        assertThat(reported).containsExactly("default/db UNAVAILABLE", "default/tls FORBIDDEN");
    }

    @Test
    @ExpectedWarnings({
        "watch of Secret default/db failed; retrying: answered 503",
        "watch of Secret default/tls failed; retrying: answered 500; 2 more have failed since the last warning",
        "watch of Secret default/db failed; retrying: answered 502; 1 more have failed since the last warning"
    })
    void failed_afterTenSeconds_warnsAgainAndCountsThoseSince() {
        store.failed(DB, failure(FailureReason.UNAVAILABLE, 503), true);
        store.failed(TLS, failure(FailureReason.UNAVAILABLE, 503), true);
        store.failed(TLS, failure(FailureReason.UNAVAILABLE, 503), true);
        time.advance(QUIET);
        store.failed(TLS, failure(FailureReason.UNAVAILABLE, 500), true);
        store.failed(TLS, failure(FailureReason.UNAVAILABLE, 503), true);
        time.advance(QUIET);

        store.failed(DB, failure(FailureReason.UNAVAILABLE, 502), true);
    }

    @Test
    void failed_onceMore_isReportedWithoutAWarning() {
        store.failed(DB, failure(FailureReason.UNAVAILABLE, 503), false);

        assertThat(reported).containsExactly("default/db UNAVAILABLE");
    }

    /** A list follows at once, and if that fails too, it says so. */
    @Test
    void failed_versionForgotten_isReportedWithoutAWarning() {
        store.failed(DB, failure(FailureReason.EXPIRED, 410), true);

        assertThat(reported).containsExactly("default/db EXPIRED");
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
                key -> new ManualListerWatcher<>(),
                (key, freshness, timeout) -> CompletableFuture.failedFuture(failure(FailureReason.FORBIDDEN, 403)),
                options,
                WatchObjectStore.WatchTimes.DEFAULT);
    }
}
