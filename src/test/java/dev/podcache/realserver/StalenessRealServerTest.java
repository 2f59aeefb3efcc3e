package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.Podcache;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.testing.ExpectedWarnings;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.ServerFeature;
import dev.podcache.testing.TcpProxy;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What is no longer kept fresh says so, whatever became of its watch. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class StalenessRealServerTest {

    private static final Logger log = LoggerFactory.getLogger(StalenessRealServerTest.class);

    /** How much later than it happened this test may see something. */
    private static final Duration NOTICED = Duration.ofSeconds(1);

    private final TestNamespace shop = new TestNamespace(RealApiServer.shared());
    private final TcpProxy proxy = shop.proxy();
    private final KubernetesClient reader = TestNamespace.through(proxy, shop.serviceAccount("get,list,watch"));
    private final RecordedWatches told = new RecordedWatches();
    private final Podcache cache = Podcache.builder(reader).metrics(told).build();

    @BeforeEach
    void follow(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
        shop.put("db", "v1");
        cache.registerPod(shop.pod("web", "", "db"));
        await().ignoreExceptions().until(() -> get().equals("v1"));
    }

    @AfterEach
    void close() {
        cache.close();
        reader.close();
        proxy.close();
        shop.close();
    }

    @Test
    @Needs({ServerFeature.RBAC, ServerFeature.SERVICE_ACCOUNTS, ServerFeature.TOKENS})
    void accessRevokedAndConnectionLost_isStaleWithTheRefusal_untilAllowedAgain() {
        shop.kubectl("delete", "rolebinding", "reader");
        await().until(() -> !shop.readerMay("watch"));
        shop.put("db", "v2");
        await().until(() -> get().equals("v2"));

        proxy.reset();

        await().until(() -> told.failed("db", FailureReason.FORBIDDEN));
        assertThat(phase()).isEqualTo(CacheState.STALE);
        assertThat(cache.secrets().state(shop.name(), "db").lastFailure())
                .hasMessageContaining("WATCH secrets in " + shop.name() + " with metadata.name=db was answered 403");
        assertThat(get()).isEqualTo("v2");

        shop.put("db", "v3");
        shop.allowReader();
        await().until(() -> get().equals("v3"));
        await().until(() -> phase() == CacheState.FRESH);
    }

    @Test
    @ExpectedWarnings("did not answer a ping")
    void connectionFrozen_isStaleWithin20Seconds_andRecoversOnANewOne() {
        proxy.freeze();
        proxy.freezeNew();
        int connections = proxy.accepted();
        shop.put("db", "v2");
        long frozen = System.nanoTime();

        await().until(() -> phase() == CacheState.STALE);
        assertThat(Duration.ofNanos(System.nanoTime() - frozen))
                .isLessThan(Duration.ofSeconds(20).plus(NOTICED));
        log.info("stale {} ms after the connection froze", millisSince(frozen));
        assertThat(get()).isEqualTo("v1");
        await().until(() -> proxy.accepted() > connections);
        proxy.thaw();

        await().until(() -> get().equals("v2"));
        await().until(() -> phase() == CacheState.FRESH);
        log.info("recovered {} ms after the connection froze", millisSince(frozen));
        assertThat(Duration.ofNanos(System.nanoTime() - frozen)).isLessThan(Duration.ofSeconds(30));
    }

    private CacheState phase() {
        return cache.secrets().state(shop.name(), "db").cacheState();
    }

    private String get() {
        return Secrets.value(cache.secrets().getObject(shop.name(), "db"));
    }

    private static long millisSince(long began) {
        return Duration.ofNanos(System.nanoTime() - began).toMillis();
    }
}
