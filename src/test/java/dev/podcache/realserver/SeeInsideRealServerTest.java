package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.Podcache;
import dev.podcache.manager.CacheStats;
import dev.podcache.manager.ObjectEntry;
import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.Referrer;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The counts of a cache, and the connections of its watches. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class SeeInsideRealServerTest {

    private static final int OBJECTS = 20;

    private final RealApiServer real = RealApiServer.shared();

    @Test
    void watchedObjects_tellTheirConnection_untilTheyAreReleased() {
        try (TestNamespace shop = new TestNamespace(real);
                KubernetesClient client = real.client();
                Podcache cache = Podcache.builder(client)
                        .firstSyncTimeout(Duration.ofSeconds(20))
                        .recordStats()
                        .build()) {
            Set<ObjectRef> objects = new HashSet<>();
            for (int i = 0; i < OBJECTS; i++) {
                shop.admin().resource(Secrets.of(shop.name(), "of-" + i, "v1")).create();
                objects.add(ObjectRef.of(ObjectKind.SECRET, shop.name(), "of-" + i));
            }
            objects.add(ObjectRef.of(ObjectKind.SECRET, shop.name(), "missing"));
            Referrer owner =
                    Referrer.of(shop.admin().namespaces().withName(shop.name()).get());
            cache.register(owner, objects);
            for (int i = 0; i < OBJECTS; i++) {
                cache.secrets().getObject(shop.name(), "of-" + i);
                cache.secrets().getObject(shop.name(), "of-" + i);
            }
            await().until(() -> cache.stats().watches() == OBJECTS + 1);

            List<ObjectEntry> entries = cache.entries();
            assertThat(entries)
                    .hasSize(OBJECTS + 1)
                    .extracting(ObjectEntry::connection)
                    .allSatisfy(connection -> assertThat(connection)
                            .get()
                            .asString()
                            .startsWith(client.getConfiguration().getMasterUrl().replaceAll("/$", ""))
                            .matches(".* #\\d+"));
            await().until(() -> cache.stats().objects(ObjectKind.SECRET, CacheState.ABSENT) == 1);
            CacheStats stats = cache.stats();
            assertThat(stats.objects(ObjectKind.SECRET, CacheState.FRESH)).isEqualTo(OBJECTS);
            assertThat(stats.references()).isEqualTo(OBJECTS + 1);
            assertThat(stats.hits().orElseThrow() + stats.misses()).isEqualTo(2 * OBJECTS);
            assertThat(stats.connections()).isGreaterThanOrEqualTo((int)
                    entries.stream().map(ObjectEntry::connection).distinct().count());
            assertThat(stats.bytes()).isGreaterThan(OBJECTS * 100L);
            assertThat(stats.updates()).isEqualTo(OBJECTS);

            cache.unregister(owner);
            assertThat(cache.stats().watches()).isZero();
            assertThat(cache.entries()).isEmpty();
        }
    }

    @Test
    void immutableObject_needsNoWatch_andTellsNoConnection() {
        try (TestNamespace shop = new TestNamespace(real);
                KubernetesClient client = real.client();
                Podcache cache = Podcache.builder(client)
                        .firstSyncTimeout(Duration.ofSeconds(20))
                        .build()) {
            ObjectRef fixed = ObjectRef.of(ObjectKind.SECRET, shop.name(), "fixed");
            shop.admin()
                    .resource(Secrets.immutable(ObjectKey.of(shop.name(), "fixed"), "v1"))
                    .create();
            cache.register(
                    Referrer.of(shop.admin().namespaces().withName(shop.name()).get()), Set.of(fixed));
            cache.secrets().getObject(shop.name(), "fixed");

            assertThat(cache.entries())
                    .singleElement()
                    .extracting(ObjectEntry::connection)
                    .isEqualTo(Optional.empty());
            assertThat(cache.stats().watches()).isZero();
        }
    }
}
