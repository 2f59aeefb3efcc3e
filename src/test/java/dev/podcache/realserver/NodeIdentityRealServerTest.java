package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.Podcache;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectState;
import dev.podcache.object.ObjectUnavailableException.NotSynced;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.ServerFeature;
import dev.podcache.testing.TcpProxy;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Strategy WATCH with what a kubelet may do and no more: the Node authorizer decides by the pods bound to the node. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class NodeIdentityRealServerTest {

    private static final Logger log = LoggerFactory.getLogger(NodeIdentityRealServerTest.class);
    private static final int ROUNDS = 20;

    private final RealApiServer real = RealApiServer.shared();
    private final TestNamespace shop = new TestNamespace(real);
    private final String node = "node-of-" + shop.name();
    private final TcpProxy proxy = shop.proxy();
    private final KubernetesClient kubelet = TestNamespace.through(proxy, real.nodeConfig(node));
    private final RecordedWatches told = new RecordedWatches();
    // long enough that a slow authorizer is measured and not taken for a refusal
    private final Podcache cache = Podcache.builder(kubelet)
            .metrics(told)
            .firstSyncTimeout(Duration.ofSeconds(3))
            .build();

    @BeforeEach
    void allowWarnings(NoLeaks leaks) {
        leaks.allowWarnings("failed; retrying");
    }

    @AfterEach
    void close() {
        cache.close();
        kubelet.close();
        proxy.close();
        shop.close();
    }

    @Test
    @Needs(ServerFeature.NODE_AUTHORIZER)
    void beforeBinding_getFailsAndNamesVerbAndObject() {
        shop.put("db", "v1");
        cache.registerPod(shop.pod("web", node, "db"));

        assertThatThrownBy(() -> get("db"))
                .isInstanceOf(NotSynced.class)
                .hasMessageContaining("Secret " + shop.name() + "/db not synced")
                .hasMessageContaining("LIST secrets in " + shop.name() + " with metadata.name=db was answered 403")
                .hasMessageContaining("system:node:" + node);
        assertThat(state("db").cacheState()).isEqualTo(CacheState.NOT_SYNCED);
    }

    @Test
    @Needs(ServerFeature.NODE_AUTHORIZER)
    void atBinding_refusedJustBefore_costsLittle() {
        measure("registered and refused before the binding", pod -> {
            cache.registerPod(pod);
            String secret = pod.getMetadata().getName();
            await().pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(1))
                    .until(() -> told.failed(secret, FailureReason.FORBIDDEN));
        });
    }

    @Test
    void atBinding_registeredJustAfter_costsLittle() {
        measure("registered after the binding", pod -> {});
    }

    private void measure(String what, Consumer<Pod> before) {
        List<Long> millis = new ArrayList<>();
        for (int i = 0; i < ROUNDS; i++) {
            String name = "web-" + i;
            shop.put(name, "v" + i);
            before.accept(shop.pod(name, node, name));
            long began = System.nanoTime();
            cache.registerPod(shop.createPod(name, node, name));
            assertThat(get(name)).isEqualTo("v" + i);
            millis.add(Duration.ofNanos(System.nanoTime() - began).toMillis());
        }
        Collections.sort(millis);
        log.info("from binding to first get, {}: {} ms", what, millis);
        // 250 ms is the goal; a busy machine has its own ideas
        assertThat(millis.get(ROUNDS / 2)).as("median of %s", millis).isLessThan(1_000);
    }

    @Test
    void afterBinding_updatesAreSeen() {
        shop.put("db", "v1");
        bind("web", "db");
        await().ignoreExceptions().until(() -> get("db").equals("v1"));

        shop.put("db", "v2");

        await().until(() -> get("db").equals("v2"));
    }

    @Test
    @Needs(ServerFeature.NODE_AUTHORIZER)
    void podDeleted_accessIsRevoked_andThatShows() {
        shop.put("db", "v1");
        bind("web", "db");
        await().ignoreExceptions().until(() -> get("db").equals("v1"));
        shop.admin()
                .pods()
                .inNamespace(shop.name())
                .withName("web")
                .withGracePeriod(0)
                .delete();
        await().until(this::isRefused);

        // a watch that was allowed once goes on; the next one is refused
        proxy.reset();

        await().until(() -> told.failed("db", FailureReason.FORBIDDEN));
        assertThat(state("db").cacheState()).isEqualTo(CacheState.STALE);
        assertThat(state("db").lastFailure())
                .hasMessageContaining("WATCH secrets in " + shop.name() + " with metadata.name=db was answered 403");
        assertThat(get("db")).isEqualTo("v1");
    }

    @Test
    @Needs(ServerFeature.SERVICE_ACCOUNTS)
    void ordinaryPod_rootCertificateOfItsTokenVolume_isFollowed() {
        shop.put("db", "v1");
        bind("web", "db");

        await().ignoreExceptions()
                .until(() -> cache.configMaps()
                        .getObject(shop.name(), "kube-root-ca.crt")
                        .getData()
                        .containsKey("ca.crt"));
        assertThat(cache.configMaps().state(shop.name(), "kube-root-ca.crt").references())
                .isEqualTo(1);
        assertThat(cache.secrets().state(shop.name(), "db").references()).isEqualTo(1);
    }

    private void bind(String name, String secret) {
        cache.registerPod(shop.createPod(name, node, secret));
    }

    private boolean isRefused() {
        try {
            kubelet.secrets().inNamespace(shop.name()).withName("db").get();
            return false;
        } catch (KubernetesClientException e) {
            return e.getCode() == 403;
        }
    }

    private String get(String secret) {
        return Secrets.value(cache.secrets().getObject(shop.name(), secret));
    }

    private ObjectState state(String secret) {
        return cache.secrets().state(shop.name(), secret);
    }
}
