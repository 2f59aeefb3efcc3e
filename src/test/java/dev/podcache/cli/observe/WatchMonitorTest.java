package dev.podcache.cli.observe;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.config.ObjectId;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.util.Set;
import org.junit.jupiter.api.Test;

class WatchMonitorTest {

    private static final ObjectId DB = secret("db");
    private static final ObjectId WEB = secret("web");
    private static final ObjectId DB_MAP = new ObjectId(ObjectKind.CONFIG_MAP, DB.key());

    private final WatchMonitor watches = new WatchMonitor();

    private static ObjectId secret(String name) {
        return new ObjectId(ObjectKind.SECRET, ObjectKey.of("shop", name));
    }

    @Test
    void totals_severalFailedAttempts_countOnce() {
        watches.failed(DB, FailureReason.FORBIDDEN);
        watches.synced(DB);
        watches.failed(DB, FailureReason.UNAVAILABLE);
        watches.failed(DB, FailureReason.UNAVAILABLE);
        watches.synced(DB);

        assertThat(watches.totals()).isEqualTo(ImmutableMap.of("opened", 1L, "lost", 1L, "again", 1L));
    }

    @Test
    void failed_versionIsExpired_isNoLoss() {
        watches.synced(DB);
        watches.failed(DB, FailureReason.EXPIRED);

        assertThat(watches.isLost(DB)).isFalse();
        assertThat(watches.totals()).isEqualTo(ImmutableMap.of("opened", 1L, "lost", 0L, "again", 0L));
    }

    @Test
    void isKnown_watchThatNeverWasLive_isFalse() {
        assertThat(watches.isKnown(DB)).isFalse();
        watches.failed(DB, FailureReason.FORBIDDEN);

        assertThat(watches.isKnown(DB)).isFalse();
        assertThat(watches.isLost(DB)).isFalse();
    }

    @Test
    void isLost_anotherKindOfThatName_isFalse() {
        watches.synced(DB);
        watches.synced(DB_MAP);
        watches.failed(DB, FailureReason.UNAVAILABLE);

        assertThat(watches.isLost(DB)).isTrue();
        assertThat(watches.isKnown(DB)).isTrue();
        assertThat(watches.isLost(DB_MAP)).isFalse();
    }

    @Test
    void retain_someObjects_forgetsTheOthers() {
        watches.synced(DB);
        watches.synced(WEB);

        watches.retain(Set.of(WEB));

        assertThat(watches.isKnown(DB)).isFalse();
        assertThat(watches.isKnown(WEB)).isTrue();
    }

    @Test
    void report_manyWatches_areOneEventOnceNoMoreBecomeLive() {
        for (int i = 0; i < 20; i++) {
            watches.synced(secret("s" + i));
        }
        assertThat(watches.report(false)).isEmpty();
        watches.synced(secret("s20"));
        assertThat(watches.report(false)).isEmpty();

        assertThat(watches.report(false))
                .containsExactly(new ProgramEvent("watched", "21 objects", ImmutableMap.of("watches", 21L)));
        assertThat(watches.report(true)).isEmpty();
    }

    @Test
    void report_all_postponesNothing() {
        watches.synced(DB);

        assertThat(watches.report(true)).extracting(ProgramEvent::text).containsExactly("1 object");
    }

    @Test
    void report_lostWatchesForSeveralReasons_areOneEvent() {
        for (ObjectId id : Set.of(DB, WEB, DB_MAP)) {
            watches.synced(id);
        }
        watches.report(true);
        watches.failed(DB, FailureReason.UNAVAILABLE);
        watches.failed(WEB, FailureReason.TIMEOUT);
        watches.failed(DB_MAP, FailureReason.UNAVAILABLE);

        assertThat(watches.report(false)).singleElement().satisfies(event -> {
            assertThat(event.name()).isEqualTo("watch-lost");
            assertThat(event.text())
                    .isEqualTo("3 objects may be out of date, their watches failed; retrying: TIMEOUT, UNAVAILABLE");
            assertThat(event.facts()).containsEntry("reasons", ImmutableMap.of("UNAVAILABLE", 2, "TIMEOUT", 1));
        });
    }

    @Test
    void report_watchThatNeverWasLive_isUnwatched() {
        watches.failed(DB, FailureReason.FORBIDDEN);

        assertThat(watches.report(false)).singleElement().satisfies(event -> {
            assertThat(event.name()).isEqualTo("unwatched");
            assertThat(event.text()).isEqualTo("1 object cannot be watched; retrying: FORBIDDEN");
        });
    }
}
