package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.cli.output.CapturedConsole;
import dev.podcache.testing.Needs;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.ServerFeature;
import dev.podcache.testing.Slow;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watch;
import java.io.BufferedReader;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Grants beside many owners that come and go. System properties make it longer: {@code grants.seconds} of load in each part
 * (1), {@code grants.kills} of the controller (1), {@code grants.owners} (200). It prints its figures into the log of the test.
 */
@RealServerTest
@Needs({ServerFeature.RBAC, ServerFeature.CUSTOM_RESOURCES, ServerFeature.VALIDATION})
@Slow
@Timeout(value = 1, unit = TimeUnit.HOURS)
class GrantsLoadRealServerTest {

    private static final Duration LOAD = Duration.ofSeconds(Integer.getInteger("grants.seconds", 1));
    private static final int KILLS = Integer.getInteger("grants.kills", 1);
    private static final int OWNERS = Integer.getInteger("grants.owners", 200);
    private static final int CANARIES = 1_000;

    /** How long a new reference may be refused on a machine that does other things too. The goal is in GrantsRun. */
    private static final Duration LONGEST_REFUSAL = Duration.ofSeconds(10);

    private static final int THREADS = 4;

    @TempDir
    private Path folder;

    private final List<CompletableFuture<?>> tasks = new ArrayList<>();
    private volatile boolean over;

    /** Runs a step again and again until the test is over. */
    private void repeat(Runnable step) {
        tasks.add(CompletableFuture.runAsync(
                () -> {
                    while (!over) {
                        step.run();
                    }
                },
                NewThread.EACH));
    }

    private void endTasks() throws Exception {
        over = true;
        for (CompletableFuture<?> task : tasks) {
            task.get(60, TimeUnit.SECONDS);
        }
    }

    private static void goOnFor(Duration time) {
        long end = System.nanoTime() + time.toNanos();
        await().atMost(time.plusMinutes(1)).until(() -> System.nanoTime() - end >= 0);
    }

    private static void inParallel(int count, IntConsumer task) {
        CompletableFuture.allOf(IntStream.range(0, THREADS)
                        .mapToObj(thread -> CompletableFuture.runAsync(
                                () -> IntStream.range(0, count)
                                        .filter(number -> number % THREADS == thread)
                                        .forEach(task),
                                NewThread.EACH))
                        .toArray(CompletableFuture[]::new))
                .join();
    }

    /** An owner of a thread's own appears, changes or goes. */
    private static void churn(GrantsCluster cluster, int thread, Random random) {
        int number = random.nextInt(OWNERS / THREADS) * THREADS + thread;
        String namespace = cluster.namespaces.get(number % cluster.namespaces.size());
        if (random.nextInt(4) == 0) {
            cluster.delete(namespace, "o" + number);
        } else {
            List<String> names = random.ints(random.nextInt(5), 0, OWNERS / 2)
                    .mapToObj(name -> "s" + name)
                    .toList();
            cluster.admin
                    .resource(cluster.owner(namespace, "o" + number, names))
                    .createOr(existing -> existing.update());
        }
    }

    /** Waits until the leader has written about each Role. */
    private static void awaitWrites(GrantsCluster cluster, CanaryProbes canaries) {
        int before = canaries.roles();
        await().until(() -> canaries.roles() > before + cluster.namespaces.size());
    }

    @Test
    void controllerKilledInAChurn_isFollowed_rolesBecomeExact_andNoCanaryIsEverReadable() throws Exception {
        try (GrantsCluster cluster = new GrantsCluster(RealApiServer.shared(), "Loaded", 3, "", folder)) {
            CanaryProbes canaries = new CanaryProbes(cluster, CANARIES);
            List<Watch> watches =
                    cluster.namespaces.stream().map(canaries::watchRoles).toList();
            Process leader = cluster.startProcess("p0");
            inParallel(
                    OWNERS,
                    number -> cluster.create(
                            cluster.namespaces.get(number % cluster.namespaces.size()),
                            "o" + number,
                            "s" + number / 2));
            await().until(() -> cluster.holder().equals("p0"));
            AtomicInteger changes = new AtomicInteger();
            for (int thread = 0; thread < THREADS; thread++) {
                int mine = thread;
                Random random = new Random(thread);
                repeat(() -> {
                    churn(cluster, mine, random);
                    changes.incrementAndGet();
                });
            }
            Random choices = new Random(7);
            repeat(() -> canaries.probe(choices, () -> false));
            for (int kill = 1; kill <= KILLS; kill++) {
                goOnFor(LOAD);
                awaitWrites(cluster, canaries);
                assertThat(leader.isAlive()).as("the controller runs").isTrue();
                // SIGKILL, while owners change and a write may be under way
                leader.destroyForcibly();
                String next = "p" + kill;
                leader = cluster.startProcess(next);
                await().until(() -> cluster.holder().equals(next));
                goOnFor(LOAD);
            }
            awaitWrites(cluster, canaries);
            endTasks();

            cluster.awaitEqual();
            watches.forEach(Watch::close);
            System.out.printf(
                    "churn: %d changes of %d owners in %d namespaces, %d kills; %d states of Roles, %d reads of %d canaries"
                            + " refused%n",
                    changes.get(),
                    OWNERS,
                    cluster.namespaces.size(),
                    KILLS,
                    canaries.roles(),
                    canaries.refused(),
                    CANARIES);
            assertThat(canaries.violations()).isEmpty();
            assertThat(canaries.refused()).isGreaterThan(50);
            assertThat(changes).hasValueGreaterThan(50);
        } finally {
            over = true;
        }
    }

    /** Returns what an operator in a process of its own reads, which is killed then. */
    private static List<String> readAndKilled(GrantsCluster cluster, Duration firstSync, String... secrets)
            throws Exception {
        Process operator = GrantedOperatorProgram.start(
                cluster.server.kubeconfigFor("operator-" + cluster.namespace()),
                cluster.namespace(),
                firstSync,
                secrets);
        try (BufferedReader lines = operator.inputReader()) {
            List<String> read = new ArrayList<>();
            while (read.size() < secrets.length) {
                String line = lines.readLine();
                assertThat(line).as("a line after %s", read).isNotNull();
                read.add(line);
            }
            return read;
        } finally {
            // SIGKILL
            operator.destroyForcibly().waitFor();
        }
    }

    @Test
    void operatorAndControllerKilledInAChurn_operatorReadsWhatIsNamedThen_andNothingElse() throws Exception {
        Duration aTakeover = Duration.ofMinutes(2);
        try (GrantsCluster cluster = new GrantsCluster(RealApiServer.shared(), "Killed", 2, "", folder)) {
            String shop = cluster.namespace();
            cluster.put(shop, "kept", "ended", "begun");
            cluster.create(shop, "keeps", "kept");
            cluster.create(shop, "ends", "ended");
            Process leader = cluster.startProcess("p0");
            Random random = new Random(1);
            repeat(() -> churn(cluster, 0, random));
            assertThat(readAndKilled(cluster, aTakeover, "kept", "ended")).containsExactly("kept read", "ended read");
            leader.destroyForcibly().waitFor();

            cluster.delete(shop, "ends");
            cluster.create(shop, "begins", "begun");
            assertThat(readAndKilled(cluster, aTakeover, "kept")).containsExactly("kept read");
            cluster.startProcess("p1");
            assertThat(readAndKilled(cluster, aTakeover, "begun", "kept")).containsExactly("begun read", "kept read");

            endTasks();
            cluster.awaitEqual();
            await().until(() -> !cluster.operatorReads(shop, "ended"));
            assertThat(readAndKilled(cluster, Duration.ofSeconds(5), "ended")).containsExactly("ended FORBIDDEN");
        } finally {
            over = true;
        }
    }

    /** The reads of an operator, and how long each Secret was refused. */
    private static final class OperatorReads {

        final Map<String, Long> refusedSince = new ConcurrentHashMap<>();
        final Queue<Long> refusals = new ConcurrentLinkedQueue<>(); // nanoseconds
        final AtomicInteger reads = new AtomicInteger();
        final Queue<String> referenced = new ConcurrentLinkedQueue<>();
        private final GrantsCluster cluster;

        OperatorReads(GrantsCluster cluster) {
            this.cluster = cluster;
        }

        /** Returns whether it was allowed. */
        boolean read(String secret) {
            long now = System.nanoTime();
            try {
                assertThat(cluster.operator
                                .secrets()
                                .inNamespace(cluster.namespace())
                                .withName(secret)
                                .get())
                        .isNotNull();
                reads.incrementAndGet();
                Long since = refusedSince.remove(secret);
                if (since != null) {
                    refusals.add(System.nanoTime() - since);
                }
                return true;
            } catch (KubernetesClientException e) {
                assertThat(e.getCode()).isEqualTo(403);
                refusedSince.putIfAbsent(secret, now);
                return false;
            }
        }
    }

    @Test
    void broadRoleThatGoesAndComesBack_underLoad_failsNoReadOfWhatWasNamed_andLittleOfWhatIsNew() throws Exception {
        try (GrantsCluster cluster = new GrantsCluster(RealApiServer.shared(), "Moved", 1, "", folder)) {
            String shop = cluster.namespace();
            RealApiServer server = cluster.server;
            inParallel(OWNERS, number -> {
                cluster.put(shop, "s" + number);
                cluster.create(shop, "o" + number, "s" + number);
            });
            cluster.put(shop, "canary");
            server.kubectl(
                    "--namespace=" + shop, "create", "role", "broad", "--verb=get,list,watch", "--resource=secrets");
            bindBroad(server, shop);
            await().until(() -> cluster.operatorReads(shop, "canary"));

            OperatorReads old = new OperatorReads(cluster);
            IntStream.range(0, OWNERS).forEach(number -> old.referenced.add("s" + number));
            List<String> before = List.copyOf(old.referenced);
            for (int thread = 0; thread < 2; thread++) {
                Random random = new Random(thread);
                repeat(() -> old.read(before.get(random.nextInt(before.size()))));
            }
            OperatorReads fresh = new OperatorReads(cluster);
            AtomicInteger created = new AtomicInteger();
            repeat(() -> {
                String name = "new" + created.incrementAndGet();
                cluster.put(shop, name);
                cluster.create(shop, name, name);
                long begun = System.nanoTime();
                while (!fresh.read(name)) {
                    assertThat(System.nanoTime() - begun)
                            .as("nanoseconds for which %s is refused", name)
                            .isLessThan(LONGEST_REFUSAL.toNanos());
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
                }
                cluster.delete(shop, name);
            });

            goOnFor(LOAD);
            cluster.startProcess("p0");
            await().until(() -> cluster.holder().equals("p0"));
            await().until(() -> doctor(cluster).contains("the broad Role may go: RoleBinding " + shop + "/broad"));
            int whileBroad = fresh.reads.get();
            assertThat(fresh.refusals)
                    .as("refusals while the broad Role is bound")
                    .isEmpty();
            server.kubectl("--namespace=" + shop, "delete", "rolebinding", "broad");
            await().until(() -> !cluster.operatorReads(shop, "canary"));
            goOnFor(LOAD);
            await().until(() -> fresh.reads.get() > whileBroad + 3);
            assertThat(old.refusedSince).isEmpty();

            // the way back is one command
            bindBroad(server, shop);
            await().until(() -> cluster.operatorReads(shop, "canary"));
            goOnFor(LOAD);
            endTasks();

            List<Long> refusals = fresh.refusals.stream().sorted().toList();
            System.out.printf(
                    "move: %d reads of %d Secrets that were named, none refused; %d new ones, of which %d were refused at"
                            + " first, for a median of %d ms and at most %d ms%n",
                    old.reads.get(),
                    OWNERS,
                    created.get(),
                    refusals.size(),
                    millis(refusals, refusals.size() / 2),
                    millis(refusals, refusals.size() - 1));
            assertThat(old.refusals).as("refusals of what was named before").isEmpty();
            assertThat(old.refusedSince).isEmpty();
            assertThat(fresh.refusedSince).isEmpty();
            assertThat(refusals)
                    .as("new ones that had to be granted")
                    .isNotEmpty()
                    .allSatisfy(nanos -> assertThat(nanos).isLessThan(LONGEST_REFUSAL.toNanos()));
            assertThat(old.reads).hasValueGreaterThan(OWNERS);
        } finally {
            over = true;
        }
    }

    private static long millis(List<Long> nanos, int index) {
        return index < 0 || index >= nanos.size() ? 0 : TimeUnit.NANOSECONDS.toMillis(nanos.get(index));
    }

    private static void bindBroad(RealApiServer server, String namespace) {
        server.kubectl(
                "--namespace=" + namespace,
                "create",
                "rolebinding",
                "broad",
                "--role=broad",
                "--user=operator-" + namespace);
    }

    private String doctor(GrantsCluster cluster) {
        CapturedConsole console = new CapturedConsole(folder);
        console.execute(
                "doctor",
                "--grants",
                cluster.policyFile.toString(),
                "--kubeconfig",
                cluster.server.kubeconfig().toString());
        return String.join("\n", console.out());
    }
}
