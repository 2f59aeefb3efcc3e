package dev.podcache.store;

import static dev.podcache.store.StoreFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.Verb;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Slow;
import io.fabric8.kubernetes.api.model.Secret;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * When a payload is forgotten it is gone: nothing of ours, and nothing that we gave away but the
 * payload itself, still leads to it.
 */
@Slow
@ExtendWith(NoLeaks.class)
class PayloadReachabilityTest {

    @BeforeEach
    void allowWarnings(NoLeaks noLeaks) {
        noLeaks.allowWarnings("failed; retrying");
    }

    @Test
    void cache_lastReferenceGone_payloadIsUnreachable() {
        unreachableWhenLastReferenceGone(new TtlFixture());
    }

    @Test
    void watch_lastReferenceGone_payloadIsUnreachable() {
        unreachableWhenLastReferenceGone(new WatchFixture());
    }

    private static void unreachableWhenLastReferenceGone(StoreFixture<?> f) {
        try (f) {
            WeakReference<Secret> payload = held(f);

            f.store.deleteReference(DB, POD);

            awaitCollected(payload);
        }
    }

    @Test
    void cache_objectDeleted_payloadIsUnreachable() {
        unreachableWhenObjectDeleted(new TtlFixture());
    }

    @Test
    void watch_objectDeleted_payloadIsUnreachable() {
        unreachableWhenObjectDeleted(new WatchFixture());
    }

    private static void unreachableWhenObjectDeleted(StoreFixture<?> f) {
        try (f) {
            WeakReference<Secret> payload = held(f);

            f.delete(DB);
            f.hear();
            Throwable notFound = catchThrowable(f::get);

            awaitCollected(payload);
            assertThat(notFound).isNotNull();
            f.store.deleteReference(DB, POD);
        }
    }

    @Test
    void cache_newerVersionFetched_olderPayloadIsUnreachable() {
        unreachableWhenNewerVersion(new TtlFixture());
    }

    @Test
    void watch_newerVersionSeen_olderPayloadIsUnreachable() {
        unreachableWhenNewerVersion(new WatchFixture());
    }

    private static void unreachableWhenNewerVersion(StoreFixture<?> f) {
        try (f) {
            WeakReference<Secret> payload = held(f);

            f.update(DB, "v2");
            f.hear();
            f.get();

            awaitCollected(payload);
            f.store.deleteReference(DB, POD);
        }
    }

    @Test
    void cache_closed_payloadIsUnreachable() {
        unreachableWhenClosed(new TtlFixture());
    }

    @Test
    void watch_closed_payloadIsUnreachable() {
        unreachableWhenClosed(new WatchFixture());
    }

    private static void unreachableWhenClosed(StoreFixture<?> f) {
        WeakReference<Secret> payload = held(f);

        f.close();

        awaitCollected(payload);
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.UNREAD);
    }

    @Test
    void cache_newEpoch_payloadIsUnreachable() {
        try (TtlFixture f = new TtlFixture()) {
            WeakReference<Secret> payload = held(f);

            f.store.addReference(DB, OTHER_POD);

            awaitCollected(payload);
            f.store.deleteReference(DB, POD);
            f.store.deleteReference(DB, OTHER_POD);
        }
    }

    @Test
    void cache_evictedByTheBudget_payloadIsUnreachable() {
        try (TtlFixture f = TtlFixture.boundedTo(1000)) {
            WeakReference<Secret> fits = held(f);
            // larger than the whole budget
            f.update(DB, "x".repeat(1000));
            f.hear();
            WeakReference<Secret> tooLarge = read(f.store, DB);

            awaitCollected(fits);
            awaitCollected(tooLarge);
            assertThat(f.store.state(DB).references()).isEqualTo(1);
            f.store.deleteReference(DB, POD);
            // the sweep notices that there is nothing left to sweep
            f.timekeeper.advance(Duration.ofSeconds(2));
        }
    }

    @Test
    void cache_whatUsersKeep_doesNotHoldThePayload() {
        RetainingMetrics reported = new RetainingMetrics();
        TtlFixture f = TtlFixture.reportingTo(reported);
        WeakReference<Secret> payload = held(f);
        List<@Nullable Object> kept = new ArrayList<>();
        f.timekeeper.advance(Duration.ofMinutes(2));
        f.failNext(1, FailureReason.FORBIDDEN, 403, null);
        f.get();
        kept.add(f.store.state(DB));
        kept.add(f.store.state(DB).lastFailure());
        f.delete(DB);
        f.timekeeper.advance(Duration.ofMinutes(2));
        // is served what is known, and asks again behind it
        f.get();
        kept.add(catchThrowable(f::get));
        f.store.deleteReference(DB, POD);
        kept.add(catchThrowable(f::get));
        f.close();

        awaitCollected(payload);
        assertThat(reported.arguments).isNotEmpty();
        assertThat(kept).doesNotContainNull();
    }

    @Test
    void watch_lastReferenceGoneWhileBroken_payloadIsUnreachable() {
        try (WatchFixture f = new WatchFixture()) {
            WeakReference<Secret> payload = held(f);
            f.fail(Verb.WATCH, 100, FailureReason.UNAVAILABLE, 503);
            f.server.faults().resetWatches(RequestPattern.any());

            f.store.deleteReference(DB, POD);

            awaitCollected(payload);
        }
    }

    @Test
    void watch_whatUsersKeep_doesNotHoldThePayload() {
        RetainingMetrics reported = new RetainingMetrics();
        WatchFixture f = new WatchFixture(new ManualTimekeeper(), reported);
        WeakReference<Secret> payload = held(f);
        List<@Nullable Object> kept = new ArrayList<>();
        f.fail(Verb.WATCH, 1, FailureReason.UNAVAILABLE, 503);
        f.server.faults().resetWatches(RequestPattern.any());
        kept.add(f.store.state(DB));
        f.timekeeper.advance(Duration.ofMinutes(2));
        f.delete(DB);
        kept.add(catchThrowable(f::get));
        f.store.deleteReference(DB, POD);
        kept.add(catchThrowable(f::get));
        f.close();

        awaitCollected(payload);
        assertThat(reported.arguments).isNotEmpty();
        assertThat(kept).doesNotContainNull();
    }

    /** A listener that keeps its arguments. */
    private static final class RetainingMetrics implements PodcacheMetrics {

        final List<Object> arguments = new ArrayList<>();

        @Override
        public void missed(ObjectKind<?> kind, ObjectKey key, String strategy) {
            arguments.addAll(List.of(kind, key, strategy));
        }

        @Override
        public void fetched(
                ObjectKind<?> kind, ObjectKey key, String why, @Nullable FailureReason failure, Duration took) {
            arguments.addAll(List.of(kind, key, why, took));
        }

        @Override
        public void watchSynced(ObjectKind<?> kind, ObjectKey key, Duration took) {
            arguments.addAll(List.of(kind, key, took));
        }
    }

    private static WeakReference<Secret> held(StoreFixture<?> f) {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        WeakReference<Secret> payload = read(f.store, DB);
        requireHeld(f.store, payload);
        return payload;
    }

    /** In a frame of its own, so that no variable of the test holds it. */
    private static WeakReference<Secret> read(Store<Secret> store, ObjectKey key) {
        return new WeakReference<>(store.get(key.namespace(), key.name()));
    }

    /** So that a test which finds the payload collected says something. */
    private static void requireHeld(Store<Secret> store, WeakReference<Secret> payload) {
        Secret held = store.get(DB.namespace(), DB.name());
        assertThat(held.getData()).containsKey("canary");
        assertThat(payload.refersTo(held))
                .as("the store returns the same object again")
                .isTrue();
    }

    /** Only the garbage collector can tell; it is asked until it does. */
    private static void awaitCollected(WeakReference<Secret> payload) {
        await().pollInterval(Duration.ofMillis(10)).until(() -> {
            System.gc();
            return payload.get() == null;
        });
    }
}
