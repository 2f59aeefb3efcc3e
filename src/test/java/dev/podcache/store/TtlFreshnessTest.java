package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.embedded.HeldRequests;
import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.ForwardingTimekeeper;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How strategy CACHE measures the age of an answer. */
@ExtendWith(NoLeaks.class)
class TtlFreshnessTest {

    private final TtlFixture f = new TtlFixture();
    private final TtlBetween between = new TtlBetween();

    @AfterEach
    void close() {
        f.close();
    }

    /** It is measured once in a tenth of a second, from the first reference on. */
    @Test
    void freshness_ofAnAnswerBetweenTwoTicks_endsWithTheFirstTickAfterTheTtl() {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        f.timekeeper.advance(Duration.ofMillis(42));
        f.get();
        f.timekeeper.advance(Duration.ofSeconds(60).minusNanos(1));
        assertThat(f.store.state(DB).cacheState()).isEqualTo(CacheState.FRESH);
        f.get();
        f.requireGets(1);

        f.timekeeper.advance(TtlFixture.TICK.minusMillis(42).plusNanos(1));
        f.get();
        f.requireGets(2);
    }

    @Test
    void freshness_isMeasuredByOneTimer_whileAnythingIsReferenced() {
        f.timekeeper.advance(Duration.ofMinutes(5));
        assertThat(f.timekeeper.scheduledTasks()).as("not used yet").isZero();
        ObjectKey other = ObjectKey.of("default", "other");
        f.seen("v1");
        f.store.addReference(DB, OTHER_POD);
        f.store.addReference(other, POD);
        f.timekeeper.advance(Duration.ofSeconds(1));
        assertThat(f.timekeeper.scheduledTasks()).isEqualTo(1);

        f.store.deleteReference(other, POD);
        f.get();
        int before = f.server.gets(DB);
        f.timekeeper.advance(Duration.ofSeconds(60));
        f.get();
        f.requireGets(before + 1);
        f.store.deleteReference(DB, POD);
        f.store.deleteReference(DB, OTHER_POD);
        f.requireNothingHeld();
    }

    /** A clock of nanoseconds begins anywhere, and may pass the largest number. */
    @ParameterizedTest
    @ValueSource(longs = {Long.MAX_VALUE - 30_000_000_000L, Long.MIN_VALUE, -1, Long.MAX_VALUE / 2})
    void freshness_whateverTheClockShows(long origin) {
        ManualTimekeeper time = new ManualTimekeeper();
        Timekeeper shifted = new ForwardingTimekeeper(time) {
            @Override
            public long nanoTime() {
                return origin + super.nanoTime();
            }
        };
        f.create(DB, "v1");
        FixedTtl ttl = FixedTtl.ofSeconds(60);
        try (TtlObjectStore<Secret> store = new TtlObjectStore<>(
                ObjectKind.SECRET, f.server.getter(ObjectKind.SECRET), ttl, StoreOptions.defaults(shifted))) {
            store.addReference(DB, POD);
            store.get(DB);
            time.advance(Duration.ofSeconds(60).minusNanos(1));
            store.get(DB);
            f.requireGets(1);
            time.advance(Duration.ofNanos(1));
            store.get(DB);
            f.requireGets(2);

            ttl.set(Duration.ofNanos(Long.MAX_VALUE));
            time.advance(Duration.ofMinutes(10));
            store.get(DB);
            f.requireGets(2);

            ttl.set(Duration.ZERO);
            time.advance(TtlFixture.TICK);
            store.get(DB);
            store.get(DB);
            f.requireGets(4);
        }
    }

    /** The age is that of the answer at the moment of the call, though a get may bring a younger one meanwhile. */
    @Test
    void state_whileAnAnswerComes_hasNoNegativeAge() {
        f.create(DB, "v1");
        TtlObjectStore<Secret> store = new TtlObjectStore<>(
                ObjectKind.SECRET, f.server.getter(ObjectKind.SECRET), between, StoreOptions.defaults(f.timekeeper));
        store.addReference(DB, POD);
        between.calls = 2;
        between.then = () -> {
            f.timekeeper.advance(Duration.ofMillis(1));
            store.get(DB);
        };

        assertThat(store.state(DB).age()).isEqualTo(Duration.ZERO);
        assertThat(between.calls).as("calls that were not made").isZero();
        store.close();
    }

    @Test
    void ttlZero_answerThatComesWhileAGetLooks_doesNotCountForIt() {
        f.create(DB, "v1");
        TtlObjectStore<Secret> store = new TtlObjectStore<>(
                ObjectKind.SECRET, f.server.getter(ObjectKind.SECRET), between, StoreOptions.defaults(f.timekeeper));
        between.ttl = Duration.ZERO;
        store.addReference(DB, POD);
        HeldRequests held = f.server.holdNext(DB);
        CompletableFuture<Secret> before = store.getAsync(DB.namespace(), DB.name());
        f.update(DB, "v2");
        between.calls = 2;
        between.then = () -> {
            f.timekeeper.advance(Duration.ofMillis(1));
            held.release();
        };

        assertThat(Secrets.value(store.get(DB))).isEqualTo("v2");
        assertThat(between.calls).as("calls that were not made").isZero();
        assertThat(before)
                .isCompletedWithValueMatching(secret -> Secrets.value(secret).equals("v1"));
        store.close();
    }

    /** A TTL that does something when it is asked for the last of so many times. */
    private static final class TtlBetween implements ObjectTtlSource {

        private Duration ttl = Duration.ofMinutes(1);
        private int calls;
        private Runnable then = () -> {};

        @Override
        public long ttlNanos() {
            if (calls > 0) {
                calls--;
                if (calls == 0) {
                    then.run();
                }
            }
            return ttl.toNanos();
        }

        @Override
        public String origin() {
            return "set by the test";
        }
    }
}
