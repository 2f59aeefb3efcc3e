package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.Podcache;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A node full of pods comes and goes. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class RemovalRealServerTest {

    private static final Logger log = LoggerFactory.getLogger(RemovalRealServerTest.class);
    private static final int PODS = 110;
    private static final int SECRETS = 600;

    @Test
    void podsUnregistered_noWatchOfThemIsLeftAtTheServer_thoughEachConnectionHasOthers() {
        RealApiServer real = RealApiServer.shared();
        RecordedWatches told = new RecordedWatches();
        try (TestNamespace shop = new TestNamespace(real);
                KubernetesClient client = real.client();
                Podcache cache = Podcache.builder(client).metrics(told).build()) {
            IntStream.range(0, SECRETS).parallel().forEach(i -> shop.put("secret-" + i, "v1"));
            List<Pod> pods =
                    IntStream.range(0, PODS).mapToObj(i -> pod(shop, i)).toList();
            long before = openWatches(real);

            long began = System.nanoTime();
            pods.forEach(cache::registerPod);
            await().pollInterval(Duration.ofMillis(5)).until(() -> told.synced() == SECRETS);
            log.info("{} synced within {} ms", SECRETS, millisSince(began));
            assertThat(openWatches(real) - before).isEqualTo(SECRETS);

            // an idle connection is closed with whatever is open on it: so many watches stay, between the others
            long unregistering = System.nanoTime();
            IntStream.range(0, PODS).filter(i -> i % 10 != 0).forEach(i -> cache.unregisterPod(pods.get(i)));
            await().pollInterval(Duration.ofMillis(50)).until(() -> openWatches(real) - before == SECRETS / 10);
            log.info("only the watches of others left within {} ms", millisSince(unregistering));

            pods.forEach(cache::unregisterPod);
            await().until(() -> openWatches(real) == before);
        }
    }

    /** Each with six Secrets, of which some are another pod's as well. */
    private static Pod pod(TestNamespace shop, int number) {
        String[] secrets = IntStream.range(0, 6)
                .mapToObj(i -> "secret-" + (number * 6 + i) % SECRETS)
                .toArray(String[]::new);
        return shop.pod("web-" + number, "", secrets);
    }

    private static long openWatches(RealApiServer real) {
        return Stream.of("secrets", "configmaps")
                .mapToLong(resource -> real.metrics().openWatchesInNamespaces(resource))
                .sum();
    }

    private static long millisSince(long began) {
        return Duration.ofNanos(System.nanoTime() - began).toMillis();
    }
}
