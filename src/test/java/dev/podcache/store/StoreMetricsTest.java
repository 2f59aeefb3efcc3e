package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.HeldRequests;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.Assertions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What a listener receives, event by event. */
@ExtendWith(NoLeaks.class)
class StoreMetricsTest {

    private final List<String> reported = new ArrayList<>();
    private final TtlFixture f = TtlFixture.reportingTo(new MetricsRecorder());

    private final class MetricsRecorder implements PodcacheMetrics {
        @Override
        public void missed(ObjectKind<?> kind, ObjectKey key, String strategy) {
            reported.add("missed " + kind + " " + key + " " + strategy);
        }

        @Override
        public void staleServed(ObjectKind<?> kind, ObjectKey key, String strategy) {
            reported.add("stale " + kind + " " + key + " " + strategy);
        }

        @Override
        public void fetched(
                ObjectKind<?> kind, ObjectKey key, String why, @Nullable FailureReason failure, Duration took) {
            reported.add("fetched " + key + " " + why + " " + (failure == null ? "ok" : failure));
        }
    }

    @AfterEach
    void close() {
        f.close();
    }

    @Test
    void firstRead_tellsMissAndFetch_andAHitTellsNothing() {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        f.get();
        f.get();

        assertThat(reported).containsExactly("missed Secret default/db CACHE", "fetched default/db first read ok");
    }

    @Test
    void refreshFails_tellsWhyAndThatStaleWasServed() {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        f.get();
        f.timekeeper.advance(Duration.ofSeconds(60));
        reported.clear();
        f.failNext(1, FailureReason.FORBIDDEN, 403, null);
        f.get();

        assertThat(reported)
                .containsExactly(
                        "missed Secret default/db CACHE",
                        "fetched default/db expired FORBIDDEN",
                        "stale Secret default/db CACHE");
    }

    @Test
    void absence_isReported() {
        f.store.addReference(DB, POD);
        Assertions.assertThatThrownBy(f::get).isInstanceOf(NotFound.class);

        assertThat(reported)
                .containsExactly("missed Secret default/db CACHE", "fetched default/db first read NOT_FOUND");
    }

    @Test
    void absenceThatCannotBeChecked_isNotServedAsStale() {
        f.store.addReference(DB, POD);
        Assertions.assertThatThrownBy(f::get).isInstanceOf(NotFound.class);
        reported.clear();
        f.failNext(1, FailureReason.FORBIDDEN, 403, null);
        Assertions.assertThatThrownBy(f::get).isInstanceOf(NotFound.class);

        assertThat(reported).containsExactly("missed Secret default/db CACHE", "fetched default/db absent FORBIDDEN");
    }

    @Test
    void answersThatSayWhatIsKnown_areNoChange() {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        f.get();
        f.timekeeper.advance(Duration.ofSeconds(60));
        f.get();
        assertThat(f.store.changes()).isEqualTo(new ChangeCounts(1, 0));

        f.delete(DB);
        f.timekeeper.advance(Duration.ofSeconds(60));
        Assertions.assertThatThrownBy(f::get).isInstanceOf(NotFound.class);
        assertThat(f.store.changes()).isEqualTo(new ChangeCounts(1, 0));

        f.create(DB, "v2");
        f.get();
        assertThat(f.store.changes()).isEqualTo(new ChangeCounts(2, 0));
    }

    @Test
    @ExpectedWarnings("failed; retrying")
    void watchThatComesBack_isNoChange() {
        try (WatchFixture watched = new WatchFixture()) {
            watched.create(DB, "v1");
            watched.store.addReference(DB, POD);
            watched.fail(Verb.WATCH, 1, FailureReason.UNAVAILABLE, 503);
            watched.server.faults().resetWatches(RequestPattern.any());
            watched.timekeeper.advance(Duration.ofSeconds(1));

            assertThat(watched.store.changes()).isEqualTo(new ChangeCounts(1, 0));
        }
    }

    @Test
    @ExpectedWarnings("failed; retrying")
    void getsOfABrokenWatch_areServedStaleAndNoMisses() {
        List<String> counted = new ArrayList<>();
        try (WatchFixture watched = new WatchFixture(new ManualTimekeeper(), new PodcacheMetrics() {
            @Override
            public void staleServed(ObjectKind<?> kind, ObjectKey key, String strategy) {
                counted.add("stale");
            }

            @Override
            public void missed(ObjectKind<?> kind, ObjectKey key, String strategy) {
                counted.add("missed");
            }
        })) {
            watched.create(DB, "v1");
            watched.store.addReference(DB, POD);
            watched.get();
            watched.server.resetWatches();
            watched.get();
            watched.get();
            // resumed, not confirmed yet, and then confirmed
            watched.timekeeper.advance(Duration.ofSeconds(3));
            watched.get();

            assertThat(counted).containsExactly("stale", "stale");
        }
    }

    @Test
    void absenceThatEndsAWait_isNotServedAsStale() throws Exception {
        List<String> stale = new ArrayList<>();
        try (WatchFixture watched = new WatchFixture(new ManualTimekeeper(), new PodcacheMetrics() {
            @Override
            public void staleServed(ObjectKind<?> kind, ObjectKey key, String strategy) {
                stale.add(strategy);
            }
        })) {
            watched.store.addReference(DB, POD);
            Assertions.assertThatThrownBy(watched::get).isInstanceOf(NotFound.class);
            watched.timekeeper.advance(Duration.ofSeconds(90));
            HeldRequests held =
                    watched.server.faults().hold(RequestPattern.any().verb(Verb.LIST));
            CompletableFuture<String> get = watched.getBehind();
            watched.timekeeper.awaitWaiters(1);
            watched.timekeeper.advance(Duration.ofSeconds(1));

            assertThat(TtlFixture.failureOf(get)).isInstanceOf(NotFound.class);
            assertThat(stale).isEmpty();
            held.release();
        }
    }

    @Test
    @ExpectedWarnings("threw; its further exceptions are logged at DEBUG")
    void throwingListener_isLoggedOnceAndHurtsNobody() {
        try (TtlFixture throwing = TtlFixture.reportingTo(new PodcacheMetrics() {
            @Override
            public void missed(ObjectKind<?> kind, ObjectKey key, String strategy) {
                throw new IllegalStateException("by the listener");
            }

            @Override
            public void fetched(
                    ObjectKind<?> kind, ObjectKey key, String why, @Nullable FailureReason failure, Duration took) {
                throw new IllegalStateException("by the listener");
            }
        })) {
            throwing.create(DB, "v1");
            throwing.store.addReference(DB, POD);

            assertThat(throwing.get()).isEqualTo("v1");
        }
    }

    /** As one does that was compiled against another version of its library. */
    @Test
    @ExpectedWarnings({"threw; its further exceptions are logged at DEBUG", "failed; retrying"})
    void listenerThrowingAnError_doesNotEndTheWatch() {
        try (WatchFixture watched = new WatchFixture(new ManualTimekeeper(), new PodcacheMetrics() {
            @Override
            public void watchFailed(ObjectKind<?> kind, ObjectKey key, FailureReason failure) {
                throw new NoSuchMethodError("counter");
            }
        })) {
            watched.create(DB, "v1");
            watched.store.addReference(DB, POD);
            watched.fail(Verb.WATCH, 1, FailureReason.UNAVAILABLE, 503);
            watched.server.faults().resetWatches(RequestPattern.any());
            watched.timekeeper.advance(Duration.ofSeconds(1));
            watched.update(DB, "v2");

            assertThat(watched.get()).isEqualTo("v2");
        }
    }
}
