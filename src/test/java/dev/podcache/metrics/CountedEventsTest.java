package dev.podcache.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class CountedEventsTest {

    private static final ObjectKey DB = ObjectKey.of("shop", "db");

    private final List<String> heard = new ArrayList<>();

    private final class Hearing implements PodcacheMetrics {

        @Override
        public void missed(ObjectKind<?> kind, ObjectKey key, String strategy) {
            heard.add("missed " + key + " " + strategy);
        }

        @Override
        public void staleServed(ObjectKind<?> kind, ObjectKey key, String strategy) {
            heard.add("stale " + key + " " + strategy);
        }

        @Override
        public void fetched(
                ObjectKind<?> kind, ObjectKey key, String why, @Nullable FailureReason failure, Duration took) {
            heard.add("fetched " + key + " " + why + " " + failure);
        }

        @Override
        public void watchFailed(ObjectKind<?> kind, ObjectKey key, FailureReason failure) {
            heard.add("watch failed " + key + " " + failure);
        }

        @Override
        public void watchSynced(ObjectKind<?> kind, ObjectKey key, Duration took) {
            heard.add("synced " + key);
        }
    }

    private static void tellAll(PodcacheMetrics metrics) {
        metrics.missed(ObjectKind.SECRET, DB, "CACHE");
        metrics.staleServed(ObjectKind.SECRET, DB, "WATCH");
        metrics.fetched(ObjectKind.SECRET, DB, "expired", null, Duration.ZERO);
        metrics.fetched(ObjectKind.SECRET, DB, "absent", FailureReason.NOT_FOUND, Duration.ZERO);
        metrics.watchFailed(ObjectKind.SECRET, DB, FailureReason.FORBIDDEN);
        metrics.watchSynced(ObjectKind.SECRET, DB, Duration.ZERO);
    }

    private static void requireCounted(CountedEvents events) {
        assertThat(events.misses()).isEqualTo(1);
        assertThat(events.stale()).isEqualTo(1);
        assertThat(events.answered()).isEqualTo(1);
        assertThat(events.fetchFailures())
                .hasSameSizeAs(FailureReason.values())
                .containsEntry(FailureReason.NOT_FOUND, 1L)
                .containsEntry(FailureReason.FORBIDDEN, 0L);
        assertThat(events.watchFailures()).containsEntry(FailureReason.FORBIDDEN, 1L);
    }

    @Test
    void events_areCountedAndForwarded() {
        CountedEvents events = new CountedEvents(new Hearing());
        tellAll(events);

        requireCounted(events);
        assertThat(heard)
                .containsExactly(
                        "missed shop/db CACHE",
                        "stale shop/db WATCH",
                        "fetched shop/db expired null",
                        "fetched shop/db absent NOT_FOUND",
                        "watch failed shop/db FORBIDDEN",
                        "synced shop/db");
    }

    @Test
    @ExpectedWarnings("threw; its further exceptions are logged at DEBUG")
    void listenerThatThrows_isCaught_andEverythingIsCounted() {
        CountedEvents events = new CountedEvents(new PodcacheMetrics() {
            @Override
            public void missed(ObjectKind<?> kind, ObjectKey key, String strategy) {
                throw new IllegalStateException("by the listener");
            }

            @Override
            public void watchFailed(ObjectKind<?> kind, ObjectKey key, FailureReason failure) {
                throw new NoSuchMethodError("counter");
            }
        });
        tellAll(events);

        requireCounted(events);
    }

    @Test
    void of_whatCountsAlready_isTheSame() {
        CountedEvents events = new CountedEvents(PodcacheMetrics.NONE);

        assertThat(CountedEvents.of(events)).isSameAs(events);
    }
}
