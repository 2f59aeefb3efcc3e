package dev.podcache.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.Podcache;
import dev.podcache.PodcacheBuilder;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.ObjectUnavailableException;
import dev.podcache.object.PodKey;
import dev.podcache.object.Referrer;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.ServedCluster;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MockClock;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleConfig;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The meters of Podcache, beyond those that Micrometer's own kit tests. */
@ExtendWith(NoLeaks.class)
class PodcacheMeterBinderTest {

    private static final Referrer OWNER = PodKey.of("shop", "owner", "uid-owner");
    private static final ObjectRef DB = ObjectRef.of(ObjectKind.SECRET, "shop", "db");
    private static final ObjectRef MISSING = ObjectRef.of(ObjectKind.SECRET, "shop", "missing");

    private final ServedCluster served = new ServedCluster();
    private final InMemoryCluster cluster = served.cluster();
    private final MockClock clock = new MockClock();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry(SimpleConfig.DEFAULT, clock);

    @AfterEach
    void close() {
        registry.close();
        served.close();
    }

    private PodcacheBuilder builder(ChangeDetectionStrategy strategy) {
        return Podcache.builder(served.client()).strategy(strategy);
    }

    private void bind(Podcache cache) {
        new PodcacheMeterBinder(cache, "own", Tags.of("zone", "a")).bindTo(registry);
    }

    private double gauge(String name, String... tags) {
        return registry.get(name).tags(tags).gauge().value();
    }

    private double counter(String name, String... tags) {
        return registry.get(name).tags(tags).functionCounter().count();
    }

    @Test
    void objects_underCache_areCountedByKindAndState() {
        cluster.create(Secrets.of("shop", "db", "v1"));
        try (Podcache cache = builder(ChangeDetectionStrategy.CACHE).build()) {
            bind(cache);
            cache.register(OWNER, Set.of(DB, MISSING, ObjectRef.of(ObjectKind.CONFIG_MAP, "shop", "settings")));
            cache.secrets().getObject("shop", "db");
            assertThat(cache.secrets().findObject("shop", "missing")).isEmpty();
            clock.add(Duration.ofSeconds(1));

            assertThat(gauge("podcache.objects", "kind", "Secret", "state", "fresh"))
                    .isEqualTo(1);
            assertThat(gauge("podcache.objects", "kind", "Secret", "state", "absent"))
                    .isEqualTo(1);
            assertThat(gauge("podcache.objects", "kind", "ConfigMap", "state", "unread"))
                    .isEqualTo(1);
            assertThat(gauge("podcache.references")).isEqualTo(3);
            assertThat(gauge("podcache.bytes")).isGreaterThan(50);
            assertThat(gauge("podcache.watches")).isZero();
            assertThat(gauge("podcache.connections")).isEqualTo(1);
            assertThat(counter("podcache.fetches", "outcome", "answered")).isEqualTo(1);
            assertThat(counter("podcache.fetches", "outcome", "not_found")).isEqualTo(1);
            assertThat(counter("podcache.fetches", "outcome", "forbidden")).isZero();
            assertThat(counter("cache.gets", "result", "miss")).isEqualTo(2);
            assertThat(gauge("cache.size", "cache", "own", "zone", "a")).isEqualTo(3);
        }
    }

    @Test
    void watches_underWatch_areCounted() {
        cluster.create(Secrets.of("shop", "db", "v1"));
        try (Podcache cache = builder(ChangeDetectionStrategy.WATCH).build()) {
            bind(cache);
            cache.register(OWNER, Set.of(DB, MISSING));
            cache.secrets().getObject("shop", "db");
            Patience.await().until(() -> served.server().openWatches() == 2);
            clock.add(Duration.ofSeconds(1));

            assertThat(gauge("podcache.watches")).isEqualTo(2);
            assertThat(counter("podcache.watch.failures", "outcome", "forbidden"))
                    .isZero();
        }
    }

    @Test
    void hits_notRecorded_haveNoMeter() {
        try (Podcache cache = builder(ChangeDetectionStrategy.CACHE).build()) {
            bind(cache);

            assertThat(registry.find("cache.gets").tag("result", "hit").meters())
                    .isEmpty();
            assertThat(registry.find("cache.gets").tag("result", "miss").meters())
                    .hasSize(1);
        }
    }

    @Test
    void hits_notRecorded_leaveThoseOfAnotherCacheAlone() {
        try (Podcache cache = builder(ChangeDetectionStrategy.CACHE).build();
                Podcache recorded =
                        builder(ChangeDetectionStrategy.CACHE).recordStats().build()) {
            CompositeMeterRegistry composite = new CompositeMeterRegistry();
            composite.add(registry);
            new PodcacheMeterBinder(recorded, "recorded", Tags.empty()).bindTo(composite);
            new PodcacheMeterBinder(cache, "own", Tags.empty()).bindTo(composite);

            assertThat(registry.find("cache.gets").tag("result", "hit").meters())
                    .singleElement()
                    .satisfies(
                            meter -> assertThat(meter.getId().getTag("cache")).isEqualTo("recorded"));
        }
    }

    @Test
    void kindThatIsNewLater_getsItsMeters() {
        try (Podcache cache = builder(ChangeDetectionStrategy.CACHE).build()) {
            bind(cache);
            cache.register(
                    OWNER,
                    Set.of(ObjectRef.of(ObjectKind.of("example.dev/v1", "Widget", "widgets", true), "shop", "round")));
            clock.add(Duration.ofSeconds(1));
            assertThat(gauge("podcache.references")).isEqualTo(1);

            assertThat(gauge("podcache.objects", "kind", "Widget.example.dev", "state", "unread"))
                    .isEqualTo(1);
        }
    }

    @Test
    void meters_readTogether_shareOneLookAtTheCache() {
        try (Podcache cache = builder(ChangeDetectionStrategy.CACHE).build()) {
            bind(cache);
            assertThat(gauge("podcache.references")).isZero();
            cache.register(OWNER, Set.of(DB));

            assertThat(gauge("podcache.references")).isZero();
            clock.add(Duration.ofSeconds(1));
            assertThat(gauge("podcache.references")).isEqualTo(1);
        }
    }

    @Test
    void tags_tellNoNameOfAnObject() {
        try (Podcache cache = builder(ChangeDetectionStrategy.CACHE).build()) {
            bind(cache);
            cache.register(OWNER, Set.of(DB));
            assertThatThrownBy(() -> cache.secrets().getObject("shop", "db"))
                    .isInstanceOf(ObjectUnavailableException.NotFound.class);
            clock.add(Duration.ofSeconds(1));
            assertThat(gauge("podcache.references")).isEqualTo(1);

            assertThat(registry.getMeters())
                    .extracting(Meter::getId)
                    .flatExtracting(Meter.Id::getTags)
                    .extracting(Tag::getKey)
                    .containsOnly("cache", "zone", "result", "kind", "state", "outcome");
            assertThat(registry.getMeters())
                    .extracting(Meter::getId)
                    .flatExtracting(Meter.Id::getTags)
                    .extracting(Tag::getValue)
                    .doesNotContain("shop", "db", "owner");
        }
    }

    @Test
    void closedCache_holdsNothing_andItsCountsStay() {
        Podcache cache = builder(ChangeDetectionStrategy.CACHE).build();
        try (cache) {
            bind(cache);
            cache.register(OWNER, Set.of(MISSING));
            assertThat(cache.secrets().findObject("shop", "missing")).isEmpty();
        }
        clock.add(Duration.ofSeconds(1));

        assertThat(gauge("podcache.references")).isZero();
        assertThat(gauge("podcache.connections")).isZero();
        assertThat(counter("podcache.fetches", "outcome", "not_found")).isEqualTo(1);
        assertThat(cache.stats().size()).isZero();
    }
}
