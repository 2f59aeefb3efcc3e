package dev.podcache.josdk;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.Podcache;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.Needs;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.UnaryOperator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * An operator of 100 websites that name 200 of the 2,000 Secrets in 5 namespaces: each rotation of a Secret reconciles
 * exactly the websites that name it, and none is lost. With a {@link PodcacheEventSource}, and the same operator with
 * java-operator-sdk's own informer.
 */
@RealServerTest
class OperatorRealServerTest {

    private static final int WEBSITES = 100;
    private static final int NAMESPACES = 5;
    private static final int SECRETS = 2_000;
    private static final int ONE_BY_ONE = 200;
    private static final int AT_ONCE = 800;
    private static final int ROTATORS = 8;

    /** Where the operator gets its Secrets. */
    enum SecretsFrom {
        PODCACHE {
            @Override
            EventSource<Secret, Website> of(EventSourceContext<Website> context, Podcache cache) {
                return WebsiteSecrets.ofPodcache(context, cache);
            }
        },
        INFORMER {
            @Override
            EventSource<Secret, Website> of(EventSourceContext<Website> context, Podcache cache) {
                return WebsiteSecrets.ofInformer(context, UnaryOperator.identity());
            }
        };

        abstract EventSource<Secret, Website> of(EventSourceContext<Website> context, Podcache cache);
    }

    private final RealApiServer real = RealApiServer.shared();
    private final SeenSecrets seen = new SeenSecrets();

    @ParameterizedTest
    @EnumSource
    @Needs(ServerFeature.CUSTOM_RESOURCES)
    void rotationsOfSecrets_reconcileTheirOwners(SecretsFrom source) throws Exception {
        String prefix = "site-" + UUID.randomUUID().toString().substring(0, 8);
        try (WebsiteCluster cluster = WebsiteCluster.create(real, prefix, WEBSITES, NAMESPACES, SECRETS);
                KubernetesClient client = real.client();
                Podcache cache = Podcache.builder(client).build()) {
            Operator operator = new Operator(settings -> settings.withKubernetesClient(client));
            operator.register(
                    new WebsiteReconciler(context -> source.of(context, cache), seen),
                    settings -> settings.settingNamespaces(Set.copyOf(cluster.namespaces())));
            operator.start();
            try {
                for (ObjectKey secret : cluster.referenced()) {
                    seen.await(cluster.ownersOf(secret), secret, 1);
                }
                rotateOneByOne(source, cluster);
                rotateAtOnce(cluster);
                if (source == SecretsFrom.PODCACHE) {
                    assertThat(cache.entries()).hasSize(2 * WEBSITES);
                }
            } finally {
                operator.stop();
            }
            assertThat(cache.entries()).as("after the operator has stopped").isEmpty();
            cluster.clear();
        }
    }

    /** Each owner is reconciled once, and nobody else. */
    private void rotateOneByOne(SecretsFrom source, WebsiteCluster cluster) throws Exception {
        Map<ObjectKey, Integer> before = settled();
        Map<ObjectKey, Integer> expected = new HashMap<>(before);
        List<Duration> took = new ArrayList<>();
        for (ObjectKey secret : cluster.referenced().subList(0, ONE_BY_ONE)) {
            long sent = System.nanoTime();
            long version = cluster.rotate(secret);
            took.add(Duration.ofNanos(seen.await(cluster.ownersOf(secret), secret, version) - sent));
            cluster.ownersOf(secret).forEach(owner -> expected.merge(owner, 1, Integer::sum));
        }
        Duration median = took.stream().sorted().toList().get(took.size() / 2);
        System.out.printf(
                "%s: from before a Secret is updated until its owners are reconciled: median %.1f ms%n",
                source, median.toNanos() / 1e6);
        assertThat(settled()).isEqualTo(expected);
        assertThat(median).isLessThan(Duration.ofSeconds(1));
    }

    private Map<ObjectKey, Integer> settled() {
        Map<ObjectKey, Integer> last = new HashMap<>();
        return await().during(Duration.ofMillis(300)).until(seen::reconciliations, now -> {
            boolean same = now.equals(last);
            last.clear();
            last.putAll(now);
            return same;
        });
    }

    private void rotateAtOnce(WebsiteCluster cluster) throws Exception {
        List<ObjectKey> secrets = cluster.referenced();
        ExecutorService rotators = Executors.newFixedThreadPool(ROTATORS);
        try {
            List<Future<Long>> versions = new ArrayList<>();
            for (int i = 0; i < AT_ONCE; i++) {
                ObjectKey secret = secrets.get(i % secrets.size());
                versions.add(rotators.submit(() -> cluster.rotate(secret)));
            }
            for (int i = 0; i < AT_ONCE; i++) {
                ObjectKey secret = secrets.get(i % secrets.size());
                seen.await(cluster.ownersOf(secret), secret, versions.get(i).get());
            }
        } finally {
            rotators.shutdown();
        }
    }
}
