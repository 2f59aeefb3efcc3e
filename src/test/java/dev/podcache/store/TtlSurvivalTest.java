package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.POD;
import static dev.podcache.store.TtlFixture.broughtBy;
import static dev.podcache.store.TtlFixture.failureOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Strategy CACHE on a getter that does what no getter should. */
@ExtendWith(NoLeaks.class)
class TtlSurvivalTest {

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final TtlFixture f = new TtlFixture(timekeeper, StoreOptions.defaults(timekeeper), this::between);
    private int throwing;
    private boolean restored;
    private @Nullable Throwable failing;

    private ObjectGetter<Secret> between(ObjectGetter<Secret> real) {
        return (key, freshness, timeout) -> {
            if (throwing > 0) {
                throwing--;
                throw new OutOfMemoryError("unable to create native thread");
            }
            if (failing != null) {
                return CompletableFuture.failedFuture(failing);
            }
            return real.get(key, freshness, timeout).thenApply(this::afterRestoring);
        };
    }

    /** What a server that was restored from a backup says: another object under a version that it gave out before. */
    private Fetched<Secret> afterRestoring(Fetched<Secret> fetched) {
        Secret other = new SecretBuilder(fetched.object())
                .editMetadata()
                .withUid("restored")
                .endMetadata()
                .build();
        return restored ? new Fetched<>(other, fetched.resourceVersion(), fetched.encodedBytes()) : fetched;
    }

    @AfterEach
    void close() {
        f.close();
    }

    @Test
    void firstRead_getterThrows_isRepeatedWithinTheReadTimeout() throws Exception {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        throwing = 1;
        CompletableFuture<String> get = f.getBehind();
        timekeeper.awaitWaiters(1);
        timekeeper.advance(Duration.ofSeconds(1));

        assertThat(broughtBy(get)).isEqualTo("v1");
    }

    @Test
    void firstRead_getterAlwaysThrows_failsInTimeAndTheNextGetAsksAgain() throws Exception {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        throwing = Integer.MAX_VALUE;
        CompletableFuture<String> get = f.getBehind();
        timekeeper.awaitWaiters(1);
        timekeeper.advance(Duration.ofSeconds(10));
        assertThat(failureOf(get)).isInstanceOf(FetchFailed.class).hasRootCauseInstanceOf(OutOfMemoryError.class);

        throwing = 0;
        assertThat(f.get()).isEqualTo("v1");
    }

    @Test
    void refresh_getterThrows_servesWhatIsKnownAndRefreshesLater() {
        f.seen("v1");
        f.update(DB, "v2");
        timekeeper.advance(Duration.ofSeconds(60));
        throwing = 1;
        assertThat(f.get()).isEqualTo("v1");

        timekeeper.advance(Duration.ofSeconds(2));
        f.get();

        assertThat(f.get()).isEqualTo("v2");
    }

    @Test
    void refresh_getterFailsWithAnythingElse_isAFailureLikeAnother() {
        f.seen("v1");
        timekeeper.advance(Duration.ofSeconds(60));
        failing = new IllegalStateException("a bug");

        assertThat(f.get()).isEqualTo("v1");
        assertThat(f.store.state(DB).lastFailure())
                .hasMessageContaining("the adapter failed unexpectedly")
                .hasCause(failing);
    }

    @Test
    void freshness_ttlSourceThrewOnce_isStillCounted() {
        FailingTtl ttl = new FailingTtl();
        f.create(DB, "v1");
        try (TtlObjectStore<Secret> store = new TtlObjectStore<>(
                ObjectKind.SECRET, f.server.getter(ObjectKind.SECRET), ttl, StoreOptions.defaults(timekeeper))) {
            store.addReference(DB, POD);
            assertThat(Secrets.value(store.get("default", "db"))).isEqualTo("v1");
            ttl.fails = true;
            assertThatThrownBy(() -> timekeeper.advance(TtlFixture.TICK)).hasMessage("by the TTL source");
            ttl.fails = false;
            f.update(DB, "v2");
            timekeeper.advance(Duration.ofSeconds(60));

            assertThat(Secrets.value(store.get("default", "db"))).isEqualTo("v2");
        }
    }

    /** A minute, unless it fails. */
    private static final class FailingTtl implements ObjectTtlSource {

        private boolean fails;

        @Override
        public long ttlNanos() {
            if (fails) {
                throw new IllegalStateException("by the TTL source");
            }
            return Duration.ofMinutes(1).toNanos();
        }

        @Override
        public String origin() {
            return "set by the test";
        }
    }

    @Test
    void refresh_sameVersionOfAnotherObject_isTheOther() {
        f.seen("v1");
        restored = true;
        timekeeper.advance(Duration.ofSeconds(60));

        assertThat(f.store.get("default", "db").getMetadata().getUid()).isEqualTo("restored");
    }
}
