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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What is said of watches that fail: one line, though it be hundreds. */
@ExtendWith(NoLeaks.class)
class WatchesTest {

    private static final ObjectKey TLS = ObjectKey.of("default", "tls");
    private static final Duration QUIET = Duration.ofSeconds(10);

    private final List<String> told = new ArrayList<>();
    private final ManualTimekeeper time = new ManualTimekeeper();
    private final Watches<Secret> watches = watches();

    @Test
    @ExpectedWarnings("watch of Secret default/db failed; retrying: answered 503")
    void failed_manyAtOnce_warnsOfTheFirstAndTellsAll() {
        watches.failed(DB, failure(FailureReason.UNAVAILABLE, 503), true);
        time.advance(QUIET.minusNanos(1));
        watches.failed(TLS, failure(FailureReason.FORBIDDEN, 403), true);

        assertThat(told).containsExactly("default/db UNAVAILABLE", "default/tls FORBIDDEN");
    }

    @Test
    @ExpectedWarnings({
        "watch of Secret default/db failed; retrying: answered 503",
        "watch of Secret default/tls failed; retrying: answered 500; 2 more have failed since the last warning",
        "watch of Secret default/db failed; retrying: answered 502; 1 more have failed since the last warning"
    })
    void failed_afterTenSeconds_warnsAgainAndCountsThoseSince() {
        watches.failed(DB, failure(FailureReason.UNAVAILABLE, 503), true);
        watches.failed(TLS, failure(FailureReason.UNAVAILABLE, 503), true);
        watches.failed(TLS, failure(FailureReason.UNAVAILABLE, 503), true);
        time.advance(QUIET);
        watches.failed(TLS, failure(FailureReason.UNAVAILABLE, 500), true);
        watches.failed(TLS, failure(FailureReason.UNAVAILABLE, 503), true);
        time.advance(QUIET);

        watches.failed(DB, failure(FailureReason.UNAVAILABLE, 502), true);
    }

    @Test
    void failed_onceMore_isToldButNoWarning() {
        watches.failed(DB, failure(FailureReason.UNAVAILABLE, 503), false);

        assertThat(told).containsExactly("default/db UNAVAILABLE");
    }

    /** A list follows at once, and if that fails too, it says so. */
    @Test
    void failed_versionForgotten_isToldButNoWarning() {
        watches.failed(DB, failure(FailureReason.EXPIRED, 410), true);

        assertThat(told).containsExactly("default/db EXPIRED");
    }

    private static ApiServerException failure(FailureReason reason, int code) {
        return new ApiServerException(reason, code, null, "answered " + code, null);
    }

    private Watches<Secret> watches() {
        StoreOptions options =
                new StoreOptions(time, Duration.ofSeconds(10), PayloadBudget.unlimited(time), new PodcacheMetrics() {
                    @Override
                    public void watchFailed(ObjectKind<?> kind, ObjectKey key, FailureReason failure) {
                        told.add(key + " " + failure);
                    }
                });
        return new Watches<>(ObjectKind.SECRET, key -> new ManualListerWatcher<>(), options);
    }
}
