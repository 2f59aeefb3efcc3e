package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.testing.Needs;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import dev.podcache.testing.Slow;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two controllers as processes of their own beside owners that come and go: one is killed, one stands still for longer than
 * its Lease, the server goes away, a definition is removed. Meanwhile an honest owner keeps its access, and no Secret that no
 * owner names is ever readable.
 */
@RealServerTest
@Needs({ServerFeature.RBAC, ServerFeature.CUSTOM_RESOURCES, ServerFeature.VALIDATION})
@Slow
class GrantsChurnRealServerTest {

    private static final int CANARIES = 100;
    private static final int NAMES = 8;

    @TempDir
    private Path folder;

    private final Random random = new Random(20_261_125);
    private final Queue<String> violations = new ConcurrentLinkedQueue<>();
    private volatile boolean over;
    private volatile boolean serverAway;
    private volatile boolean honestReads;

    private static void signal(String signal, Process process) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder("kill", "-" + signal, String.valueOf(process.pid()))
                        .start()
                        .waitFor())
                .isZero();
    }

    private void probeHonest(GrantsCluster cluster) {
        boolean expected = honestReads;
        try {
            cluster.operator
                    .secrets()
                    .inNamespace(cluster.namespace())
                    .withName("honest")
                    .get();
        } catch (KubernetesClientException e) {
            if (e.getCode() == 403 && expected && honestReads && !serverAway) {
                violations.add("the honest owner's Secret was refused: " + cluster.granted(cluster.namespace()));
            }
        }
    }

    /** An owner appears, changes or goes. */
    private void churn(GrantsCluster cluster, int steps) {
        for (int i = 0; i < steps; i++) {
            String namespace = cluster.namespaces.get(random.nextInt(cluster.namespaces.size()));
            String owner = "o" + random.nextInt(6);
            String[] names = random.ints(random.nextInt(4), 0, NAMES)
                    .mapToObj(name -> "s" + name)
                    .toArray(String[]::new);
            try {
                if (random.nextInt(3) == 0) {
                    cluster.delete(namespace, owner);
                } else {
                    cluster.admin
                            .resource(cluster.owner(namespace, owner, List.of(names)))
                            .createOr(existing -> existing.update());
                }
            } catch (KubernetesClientException e) {
                // the server is away; what it has counts at the end
            }
        }
    }

    @Test
    void controllersThatDieAndStandStill_neverLoseAnHonestOwner_andNeverGrantACanary() throws Exception {
        RealApiServer server = RealApiServer.restartable();
        try (GrantsCluster cluster = new GrantsCluster(server, "Churned", 2, "", folder)) {
            String shop = cluster.namespace();
            for (String namespace : cluster.namespaces) {
                cluster.put(
                        namespace,
                        IntStream.range(0, NAMES).mapToObj(i -> "s" + i).toArray(String[]::new));
            }
            CanaryProbes canaries = new CanaryProbes(cluster, CANARIES);
            cluster.put(shop, "honest");
            cluster.create(shop, "honest", "honest");
            Watch watched;
            Process a = cluster.startProcess("a");
            await().until(() -> cluster.holder().equals("a"));
            Process b = cluster.startProcess("b");
            await().until(() -> cluster.operatorReads(shop, "honest"));
            honestReads = true;
            watched = cluster.admin
                    .rbac()
                    .roles()
                    .inNamespace(shop)
                    .withName(GrantsCluster.ROLE)
                    .watch(new Watcher<>() {
                        @Override
                        public void eventReceived(Action action, Role role) {
                            // a kube-apiserver writes null for no rules
                            boolean has = role.getRules() != null
                                    && role.getRules().stream()
                                            .anyMatch(rule ->
                                                    rule.getResourceNames().contains("honest"));
                            if (honestReads && !has) {
                                violations.add("the Role lost the honest owner's Secret");
                            }
                        }

                        @Override
                        public void onClose(WatcherException cause) {}
                    });
            CompletableFuture<?> prober = CompletableFuture.runAsync(
                    () -> {
                        Random choices = new Random(7);
                        while (!over) {
                            canaries.probe(choices, () -> serverAway);
                            probeHonest(cluster);
                        }
                    },
                    NewThread.EACH);

            churn(cluster, 60);
            cluster.awaitEqual();

            signal("KILL", a);
            churn(cluster, 60);
            await().until(() -> cluster.holder().equals("b"));
            cluster.awaitEqual();

            Process again = cluster.startProcess("c");
            await().until(() -> again.isAlive());
            signal("STOP", b);
            churn(cluster, 60);
            await().until(() -> cluster.holder().equals("c"));
            cluster.awaitEqual();
            signal("CONT", b);
            cluster.create(
                    shop,
                    "hostile",
                    IntStream.range(0, 20_000).mapToObj(i -> "h" + i).toArray(String[]::new));
            churn(cluster, 60);
            cluster.delete(shop, "hostile");
            cluster.awaitEqual();

            serverAway = true;
            server.apiServer().stop();
            churn(cluster, 5);
            server.apiServer().start();
            // a server that has just started refuses what it has not read yet
            await().ignoreExceptions().until(() -> cluster.operatorReads(shop, "honest"));
            serverAway = false;
            churn(cluster, 60);
            cluster.awaitEqual();
            assertThat(honestReads).isTrue();

            honestReads = false;
            cluster.removeDefinition();
            await().ignoreExceptions().until(() -> cluster.granted(shop).isEmpty());
            cluster.define();
            cluster.create(shop, "honest", "honest");
            churn(cluster, 20);
            cluster.awaitEqual();
            await().until(() -> cluster.operatorReads(shop, "honest"));

            watched.close();
            over = true;
            prober.get(60, TimeUnit.SECONDS);
            assertThat(violations).isEmpty();
            assertThat(canaries.violations()).isEmpty();
            assertThat(canaries.refused()).isGreaterThan(100);
        } finally {
            over = true;
            server.apiServer().start();
        }
    }
}
