package dev.podcache.store;

import static dev.podcache.store.StoreFixture.DB;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.Listed;
import dev.podcache.apiserver.ListerWatcher;
import dev.podcache.apiserver.WatchEvent;
import dev.podcache.apiserver.WatchHandle;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Watches that are closed because our credentials may not watch any more what they select. */
@ExtendWith(NoLeaks.class)
class RevokedWatchTest {

    private static final ObjectKey CERT = ObjectKey.of("default", "cert");
    private final ApiServerException revoked =
            new ApiServerException(FailureReason.FORBIDDEN, 403, null, "WATCH: access was revoked", null);

    @Test
    @ExpectedWarnings("failed; retrying")
    void revoked_isClosedAndServedAsStale_untilItIsAllowedAgain() {
        try (WatchFixture f = new WatchFixture()) {
            f.live("v1");
            assertThat(f.store.watched()).containsExactly(DB);
            f.server.failNext(1000, revoked);

            f.store.revoked(DB, revoked);

            assertThat(f.server.openWatches()).isZero();
            assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FORBIDDEN);
            assertThat(f.get()).isEqualTo("v1");
            f.server.clearFailures();
            f.timekeeper.advance(Duration.ofSeconds(40));
            assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
        }
    }

    @Test
    void notReferenced_hasNoWatchToClose() {
        try (WatchFixture f = new WatchFixture()) {
            f.store.revoked(DB, revoked);
            f.store.revoked(ObjectKey.of("default", ""), revoked);

            assertThat(f.store.watched()).isEmpty();
        }
    }

    @Test
    @ExpectedWarnings("is watched by name instead")
    void namespaceRevoked_itsObjectsAreWatchedByName() {
        try (WatchFixture f = WatchFixture.ofNamespaces(new ManualTimekeeper())) {
            f.live("v1");
            f.create(CERT, "c1");
            f.store.addReference(CERT, POD);
            assertThat(f.get(CERT)).isEqualTo("c1");
            assertThat(f.store.watched()).containsExactly(ObjectKey.of("default", ""));

            f.store.revoked(ObjectKey.of("default", ""), revoked);

            assertThat(f.store.watched()).containsExactlyInAnyOrder(DB, CERT);
            assertThat(f.get()).isEqualTo("v1");
            f.update(DB, "v2");
            assertThat(f.get()).isEqualTo("v2");
            assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
        }
    }

    /** A port must not throw. If it does all the same, no object may be left without a watch. */
    @Test
    @ExpectedWarnings({"is watched by name instead", "closing the watch of a namespace failed"})
    void namespaceRevoked_closeOfItsWatchThrows_itsObjectsAreWatchedByNameAllTheSame() {
        AtomicInteger toThrow = new AtomicInteger();
        try (WatchFixture f =
                WatchFixture.ofNamespaces(new ManualTimekeeper(), (key, server) -> new Closing(server, toThrow))) {
            f.live("v1");
            toThrow.set(1);

            f.store.revoked(ObjectKey.of("default", ""), revoked);

            assertThat(toThrow.get()).isZero();
            f.update(DB, "v2");
            assertThat(f.get()).isEqualTo("v2");
            assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
        }
    }

    /** Closes the next watches and then throws, as often as requested. */
    private record Closing(ListerWatcher<Secret> server, AtomicInteger toThrow) implements ListerWatcher<Secret> {

        @Override
        public CompletableFuture<Listed<Secret>> list(Duration timeout) {
            return server.list(timeout);
        }

        @Override
        public WatchHandle watch(String version, Duration length, Consumer<WatchEvent<Secret>> events) {
            WatchHandle watch = server.watch(version, length, events);
            return () -> {
                watch.close();
                if (toThrow.get() > 0) {
                    toThrow.decrementAndGet();
                    throw new IllegalStateException("thrown by the test");
                }
            };
        }
    }

    @Test
    @ExpectedWarnings("is watched by name instead")
    void namespaceRevoked_andItsObjectsToo_isForbiddenAndServedAsStale_untilItIsAllowedAgain() {
        try (WatchFixture f = WatchFixture.ofNamespaces(new ManualTimekeeper())) {
            f.live("v1");
            f.server.failNext(1000, revoked);

            f.store.revoked(ObjectKey.of("default", ""), revoked);

            assertThat(f.server.openWatches()).isZero();
            assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FORBIDDEN);
            assertThat(f.store.state(DB).freshness())
                    .isEqualTo("access was revoked, so the watch of its namespace was closed; asked again by name after"
                            + " growing pauses");
            assertThat(f.get()).isEqualTo("v1");
            f.server.clearFailures();
            f.timekeeper.advance(Duration.ofSeconds(40));
            assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
            assertThat(f.store.state(DB).freshness()).doesNotContain("revoked");
        }
    }

    @Test
    @ExpectedWarnings("is watched by name instead")
    void namespaceRevoked_andTheServerDoesNotAnswer_isStaleAndNotForbidden() {
        try (WatchFixture f = WatchFixture.ofNamespaces(new ManualTimekeeper())) {
            f.live("v1");
            f.server.failNext(
                    1000, new ApiServerException(FailureReason.UNAVAILABLE, 503, null, "LIST: not available", null));

            f.store.revoked(ObjectKey.of("default", ""), revoked);

            assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.STALE);
            assertThat(f.get()).isEqualTo("v1");
        }
    }
}
