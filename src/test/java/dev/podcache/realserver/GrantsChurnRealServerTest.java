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
import io.fabric8.kubernetes.api.model.rbac.RoleList;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.MixedOperation;
import io.fabric8.kubernetes.client.dsl.Resource;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * Two controllers as processes of their own beside owners that come and go: one is killed, one stands still for longer than
 * its Lease, an owner names far too much, the server goes away, a definition is removed. Meanwhile the honest owners
 * keep their access, and no Secret that no owner names is ever readable. The system property {@code grants.churn.minutes} has
 * all that come again and again for so long, with a hundred honest owners, and with the server away for 20 s each time.
 */
@RealServerTest
@Needs({ServerFeature.RBAC, ServerFeature.CUSTOM_RESOURCES, ServerFeature.VALIDATION})
@Slow
@Timeout(value = 1, unit = TimeUnit.HOURS)
class GrantsChurnRealServerTest {

    private static final Duration CHURN = Duration.ofMinutes(Integer.getInteger("grants.churn.minutes", 0));
    private static final Duration AWAY = CHURN.isZero() ? Duration.ZERO : Duration.ofSeconds(20);
    private static final int CANARIES = CHURN.isZero() ? 100 : 1_000;
    private static final int HONEST = CHURN.isZero() ? 10 : 100;
    private static final int NAMES = 8;

    @TempDir
    private Path folder;

    private final Random random = new Random(20_261_125);
    private final Queue<String> violations = new ConcurrentLinkedQueue<>();
    private final Map<String, Process> controllers = new HashMap<>();

    /** Versions of the Role: from the first to the second, the honest owners have access; from the third to the fourth; and so on. */
    private final List<Long> honestVersions = new ArrayList<>();

    private final NavigableMap<Long, Boolean> states =
            new ConcurrentSkipListMap<>(); // whether a version has all honest owners
    private volatile Watch watch = () -> {};
    private volatile boolean over;
    private volatile boolean serverAway;
    private volatile boolean honestReads;

    private static void signal(String signal, Process process) throws IOException, InterruptedException {
        assertThat(new ProcessBuilder("kill", "-" + signal, String.valueOf(process.pid()))
                        .start()
                        .waitFor())
                .isZero();
    }

    private String start(GrantsCluster cluster) throws IOException {
        String name = "c" + controllers.size();
        controllers.put(name, cluster.startProcess(name));
        return name;
    }

    private Process leader(GrantsCluster cluster) {
        await().ignoreExceptions().until(() -> controllers.get(cluster.holder()).isAlive());
        return controllers.get(cluster.holder());
    }

    private void awaitOther(GrantsCluster cluster, Process leader) {
        await().ignoreExceptions().until(() -> leader(cluster) != leader);
    }

    private static String honest(int number) {
        return "honest-" + number;
    }

    private void createHonest(GrantsCluster cluster) {
        for (int i = 0; i < HONEST; i++) {
            cluster.create(cluster.namespace(), honest(i), honest(i));
        }
        for (int i = 0; i < HONEST; i++) {
            String secret = honest(i);
            await().until(() -> cluster.operatorReads(cluster.namespace(), secret));
        }
        beginHonest(cluster);
    }

    private void probeHonest(GrantsCluster cluster, String secret) {
        boolean expected = honestReads;
        try {
            cluster.operator
                    .secrets()
                    .inNamespace(cluster.namespace())
                    .withName(secret)
                    .get();
        } catch (KubernetesClientException e) {
            if (e.getCode() == 403 && expected && honestReads && !serverAway) {
                violations.add("an honest owner's Secret was refused: " + cluster.granted(cluster.namespace()));
            }
        }
    }

    private static MixedOperation<Role, RoleList, Resource<Role>> roles(GrantsCluster cluster) {
        return cluster.admin.rbac().roles();
    }

    private static long versionOfRole(GrantsCluster cluster) {
        Role role = roles(cluster)
                .inNamespace(cluster.namespace())
                .withName(GrantsCluster.ROLE)
                .get();
        return Long.parseLong(role.getMetadata().getResourceVersion());
    }

    /** From now on, the honest owners have access. */
    private void beginHonest(GrantsCluster cluster) {
        long from = versionOfRole(cluster);
        honestVersions.add(from);
        honestReads = true;
    }

    /** From now on, they need not have access. */
    private void endHonest(GrantsCluster cluster) {
        honestReads = false;
        honestVersions.add(versionOfRole(cluster));
    }

    /** Looks at each state of the Role of the honest owners, not at samples. A state may be told of minutes later, after an outage. */
    private Watch watchHonest(GrantsCluster cluster) {
        Set<String> expected = new HashSet<>();
        IntStream.range(0, HONEST).forEach(i -> expected.add(honest(i)));
        return roles(cluster)
                .inNamespace(cluster.namespace())
                .withName(GrantsCluster.ROLE)
                .watch(new Watcher<>() {
                    @Override
                    public void eventReceived(Action action, Role role) {
                        Set<String> names = new HashSet<>();
                        // a kube-apiserver writes null for no rules
                        if (action != Action.DELETED && role.getRules() != null) {
                            role.getRules().forEach(rule -> names.addAll(rule.getResourceNames()));
                        }
                        states.put(
                                Long.parseLong(role.getMetadata().getResourceVersion()), names.containsAll(expected));
                    }

                    @Override
                    public void onClose(WatcherException cause) {
                        // its history was too old
                        watch = watchHonest(cluster);
                    }
                });
    }

    /** Adds a violation for each state without an honest owner that came between a begin and an end. */
    private void checkStates() {
        for (int i = 0; i < honestVersions.size(); i += 2) {
            states.subMap(honestVersions.get(i), true, honestVersions.get(i + 1), true)
                    .forEach((version, honest) -> {
                        if (!honest) {
                            violations.add("version " + version + " of the Role lacks an honest owner's Secret");
                        }
                    });
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

    private void leaderIsKilled_thenTheNextStandsStill(GrantsCluster cluster) throws Exception {
        churn(cluster, 60);
        cluster.awaitEqual();

        Process killed = leader(cluster);
        signal("KILL", killed);
        churn(cluster, 60);
        awaitOther(cluster, killed);
        cluster.awaitEqual();

        Process stopped = leader(cluster);
        String third = start(cluster);
        signal("STOP", stopped);
        churn(cluster, 60);
        await().until(() -> cluster.holder().equals(third));
        cluster.awaitEqual();
        signal("CONT", stopped);
    }

    private void hostileOwner_comesAndGoes(GrantsCluster cluster) {
        cluster.create(
                cluster.namespace(),
                "hostile",
                IntStream.range(0, 20_000).mapToObj(i -> "h" + i).toArray(String[]::new));
        churn(cluster, 60);
        await().ignoreExceptions()
                .until(() -> cluster.granted(cluster.namespace()).contains("h1,"));
        cluster.delete(cluster.namespace(), "hostile");
        cluster.awaitEqual();
    }

    private void serverGoesAway(GrantsCluster cluster) {
        serverAway = true;
        cluster.server.apiServer().stop();
        churn(cluster, 5);
        long end = System.nanoTime() + AWAY.toNanos();
        await().atMost(AWAY.plusMinutes(1)).until(() -> System.nanoTime() - end >= 0);
        cluster.server.apiServer().start();
        // a server that has just started refuses what it has not read yet
        for (int i = 0; i < HONEST; i++) {
            String secret = honest(i);
            await().ignoreExceptions().until(() -> cluster.operatorReads(cluster.namespace(), secret));
        }
        serverAway = false;
        churn(cluster, 60);
        cluster.awaitEqual();
    }

    private void definitionIsRemovedAndRestored(GrantsCluster cluster) {
        endHonest(cluster);
        cluster.removeDefinition();
        await().ignoreExceptions()
                .until(() -> cluster.granted(cluster.namespace()).isEmpty());
        cluster.define();
        createHonest(cluster);
        churn(cluster, 20);
        cluster.awaitEqual();
    }

    @Test
    void controllersThatDieAndStandStill_neverLoseAnHonestOwner_andNeverGrantACanary() throws Exception {
        RealApiServer server = RealApiServer.restartable();
        try (GrantsCluster cluster = new GrantsCluster(server, "Churned", 2, "", folder)) {
            long end = System.nanoTime() + CHURN.toNanos();
            for (String namespace : cluster.namespaces) {
                cluster.put(
                        namespace,
                        IntStream.range(0, NAMES).mapToObj(i -> "s" + i).toArray(String[]::new));
            }
            cluster.put(
                    cluster.namespace(),
                    IntStream.range(0, HONEST)
                            .mapToObj(GrantsChurnRealServerTest::honest)
                            .toArray(String[]::new));
            CanaryProbes canaries = new CanaryProbes(cluster, CANARIES);
            String first = start(cluster);
            await().until(() -> cluster.holder().equals(first));
            String unused = start(cluster);
            createHonest(cluster);
            watch = watchHonest(cluster);
            try {
                CompletableFuture<?> prober = CompletableFuture.runAsync(
                        () -> {
                            Random choices = new Random(7);
                            while (!over) {
                                canaries.probe(choices, () -> serverAway);
                                probeHonest(cluster, honest(choices.nextInt(HONEST)));
                            }
                        },
                        NewThread.EACH);
                do {
                    leaderIsKilled_thenTheNextStandsStill(cluster);
                    hostileOwner_comesAndGoes(cluster);
                    serverGoesAway(cluster);
                    definitionIsRemovedAndRestored(cluster);
                } while (System.nanoTime() - end < 0);
                endHonest(cluster);
                over = true;
                prober.get(60, TimeUnit.SECONDS);
                await().until(() -> states.lastKey() >= honestVersions.get(honestVersions.size() - 1));
            } finally {
                watch.close();
            }
            checkStates();
            LoggerFactory.getLogger(getClass())
                    .info(
                            "{} controllers in turn, {} requests refused, {} states of the Role",
                            controllers.size(),
                            canaries.refused(),
                            states.size());
            assertThat(violations).isEmpty();
            assertThat(canaries.violations()).isEmpty();
            assertThat(canaries.refused()).isGreaterThan(100);
        } finally {
            over = true;
            server.apiServer().start();
        }
    }
}
