package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.podcache.Podcache;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectUnavailableException.FetchFailed;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Pods;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The front door on a kube-apiserver. */
@RealServerTest
@ExtendWith(NoLeaks.class)
class PodcacheRealServerTest {

    private final RealApiServer server = RealApiServer.shared();
    private final KubernetesClient client = server.client();
    private final String id = UUID.randomUUID().toString().substring(0, 8);
    private final String ns = "podcache-" + id;
    private final String node = "node-" + id;

    PodcacheRealServerTest() {
        client.resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(ns)
                        .endMetadata()
                        .build())
                .create();
    }

    @AfterEach
    void close() {
        client.close();
    }

    private Podcache open() {
        return Podcache.builder(client)
                .node(node)
                .strategy(ChangeDetectionStrategy.CACHE)
                .build();
    }

    @Test
    void secretsAndConfigMapsOfARegisteredPod_areRead_andNoOthers() {
        put("db", "s3cret");
        put("unrelated", "x");
        client.resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withNamespace(ns)
                        .withName("settings")
                        .endMetadata()
                        .addToData("greeting", "héllo 日本語 🎉")
                        .build())
                .create();
        try (Podcache cache = open()) {
            cache.registerPod(new PodBuilder(pod("web", "uid", "db"))
                    .editSpec()
                    .addNewVolume()
                    .withName("settings")
                    .withNewConfigMap()
                    .withName("settings")
                    .endConfigMap()
                    .endVolume()
                    .endSpec()
                    .build());

            assertThat(Secrets.value(cache.secrets().getObject(ns, "db"))).isEqualTo("s3cret");
            assertThat(cache.configMaps().getObject(ns, "settings").getData())
                    .containsEntry("greeting", "héllo 日本語 🎉");
            assertThat(cache.secrets().getObject(ns, "db").getMetadata().getManagedFields())
                    .isEmpty();
            assertThatThrownBy(() -> cache.secrets().getObject(ns, "unrelated")).isInstanceOf(NotRegistered.class);
        }
    }

    @Test
    void thousandThreadsAskForAColdObject_oneRequest() throws Exception {
        put("db", "s3cret");
        ExecutorService threads = Executors.newFixedThreadPool(1000);
        try (Podcache cache = open()) {
            cache.registerPod(pod("web", "uid", "db"));
            CountDownLatch start = new CountDownLatch(1);
            List<Future<String>> gets = new ArrayList<>();
            for (int i = 0; i < 1000; i++) {
                gets.add(threads.submit(() -> {
                    start.await();
                    return Secrets.value(cache.secrets().getObject(ns, "db"));
                }));
            }
            long before = server.metrics().requests("GET", "secrets");
            start.countDown();
            for (Future<String> get : gets) {
                assertThat(get.get()).isEqualTo("s3cret");
            }

            assertThat(server.metrics().requests("GET", "secrets") - before).isEqualTo(1);
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void registeringUnchangedPodsAgain_makesNoRequest() {
        List<Pod> pods = IntStream.range(0, 110)
                .mapToObj(i -> Pods.at(pod("web-" + i, "uid-" + i, "a", "b", "c-" + i), "1"))
                .toList();
        put("a", "1");
        try (Podcache cache = open()) {
            pods.forEach(cache::registerPod);
            cache.secrets().getObject(ns, "a");
            long before = server.metrics().requests("GET", "secrets");
            for (int round = 0; round < 10; round++) {
                pods.forEach(cache::registerPod);
                cache.secrets().getObject(ns, "a");
            }

            assertThat(server.metrics().requests("GET", "secrets") - before).isZero();
            assertThat(cache.secrets().state(ns, "a").references()).isEqualTo(110);
        }
    }

    @Test
    void ttlAnnotation_changedByKubectl_holdsForWhatIsCachedAlready() {
        client.resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName(node)
                        .endMetadata()
                        .build())
                .create();
        server.kubectl("annotate", "node", node, "node.alpha.kubernetes.io/ttl=3600");
        put("db", "v1");
        try (Podcache cache = open()) {
            cache.registerPod(pod("web", "uid", "db"));
            await().until(() -> freshness(cache).contains("1h0m0s,"));
            assertThat(Secrets.value(cache.secrets().getObject(ns, "db"))).isEqualTo("v1");
            put("db", "v2");
            assertThat(Secrets.value(cache.secrets().getObject(ns, "db"))).isEqualTo("v1");

            server.kubectl("annotate", "--overwrite", "node", node, "node.alpha.kubernetes.io/ttl=0");

            await().untilAsserted(() -> assertThat(Secrets.value(cache.secrets().getObject(ns, "db")))
                    .isEqualTo("v2"));
        } finally {
            server.kubectl("delete", "node", node);
        }
    }

    @Test
    void underConcurrentUpdates_registrationAndOrderHold() throws Exception {
        put("steady", "0");
        put("churned", "0");
        AtomicInteger written = new AtomicInteger();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try (Podcache cache = Podcache.builder(client)
                .defaultTtl(Duration.ofMillis(20))
                .firstSyncTimeout(Duration.ofSeconds(Patience.SECONDS))
                .build()) {
            cache.registerPod(pod("steady", "uid-steady", "steady"));
            CountDownLatch done = new CountDownLatch(1);
            Future<Void> writer = threads.submit((Callable<Void>) () -> {
                for (int i = 1; i <= 150; i++) {
                    put("steady", Integer.toString(i));
                    put("churned", Integer.toString(i));
                    written.set(i);
                }
                done.countDown();
                return null;
            });
            List<Future<Integer>> readers = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                readers.add(threads.submit(() -> {
                    int seen = 0;
                    while (done.getCount() > 0) {
                        int value =
                                Integer.parseInt(Secrets.value(cache.secrets().getObject(ns, "steady")));
                        assertThat(value).as("order").isGreaterThanOrEqualTo(seen);
                        seen = value;
                    }
                    return seen;
                }));
            }
            while (done.getCount() > 0) {
                int before = written.get();
                cache.registerPod(pod("churned", "uid-churned", "churned"));
                assertThat(Integer.parseInt(Secrets.value(cache.secrets().getObject(ns, "churned"))))
                        .as("registration")
                        .isGreaterThanOrEqualTo(before);
                cache.unregisterPod(pod("churned", "uid-churned"));
            }
            writer.get();
            for (Future<Integer> reader : readers) {
                assertThat(reader.get()).isPositive();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void accessDenied_isTellingWhoMayNotDoWhat() {
        put("db", "s3cret");
        try (KubernetesClient nobody = server.clientFor("jane");
                Podcache cache = Podcache.builder(nobody)
                        .strategy(ChangeDetectionStrategy.CACHE)
                        .build()) {
            cache.registerPod(pod("web", "uid", "db"));

            assertThatThrownBy(() -> cache.secrets().getObject(ns, "db"))
                    .isInstanceOfSatisfying(FetchFailed.class, e -> {
                        assertThat(e.reason()).isEqualTo(FailureReason.FORBIDDEN);
                        assertThat(e.httpCode()).hasValue(403);
                    })
                    .hasMessageContaining("jane")
                    .hasMessageContaining("db");
            assertThat(cache.secrets().state(ns, "db").cacheState()).isEqualTo(CacheState.UNREAD);
        }
    }

    @Test
    void strategyGet_asksEveryTime_andNeedsNoRegistration() {
        put("db", "v1");
        try (Podcache cache =
                Podcache.builder(client).strategy(ChangeDetectionStrategy.GET).build()) {
            assertThat(Secrets.value(cache.secrets().getObject(ns, "db"))).isEqualTo("v1");
            put("db", "v2");
            assertThat(Secrets.value(cache.secrets().getObject(ns, "db"))).isEqualTo("v2");
        }
    }

    private String freshness(Podcache cache) {
        return cache.secrets().state(ns, "db").freshness();
    }

    private void put(String name, String value) {
        client.resource(Secrets.of(ns, name, value)).createOr(existing -> existing.update());
    }

    private Pod pod(String name, String uid, String... secrets) {
        return Pods.withSecrets(ns, name, uid, secrets);
    }
}
