package dev.podcache.realserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.Podcache;
import dev.podcache.manager.ObjectEntry;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.PodKey;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The wait for the first reads ends with the last sync, and not at the next of some fixed times. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class AwaitSyncedRealServerTest {

    private static final int OBJECTS = 150;

    /** Far more than it takes, and far less than the second after which reads that gave up are repeated. */
    private static final Duration LATE = Duration.ofMillis(400);

    private final RealApiServer real = RealApiServer.shared();

    @Test
    void awaitSynced_readsHaveGivenUp_endsWithTheLastSync() {
        String namespace = real.createNamespaceLike("synced-");
        try (KubernetesClient admin = real.client()) {
            Set<ObjectKey> keys = IntStream.range(0, OBJECTS)
                    .mapToObj(i -> ObjectKey.of(namespace, "secret-" + i))
                    .collect(Collectors.toSet());
            keys.forEach(key -> admin.resource(Secrets.of(key, "v1")).create());
            AtomicLong lastSync = new AtomicLong();
            try (Podcache cache = Podcache.builder(admin)
                    // so that every read gives up
                    .firstSyncTimeout(Duration.ofMillis(1))
                    .metrics(new PodcacheMetrics() {
                        @Override
                        public void watchSynced(ObjectKind<?> kind, ObjectKey key, Duration took) {
                            lastSync.set(System.nanoTime());
                        }
                    })
                    .build()) {
                cache.secrets().register(PodKey.of(namespace, "web", "uid-web"), keys);
                List<ObjectEntry> unread = cache.awaitSynced(Duration.ofSeconds(60));
                long ended = System.nanoTime();

                assertThat(unread).isEmpty();
                assertThat(Duration.ofNanos(ended - lastSync.get())).isLessThan(LATE);
            }
        }
    }
}
