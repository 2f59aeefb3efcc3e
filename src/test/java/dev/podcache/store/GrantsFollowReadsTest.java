package dev.podcache.store;

import static dev.podcache.store.TtlFixture.DB;
import static dev.podcache.store.TtlFixture.OTHER_POD;
import static dev.podcache.store.TtlFixture.POD;
import static dev.podcache.store.TtlFixture.broughtBy;
import static dev.podcache.store.TtlFixture.failureOf;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Strategies CACHE and GET where access follows references: only gets ask. */
@ExtendWith(NoLeaks.class)
class GrantsFollowReadsTest {

    private static final Duration FIRST_SYNC = Duration.ofSeconds(1);

    private final ManualTimekeeper time = new ManualTimekeeper();
    private final StoreOptions options = StoreOptions.defaults(time).earlyRefusals(EarlyRefusals.ofGrants(FIRST_SYNC));
    private final TtlFixture f = new TtlFixture(time, options);

    @AfterEach
    void close() {
        f.store.deleteReference(DB, POD);
        f.store.deleteReference(DB, OTHER_POD);
        f.close();
    }

    private void refuse() {
        f.failNext(Integer.MAX_VALUE, FailureReason.FORBIDDEN, 403, null);
    }

    /** Begins a get, and returns after its first request. */
    private CompletableFuture<Secret> begun() {
        int before = f.server.gets(DB);
        CompletableFuture<Secret> get = f.store.getAsync(DB.namespace(), DB.name());
        assertThat(f.server.gets(DB)).isEqualTo(before + 1);
        return get;
    }

    private CacheState shown() {
        return f.store.state(DB).cacheState();
    }

    private static CompletableFuture<String> value(CompletableFuture<Secret> get) {
        return get.thenApply(Secrets::value);
    }

    @Test
    void get_waitsForAccess_andTheStateSaysSo() {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        refuse();
        CompletableFuture<Secret> get = begun();
        assertThat(shown()).isEqualTo(CacheState.WAITING_FOR_ACCESS);
        assertThat(f.store.state(DB).lastFailure()).hasMessageContaining("403");
        time.advance(Duration.ofMillis(700));
        f.requireGets(4);
        f.server.clearFailures();
        time.advance(Duration.ofMillis(50));

        assertThat(broughtBy(value(get))).isEqualTo("v1");
        assertThat(shown()).isEqualTo(CacheState.FRESH);
    }

    @Test
    void get_waitsNoLongerThanTheFirstSyncTimeout_andTheNextOneWaitsAgain() {
        f.create(DB, "v1");
        f.store.addReference(DB, POD);
        refuse();
        CompletableFuture<Secret> first = begun();
        time.advance(FIRST_SYNC);
        assertThat(failureOf(value(first)))
                .isInstanceOfSatisfying(
                        FetchFailed.class, e -> assertThat(e.reason()).isEqualTo(FailureReason.FORBIDDEN));
        assertThat(shown()).isEqualTo(CacheState.WAITING_FOR_ACCESS);
        time.advance(Duration.ofSeconds(3));
        CompletableFuture<Secret> second = begun();
        time.advance(Duration.ofMillis(100));
        f.server.clearFailures();
        time.advance(Duration.ofMillis(50));

        assertThat(broughtBy(value(second))).isEqualTo("v1");
    }

    @Test
    void get_afterTheWindow_asksOnce() {
        f.store.addReference(DB, POD);
        refuse();
        CompletableFuture<Secret> unused = begun();
        time.advance(FIRST_SYNC.plusSeconds(5));
        assertThat(shown()).isEqualTo(CacheState.FORBIDDEN);

        assertThat(failureOf(value(begun()))).isInstanceOf(FetchFailed.class);
        assertThat(shown()).isEqualTo(CacheState.FORBIDDEN);
    }

    @Test
    void anotherReference_isNewAgain() {
        f.store.addReference(DB, POD);
        refuse();
        CompletableFuture<Secret> unused = begun();
        time.advance(Duration.ofMinutes(1));
        f.store.addReference(DB, OTHER_POD);
        CompletableFuture<Secret> get = begun();

        assertThat(get).isNotDone();
        assertThat(shown()).isEqualTo(CacheState.WAITING_FOR_ACCESS);
        time.advance(FIRST_SYNC);
        assertThat(get).isCompletedExceptionally();
    }

    @Test
    void revoked_servesWhatIsKnown() {
        f.seen("v1");
        refuse();
        time.advance(Duration.ofMinutes(2));

        assertThat(f.get()).isEqualTo("v1");
        assertThat(shown()).isEqualTo(CacheState.STALE);
    }

    @Test
    void direct_eachGetWaitsForTheFirstSyncTimeout() {
        f.create(DB, "v1");
        refuse();
        try (DirectObjectStore<Secret> direct =
                new DirectObjectStore<>(ObjectKind.SECRET, f.server.getter(ObjectKind.SECRET), options)) {
            CompletableFuture<Secret> refused = direct.getAsync(DB.namespace(), DB.name());
            time.advance(FIRST_SYNC);
            assertThat(failureOf(value(refused))).isInstanceOf(FetchFailed.class);
            CompletableFuture<Secret> granted = direct.getAsync(DB.namespace(), DB.name());
            time.advance(Duration.ofMillis(700));
            f.server.clearFailures();
            time.advance(Duration.ofMillis(50));

            assertThat(broughtBy(value(granted))).isEqualTo("v1");
        }
    }
}
