package dev.podcache.kubelet.agent;

import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.report.Machine;
import dev.podcache.testing.Pods;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.Secrets;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;

/**
 * How long does a node agent take to notice a Secret? One agent of this process runs on a kube-apiserver, under each
 * strategy that caches.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.main=dev.podcache.kubelet.agent.NodeLatencyRun
 * }</pre>
 *
 * <p>Prints a table. Takes about six minutes. The argument is the number of rounds, at most 110; 100 if there is none.
 *
 * <ul>
 *   <li>Running: from the creation of the Secret that a pod waits for until the pod is Running at the server.
 *   <li>Mounted: from the update of the Secret of a running pod until the runtime is told to mount it.
 * </ul>
 *
 * <p>A round begins every 200 ms, whether or not the one before it has ended. The sync period is a minute. Under CACHE the
 * Node's annotation makes the TTL 5 s.
 */
public final class NodeLatencyRun {

    private static final int ROUNDS = 100;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long NANOS_PER_MILLI = 1_000_000;

    private final KubernetesClient client;
    private final NotifyingRuntime runtime;
    private final String node;
    private final int rounds;

    private NodeLatencyRun(KubernetesClient client, NotifyingRuntime runtime, String node, int rounds) {
        this.client = client;
        this.runtime = runtime;
        this.node = node;
        this.rounds = rounds;
    }

    /** Measures and prints. */
    public static void main(String[] args) throws Exception {
        int rounds = args.length == 0 ? ROUNDS : Integer.parseInt(args[0]);
        Machine machine = Machine.now();
        try (RealApiServer server = RealApiServer.start();
                KubernetesClient client = server.client()) {
            System.out.println(machine.sentence() + " kube-apiserver " + server.version() + ", " + rounds
                    + " rounds. Milliseconds.\n");
            System.out.println("| strategy | what | median | p99 | min | max |\n|---|---|---|---|---|---|");
            for (ChangeDetectionStrategy strategy :
                    new ChangeDetectionStrategy[] {ChangeDetectionStrategy.WATCH, ChangeDetectionStrategy.CACHE}) {
                measure(server, client, strategy, rounds);
            }
        }
        System.exit(0);
    }

    private static void measure(
            RealApiServer server, KubernetesClient client, ChangeDetectionStrategy strategy, int rounds)
            throws Exception {
        String node = server.createNamespaceLike(strategy.name().toLowerCase(Locale.ROOT));
        try (Timekeeper timekeeper = Timekeeper.system();
                KubernetesClient own = new KubernetesClientBuilder()
                        .withConfig(server.nodeConfig(node))
                        .build()) {
            NodeLatencyRun run = new NodeLatencyRun(client, new NotifyingRuntime(timekeeper), node, rounds);
            try (NodeAgent agent = NodeAgent.builder(own)
                    .node(node)
                    .runtime(run.runtime)
                    .strategy(strategy)
                    .withoutServer()
                    .build()) {
                agent.start();
                run.rows(strategy);
            }
        }
    }

    private void rows(ChangeDetectionStrategy strategy) throws Exception {
        await("the node is registered", () -> client.nodes().withName(node).get() != null);
        client.nodes().withName(node).edit(NodeLatencyRun::withTtl);
        for (int i = 0; i < rounds; i++) {
            client.resource(pod(i)).create();
        }
        await("all pods wait", () -> podsInState("Pending") == rounds);
        try (PodPhases phases = PodPhases.of(client, node)) {
            long[] running = latencies(this::createSecret, i -> phases.isRunning("web-" + i));
            System.out.println(row(strategy, "Running", running));
        }
        long[] mounted =
                latencies(this::updateSecret, i -> runtime.isMounted("web-" + i, "v-secret-" + i, "value", "two"));
        System.out.println(row(strategy, "Mounted", mounted));
    }

    private static Node withTtl(Node node) {
        return new NodeBuilder(node)
                .editMetadata()
                .addToAnnotations("node.alpha.kubernetes.io/ttl", "5")
                .endMetadata()
                .build();
    }

    private Pod pod(int i) {
        return new PodBuilder(Pods.withVolume(Pods.assigned(node, "web-" + i), "secret-" + i)
                        .build())
                .editMetadata()
                .withNamespace(node)
                .endMetadata()
                .editSpec()
                .withAutomountServiceAccountToken(false)
                .endSpec()
                .build();
    }

    private void createSecret(int i) {
        client.resource(Secrets.of(node, "secret-" + i, "one")).create();
    }

    private void updateSecret(int i) {
        client.resource(Secrets.of(node, "secret-" + i, "two")).update();
    }

    /** Returns how many pods the agent has looked at and reported in this phase. */
    private long podsInState(String phase) {
        return client.pods().inNamespace(node).list().getItems().stream()
                .map(Pod::getStatus)
                .filter(status -> phase.equals(status.getPhase())
                        && !status.getContainerStatuses().isEmpty())
                .count();
    }

    /** Begins a round every 200 ms, and looks every millisecond which rounds have ended. */
    private long[] latencies(IntConsumer begin, IntPredicate hasEnded) throws InterruptedException {
        long[] began = new long[rounds];
        long[] latencies = new long[rounds];
        int next = 0;
        int ended = 0;
        while (ended < rounds) {
            if (next < rounds && (next == 0 || System.nanoTime() - began[next - 1] >= PAUSE_NANOS)) {
                began[next] = System.nanoTime();
                begin.accept(next++);
            }
            for (int i = 0; i < next; i++) {
                if (latencies[i] == 0 && hasEnded.test(i)) {
                    latencies[i] = System.nanoTime() - began[i];
                    ended++;
                }
            }
            TimeUnit.MILLISECONDS.sleep(1);
        }
        Arrays.sort(latencies);
        return latencies;
    }

    private static String row(ChangeDetectionStrategy strategy, String what, long... sorted) {
        return "| %s | %s | %d | %d | %d | %d |"
                .formatted(
                        strategy,
                        what,
                        at(0.5, sorted) / NANOS_PER_MILLI,
                        at(0.99, sorted) / NANOS_PER_MILLI,
                        sorted[0] / NANOS_PER_MILLI,
                        at(1, sorted) / NANOS_PER_MILLI);
    }

    private static long at(double quantile, long... sorted) {
        return sorted[(int) Math.ceil(quantile * sorted.length) - 1];
    }

    private static void await(String what, BooleanSupplier condition) throws InterruptedException {
        long giveUp = System.nanoTime() + TimeUnit.MINUTES.toNanos(3);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > giveUp) {
                throw new IllegalStateException("gave up: " + what + " did not come true within 3 minutes");
            }
            TimeUnit.MILLISECONDS.sleep(50);
        }
    }
}
