package dev.podcache.manager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.metrics.CountedEvents;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.PodKey;
import dev.podcache.object.Referrer;
import dev.podcache.store.PayloadBudget;
import dev.podcache.store.Store;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.store.WatchObjectStore;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class CacheStatsTest {

    private static final ObjectRef DB = ObjectRef.of(ObjectKind.SECRET, "shop", "db");
    private static final ObjectRef MISSING = ObjectRef.of(ObjectKind.SECRET, "shop", "missing");
    private static final Referrer OWNER = PodKey.of("shop", "owner", "uid-owner");
    private static final Referrer OTHER = PodKey.of("shop", "other", "uid-other");

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final CountedEvents events = new CountedEvents(PodcacheMetrics.NONE);
    private final StoreOptions options =
            new StoreOptions(timekeeper, Duration.ofSeconds(10), PayloadBudget.ofBytes(100_000, timekeeper), events);

    private Managers managers(ChangeDetectionStrategy strategy, boolean countsHits) {
        return new Managers(
                new Managers.Stores() {
                    @Override
                    public <T extends HasMetadata> Store<T> storeOf(ObjectKind<T> kind) {
                        return strategy == ChangeDetectionStrategy.CACHE
                                ? new TtlObjectStore<>(kind, server.getter(kind), FixedTtl.ofSeconds(60), options)
                                : new WatchObjectStore<>(
                                        kind,
                                        key -> server.listerWatcher(
                                                kind, key.namespace(), "metadata.name=" + key.name()),
                                        server.getter(kind),
                                        options,
                                        WatchObjectStore.WatchTimes.DEFAULT);
                    }

                    @Override
                    public boolean countsReferences(ObjectKind<?> kind) {
                        return true;
                    }

                    @Override
                    public int connections() {
                        return 7;
                    }
                },
                events,
                countsHits,
                Set.of());
    }

    private static void get(Managers managers, ObjectRef object) {
        Throwable unused =
                catchThrowable(() -> managers.of(object.kind()).getObject(object.namespace(), object.name()));
    }

    @Test
    void stats_ofANewCache_isZero() {
        CacheStats stats = managers(ChangeDetectionStrategy.CACHE, true).stats();

        assertThat(stats.objects())
                .containsOnly(Map.entry(ObjectKind.SECRET, Map.of()), Map.entry(ObjectKind.CONFIG_MAP, Map.of()));
        assertThat(stats.size()).isZero();
        assertThat(stats.hits()).hasValue(0);
        assertThat(stats.misses()).isZero();
        assertThat(stats.connections()).isEqualTo(7);
        assertThat(stats.fetchesFailed()).doesNotContainKey(FailureReason.NOT_FOUND);
        assertThat(stats.fetchesFailed().values()).containsOnly(0L);
        assertThat(stats.watchFailures().values()).containsOnly(0L);
    }

    @Test
    void stats_underCache_countsWhatIsHeldAndWhatHappened() {
        server.cluster().create(Secrets.of("shop", "db", "v1"));
        Managers managers = managers(ChangeDetectionStrategy.CACHE, true);
        managers.register(OWNER, Set.of(DB, MISSING));
        managers.register(OTHER, Set.of(DB));
        get(managers, DB);
        get(managers, DB);
        get(managers, DB);
        get(managers, MISSING);

        CacheStats stats = managers.stats();

        assertThat(stats.objects(ObjectKind.SECRET, CacheState.FRESH)).isEqualTo(1);
        assertThat(stats.objects(ObjectKind.SECRET, CacheState.ABSENT)).isEqualTo(1);
        assertThat(stats.objects(ObjectKind.SECRET, CacheState.STALE)).isZero();
        assertThat(stats.size()).isEqualTo(2);
        assertThat(stats.references()).isEqualTo(3);
        assertThat(stats.bytes()).isPositive();
        assertThat(stats.watches()).isZero();
        assertThat(stats.hits()).hasValue(2);
        assertThat(stats.misses()).isEqualTo(2);
        assertThat(stats.fetchesAnswered()).isEqualTo(1);
        assertThat(stats.fetchesNotFound()).isEqualTo(1);
        assertThat(stats.updates()).isEqualTo(1);
        assertThat(stats.evictions()).isZero();
        assertThat(stats.toString())
                .contains("references 3", "hits 2", "misses 2")
                .doesNotContain("v1", "shop");
    }

    @Test
    void stats_refreshFails_countsTheReasonAndTheStaleAnswer() {
        server.cluster().create(Secrets.of("shop", "db", "v1"));
        Managers managers = managers(ChangeDetectionStrategy.CACHE, true);
        managers.register(OWNER, Set.of(DB));
        get(managers, DB);
        timekeeper.advance(Duration.ofSeconds(61));
        server.failNext(1, new ApiServerException(FailureReason.FORBIDDEN, 403, null, "forbidden", null));
        get(managers, DB);

        CacheStats stats = managers.stats();

        assertThat(stats.objects(ObjectKind.SECRET, CacheState.STALE)).isEqualTo(1);
        assertThat(stats.fetchesFailed()).containsEntry(FailureReason.FORBIDDEN, 1L);
        assertThat(stats.stale()).isEqualTo(1);
        assertThat(stats.misses()).isEqualTo(2);
        assertThat(stats.hits()).hasValue(0);
    }

    @Test
    void stats_notRecorded_haveNoHits() {
        server.cluster().create(Secrets.of("shop", "db", "v1"));
        Managers managers = managers(ChangeDetectionStrategy.CACHE, false);
        managers.register(OWNER, Set.of(DB));
        get(managers, DB);
        get(managers, DB);

        assertThat(managers.stats().hits()).isEqualTo(OptionalLong.empty());
        assertThat(managers.stats().misses()).isEqualTo(1);
    }

    @Test
    void stats_payloadsBeyondTheBudget_countEvictions() {
        Managers managers = managers(ChangeDetectionStrategy.CACHE, false);
        server.cluster().create(Secrets.of("shop", "db", "x".repeat(200_000)));
        managers.register(OWNER, Set.of(DB));
        get(managers, DB);

        assertThat(managers.stats().evictions()).isEqualTo(1);
        assertThat(managers.stats().bytes()).isZero();
    }

    @Test
    @ExpectedWarnings("failed; retrying")
    void stats_underWatch_countsHitsStaleAnswersAndFailures() {
        server.cluster().create(Secrets.of("shop", "db", "v1"));
        Managers managers = managers(ChangeDetectionStrategy.WATCH, true);
        managers.register(OWNER, Set.of(DB));
        get(managers, DB);
        get(managers, DB);
        server.cluster().update(Secrets.of("shop", "db", "v2"));
        assertThat(managers.stats().hits()).hasValue(2);
        assertThat(managers.stats().updates()).isEqualTo(2);

        server.resetWatches();
        get(managers, DB);

        CacheStats stats = managers.stats();
        assertThat(stats.hits()).hasValue(2);
        assertThat(stats.stale()).isEqualTo(1);
        assertThat(stats.misses()).isZero();
        assertThat(stats.watchFailures().values().stream()
                        .mapToLong(Long::longValue)
                        .sum())
                .isEqualTo(1);
        assertThat(stats.objects(ObjectKind.SECRET, CacheState.STALE)).isEqualTo(1);
        managers.unregister(OWNER);
        assertThat(managers.stats().size()).isZero();
    }
}
