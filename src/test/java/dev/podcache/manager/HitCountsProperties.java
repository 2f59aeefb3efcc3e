package dev.podcache.manager;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.metrics.CountedEvents;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.PodKey;
import dev.podcache.object.Referrer;
import dev.podcache.store.PayloadBudget;
import dev.podcache.store.Store;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** Every get is a hit or a miss, whatever else is done, and counts once. */
class HitCountsProperties {

    private static final Referrer OWNER = PodKey.of("shop", "owner", "uid-owner");

    /** What may happen between two looks at the counts. */
    enum Step {
        GET_A,
        GET_B,
        GET_MISSING,
        GET_UNREGISTERED,
        REGISTER_BOTH,
        REGISTER_A,
        UPDATE_A,
        MINUTE_PASSES;

        boolean isGet() {
            return name().startsWith("GET");
        }
    }

    @Property(tries = 200)
    void gets_areHitsOrMisses(@ForAll @Size(max = 40) List<Step> steps) {
        CountedGets cache = new CountedGets();
        long gets = 0;
        for (Step step : steps) {
            CacheStats before = cache.managers.stats();
            cache.perform(step);
            gets += step.isGet() ? 1 : 0;
            CacheStats after = cache.managers.stats();
            assertThat(after.hits().orElseThrow())
                    .isGreaterThanOrEqualTo(before.hits().orElseThrow());
            assertThat(after.hits().orElseThrow() + after.misses())
                    .as("after %s", step)
                    .isEqualTo(gets);
        }
    }

    /** None is lost when all threads count at once. */
    @Test
    void gets_ofManyThreads_areAllCounted() throws InterruptedException {
        CountedGets cache = new CountedGets();
        cache.perform(Step.REGISTER_BOTH);
        cache.perform(Step.GET_A);
        ExecutorService threads = Executors.newFixedThreadPool(4);
        for (int i = 0; i < 4; i++) {
            threads.execute(() -> {
                for (int j = 0; j < 10_000; j++) {
                    cache.perform(Step.GET_A);
                }
            });
        }
        threads.shutdown();
        assertThat(threads.awaitTermination(1, TimeUnit.MINUTES)).isTrue();

        assertThat(cache.managers.stats().hits()).hasValue(40_000);
        assertThat(cache.managers.stats().misses()).isEqualTo(1);
    }

    /** A cache, and two objects at its API server. */
    private static final class CountedGets {

        private final ManualTimekeeper timekeeper = new ManualTimekeeper();
        private final FakeApiServer server = new FakeApiServer(timekeeper);
        private final CountedEvents events = new CountedEvents(PodcacheMetrics.NONE);
        private final StoreOptions options =
                new StoreOptions(timekeeper, Duration.ofSeconds(10), PayloadBudget.unlimited(timekeeper), events);
        private final Managers managers = new Managers(
                new Managers.Stores() {
                    @Override
                    public <T extends HasMetadata> Store<T> storeOf(ObjectKind<T> kind) {
                        return new TtlObjectStore<>(kind, server.getter(kind), FixedTtl.ofSeconds(60), options);
                    }

                    @Override
                    public boolean countsReferences(ObjectKind<?> kind) {
                        return true;
                    }
                },
                events,
                true,
                Set.of());

        CountedGets() {
            server.cluster().create(Secrets.of("shop", "a", "v1"));
            server.cluster().create(Secrets.of("shop", "b", "v1"));
        }

        void perform(Step step) {
            switch (step) {
                case GET_A -> get("a");
                case GET_B -> get("b");
                case GET_MISSING -> get("missing");
                case GET_UNREGISTERED -> get("unregistered");
                case REGISTER_BOTH -> register("a", "b", "missing");
                case REGISTER_A -> register("a");
                case UPDATE_A -> server.cluster().update(Secrets.of("shop", "a", "v2"));
                case MINUTE_PASSES -> timekeeper.advance(Duration.ofSeconds(61));
            }
        }

        private void get(String name) {
            try {
                assertThat(managers.of(ObjectKind.SECRET).getObject("shop", name))
                        .isNotNull();
            } catch (ObjectUnavailableException e) {
                assertThat(e.key()).isEqualTo(ObjectKey.of("shop", name));
            }
        }

        private void register(String... names) {
            Set<ObjectRef> objects = Arrays.stream(names)
                    .map(name -> ObjectRef.of(ObjectKind.SECRET, "shop", name))
                    .collect(Collectors.toUnmodifiableSet());
            managers.register(OWNER, objects);
        }
    }
}
