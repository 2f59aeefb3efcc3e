package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.Podcache;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.Referrer;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.TcpProxy;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Hundreds of watches are lost at once: how they come back, and how little the server is dialled meanwhile. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class RecoveryRealServerTest {

    private static final Logger log = LoggerFactory.getLogger(RecoveryRealServerTest.class);
    private static final int MANY = 600;
    private static final Duration DOWN = Duration.ofSeconds(8);

    /** Twice a second while the server is down, with room for those that were under way when it went. */
    private static final int DIALS = 2 * (int) DOWN.toSeconds() + 10;

    private final RealApiServer own = RealApiServer.restartable();

    @Test
    void serverIsDown_isDialledRarely_andEveryWatchComesBack(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying: ");
        leaks.allowWarnings("did not answer a ping");
        try (TestNamespace shop = new TestNamespace(own);
                TcpProxy proxy = shop.proxy();
                KubernetesClient client = TestNamespace.through(proxy, own.config());
                Podcache cache = Podcache.builder(client)
                        .strategy(ChangeDetectionStrategy.WATCH)
                        .build()) {
            IntStream.range(0, MANY).forEach(i -> shop.put("secret-" + i, "v1"));
            cache.secrets().register(referrer(), objects(shop.name()));
            await().until(() -> fresh(cache, shop.name()) == MANY);

            int before = proxy.accepted();
            own.apiServer().kill();
            await().until(() -> fresh(cache, shop.name()) == 0);
            await().pollDelay(DOWN).until(() -> true);
            int dials = proxy.accepted() - before;
            own.apiServer().start();
            long ready = System.nanoTime();
            await().pollInterval(Duration.ofMillis(20)).until(() -> fresh(cache, shop.name()) == MANY);

            log.info(
                    "{} watches were back {} ms after the server was ready; {} dials in {} s before",
                    MANY,
                    Duration.ofNanos(System.nanoTime() - ready).toMillis(),
                    dials,
                    DOWN.toSeconds());
            assertThat(dials).isLessThanOrEqualTo(DIALS);
        }
    }

    private static Set<ObjectKey> objects(String namespace) {
        return IntStream.range(0, MANY)
                .mapToObj(i -> ObjectKey.of(namespace, "secret-" + i))
                .collect(Collectors.toSet());
    }

    private static Referrer referrer() {
        return Referrer.of(new ConfigMapBuilder()
                .withNewMetadata()
                .withNamespace("shop")
                .withName("settings")
                .withUid("uid-1")
                .endMetadata()
                .build());
    }

    private static long fresh(Podcache cache, String namespace) {
        return IntStream.range(0, MANY)
                .filter(i -> cache.secrets().state(namespace, "secret-" + i).cacheState() == CacheState.FRESH)
                .count();
    }
}
