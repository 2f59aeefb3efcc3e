package dev.podcache.josdk;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.Podcache;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.config.ConfigurationServiceOverrider;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** An operator that is stopped while it works, and one without access to some of the Secrets that websites name. */
@RealServerTest
@Needs(ServerFeature.CUSTOM_RESOURCES)
class OperatorTroubleRealServerTest {

    private static final int WEBSITES = 3;
    private static final int REFUSED = 15;

    /** How long a read of a refused Secret waits for access. */
    private static final Duration FIRST_SYNC = Duration.ofMinutes(2);

    /** Far more than a busy machine needs without a wait for a refused Secret. */
    private static final Duration AT_ONCE = FIRST_SYNC.dividedBy(2);

    private final RealApiServer real = RealApiServer.shared();
    private final String prefix = "trouble-" + UUID.randomUUID().toString().substring(0, 8);

    /** Reads the Secrets of a website, then again once the test says so. */
    @ControllerConfiguration
    private static final class SlowReconciler implements Reconciler<Website> {

        private final Podcache cache;
        final Map<String, Integer> first = new ConcurrentHashMap<>(); // by website
        final Map<String, Integer> second = new ConcurrentHashMap<>();
        final CountDownLatch goOn = new CountDownLatch(1);

        SlowReconciler(Podcache cache) {
            this.cache = cache;
        }

        @Override
        public List<EventSource<?, Website>> prepareEventSources(EventSourceContext<Website> context) {
            return List.of(WebsiteSecrets.ofPodcache(context, cache));
        }

        @Override
        public UpdateControl<Website> reconcile(Website website, Context<Website> context) throws Exception {
            String name = website.getMetadata().getName();
            first.put(name, context.getSecondaryResources(Secret.class).size());
            goOn.await();
            second.put(name, context.getSecondaryResources(Secret.class).size());
            return UpdateControl.noUpdate();
        }
    }

    @Test
    void stop_whileReconciliationsRun_noSecretLooksDeleted() throws Exception {
        try (WebsiteCluster cluster = WebsiteCluster.create(real, prefix, WEBSITES, 1, 2 * WEBSITES);
                KubernetesClient client = real.client();
                Podcache cache = Podcache.builder(client).build()) {
            SlowReconciler reconciler = new SlowReconciler(cache);
            Operator operator = operator(
                    reconciler,
                    client,
                    settings -> settings.withReconciliationTerminationTimeout(Duration.ofSeconds(30)));
            operator.start();
            await().until(() -> reconciler.first.size() == WEBSITES);
            CompletableFuture<Void> stopped = CompletableFuture.runAsync(operator::stop, NewThread.EACH);
            await().until(() -> cache.entries().isEmpty()); // the event source has stopped

            reconciler.goOn.countDown();
            stopped.get();

            assertThat(reconciler.first)
                    .hasSize(WEBSITES)
                    .allSatisfy((website, secrets) -> assertThat(secrets).isEqualTo(3));
            assertThat(reconciler.second).isEqualTo(reconciler.first);
            assertThat(cache.entries()).isEmpty();
            cluster.clear();
        }
    }

    @Test
    @Needs(ServerFeature.RBAC)
    void start_withRefusedSecrets_reconcilesTheOthersAtOnce() throws Exception {
        try (WebsiteCluster cluster = WebsiteCluster.create(real, prefix, WEBSITES, 1, 2 * WEBSITES);
                KubernetesClient admin = real.client();
                KubernetesClient reader = real.clientFor(prefix);
                Podcache cache =
                        Podcache.builder(reader).firstSyncTimeout(FIRST_SYNC).build()) {
            String namespace = cluster.namespaces().get(0);
            allowReferenced(cluster, reader, namespace);
            IntStream.range(0, REFUSED)
                    .forEach(i -> admin.resource(website(namespace, "refused-" + i, "no-access-" + i))
                            .create());
            SeenSecrets seen = new SeenSecrets();
            Operator operator = operator(
                    new WebsiteReconciler(context -> WebsiteSecrets.ofPodcache(context, cache), seen),
                    admin,
                    settings -> {});
            long began = System.nanoTime();
            operator.start();
            try {
                for (ObjectKey secret : cluster.referenced()) {
                    seen.await(cluster.ownersOf(secret), secret, 1);
                }
                assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(AT_ONCE);
                assertThat(seen.reconciliations())
                        .as("no refused Secret looks deleted")
                        .hasSize(WEBSITES);
            } finally {
                operator.stop();
            }
            cluster.clear();
        }
    }

    private Operator operator(
            Reconciler<Website> reconciler, KubernetesClient client, Consumer<ConfigurationServiceOverrider> settings) {
        Operator operator = new Operator(all -> {
            all.withKubernetesClient(client).withCloseClientOnStop(false);
            settings.accept(all);
        });
        operator.register(reconciler, controller -> controller.settingNamespace(prefix + "-0"));
        return operator;
    }

    private void allowReferenced(WebsiteCluster cluster, KubernetesClient reader, String namespace) {
        String[] role = {
            "--namespace=" + namespace, "create", "role", "reader", "--verb=get,list,watch", "--resource=secrets"
        };
        String[] names = cluster.referenced().stream()
                .map(secret -> "--resource-name=" + secret.name())
                .toArray(String[]::new);
        String[] all = Arrays.copyOf(role, role.length + names.length);
        System.arraycopy(names, 0, all, role.length, names.length);
        real.kubectl(all);
        real.kubectl(
                "--namespace=" + namespace, "create", "rolebinding", "reader", "--role=reader", "--user=" + prefix);
        // the server learns of a Role a moment after it was created
        ObjectKey any = cluster.referenced().get(0);
        await().ignoreExceptions()
                .until(() -> reader.secrets()
                                .inNamespace(namespace)
                                .withName(any.name())
                                .get()
                        != null);
    }

    private static Website website(String namespace, String name, String secret) {
        Website website = new Website();
        website.setMetadata(
                new ObjectMetaBuilder().withNamespace(namespace).withName(name).build());
        website.setSpec(new WebsiteSpec(List.of(secret)));
        return website;
    }
}
