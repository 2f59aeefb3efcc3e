package dev.podcache.cli.hollow;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.kubelet.agent.HollowTemplate;
import dev.podcache.kubelet.agent.MeasuredProcess;
import dev.podcache.report.Machine;
import dev.podcache.testing.RealApiServer;
import io.fabric8.kubernetes.api.model.ListOptions;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.Watch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * How many hollow nodes does one machine carry beside a kube-apiserver and its etcd? The executable jar runs
 * {@code hollow} as a process of its own.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.main=dev.podcache.cli.hollow.HollowLoadRun -Djmh.args="5000 2 60"
 * }</pre>
 *
 * <p>The arguments are the number of nodes, the pods of each node, and for how many minutes all of them run. First all
 * nodes register. Then the pods are created, each with a Secret. Then nothing happens but what nodes do by themselves: a
 * line every five minutes. Needs Linux and the programs that kube-api-test keeps.
 *
 * <ul>
 *   <li>CPU is the processor time since the line before.
 *   <li>Heap is that after a full collection; at the end it is divided by the number of nodes.
 *   <li>Renewals are those that a watch of the Leases saw. A renewal is late if it comes more than 15 s after the one
 *       before.
 * </ul>
 */
public final class HollowLoadRun {

    private static final List<String> FLAGS = List.of("-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");
    private static final int LINE_MINUTES = 5;
    private static final double KIB = 1024;

    private final RealApiServer server;
    private final KubernetesClient client;
    private final MeasuredProcess hollow;
    private final Path output;
    private final LeaseIntervals leases = new LeaseIntervals();
    private final ObjectMapper json = new ObjectMapper();
    private final long[] pids;
    private final double[] cpu;
    private final int nodes;
    private final long began = System.nanoTime();

    private HollowLoadRun(RealApiServer server, KubernetesClient client, int nodes, Path output) throws IOException {
        this.server = server;
        this.client = client;
        this.nodes = nodes;
        this.output = output;
        String kubeconfig = server.kubeconfig().toString();
        hollow = MeasuredProcess.start(
                FLAGS,
                List.of(
                        "hollow",
                        "--kubeconfig",
                        kubeconfig,
                        "--nodes",
                        "" + nodes,
                        "--strategy",
                        "Cache",
                        "--keep",
                        "-o",
                        "json"),
                ProcessBuilder.Redirect.to(output.toFile()));
        pids = new long[] {hollow.pid(), server.apiServer().pid(), server.etcd().pid()};
        cpu = new double[pids.length];
        for (int i = 1; i < pids.length; i++) {
            cpu[i] = MeasuredProcess.cpuSeconds(pids[i]);
        }
    }

    /** Measures and prints. */
    public static void main(String[] args) throws Exception {
        int nodes = Integer.parseInt(args[0]);
        int podsPerNode = Integer.parseInt(args[1]);
        int minutes = Integer.parseInt(args[2]);
        Machine machine = Machine.now();
        try (RealApiServer server = RealApiServer.start();
                KubernetesClient client = server.client()) {
            System.out.println(machine.sentence() + " kube-apiserver " + server.version() + ", " + nodes + " nodes, "
                    + nodes * podsPerNode + " pods. " + String.join(" ", FLAGS) + "\n");
            System.out.println("| after | s | CPU, s: hollow | kube-apiserver | etcd | share of hollow, % | threads"
                    + " | heap, MB | renewals | longest interval, s | late |");
            System.out.println("|---|---|---|---|---|---|---|---|---|---|---|");
            HollowLoadRun run =
                    new HollowLoadRun(server, client, nodes, Files.createTempFile("podcache-hollow", ".jsonl"));
            try {
                run.measure(podsPerNode, minutes);
            } finally {
                run.hollow.stop();
                Files.delete(run.output);
            }
        }
        System.exit(0);
    }

    private void measure(int podsPerNode, int minutes) throws Exception {
        await("nodesReady", nodes);
        line("all nodes are Ready");
        String namespace = server.createNamespaceLike("load");
        try (Fabric8ApiServer creator = Fabric8ApiServer.of(client, RequestLimit.UNLIMITED);
                HollowLoad load = new HollowLoad(creator, namespace, new HollowTemplate(), nodes, podsPerNode)) {
            long podsBegan = System.nanoTime();
            load.start();
            await("podsRunning", (long) nodes * podsPerNode);
            awaitRunningAtServer(namespace);
            line("all pods run, %.0f s after the first was created".formatted(seconds(podsBegan)));
        }
        Watch watch = client.leases().inNamespace("kube-node-lease").watch(leases);
        for (int i = LINE_MINUTES; i <= minutes; i += LINE_MINUTES) {
            TimeUnit.MINUTES.sleep(LINE_MINUTES);
            line(LINE_MINUTES + " minutes");
        }
        watch.close();
        System.out.printf(Locale.ROOT, "%nHeap of a node: %.0f KB%n", hollow.heapAfterCollection() / KIB / nodes);
    }

    /** Waits until the API server, too, has all pods as Running. */
    private void awaitRunningAtServer(String namespace) throws InterruptedException {
        while (!notRunning(namespace).isEmpty()) {
            TimeUnit.SECONDS.sleep(1);
        }
    }

    private List<Pod> notRunning(String namespace) {
        ListOptions fromCache =
                new ListOptionsBuilder().withResourceVersion("0").build();
        return client.pods()
                .inNamespace(namespace)
                .withoutField("status.phase", "Running")
                .list(fromCache)
                .getItems();
    }

    /** Waits until the last progress of the process has this number. */
    private void await(String fact, long expected) throws IOException, InterruptedException {
        while (progress(fact) < expected) {
            if (!hollow.isAlive()) {
                throw new IllegalStateException("podcache hollow ended: " + Files.readString(output));
            }
            TimeUnit.MILLISECONDS.sleep(200);
        }
    }

    private long progress(String fact) throws IOException {
        long last = 0;
        for (String line : Files.readAllLines(output)) {
            if (line.endsWith("}")) {
                JsonNode number = json.readTree(line).findValue(fact);
                last = number == null ? last : number.asLong();
            }
        }
        return last;
    }

    private void line(String what) throws IOException, InterruptedException {
        double[] used = new double[pids.length];
        double all = 0;
        for (int i = 0; i < pids.length; i++) {
            double now = MeasuredProcess.cpuSeconds(pids[i]);
            used[i] = now - cpu[i];
            cpu[i] = now;
            all += used[i];
        }
        System.out.printf(
                Locale.ROOT,
                "| %s | %.0f | %.0f | %.0f | %.0f | %.0f | %d | %.0f |%s%n",
                what,
                seconds(began),
                used[0],
                used[1],
                used[2],
                used[0] * 100 / all,
                hollow.threads(),
                hollow.heapAfterCollection() / KIB / KIB,
                leases.cells());
    }

    private static double seconds(long began) {
        return (System.nanoTime() - began) * 1e-9;
    }
}
