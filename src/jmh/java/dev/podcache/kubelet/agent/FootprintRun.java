package dev.podcache.kubelet.agent;

import dev.podcache.report.Machine;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.ServerMetrics;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/**
 * What does one node agent cost as a process of its own? The executable jar runs {@code run} against a kube-apiserver.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.main=dev.podcache.kubelet.agent.FootprintRun
 * }</pre>
 *
 * <p>Prints a table with one row for the flags of {@link #FLAGS}, with and without a class-data archive, which a first
 * run makes. Takes about eight minutes. Needs Linux and the programs that kube-api-test keeps.
 *
 * <ul>
 *   <li>Ready: from the start of the process until the Node is Ready at the server; the median of nine starts, or of
 *       as many as the argument says.
 *   <li>The rest: idle under strategy WATCH with 110 pods that refer to 550 Secrets of 1.5 KB, a minute after all of them
 *       run, over two minutes. Resident memory is that at the end. Requests are those that were answered, watches left
 *       out.
 * </ul>
 */
public final class FootprintRun {

    private static final List<String> FLAGS = List.of(
            "-XX:+UseSerialGC",
            "-Xms16m",
            "-Xmx40m",
            "-Xmn2m",
            "-XX:MinHeapFreeRatio=5",
            "-XX:MaxHeapFreeRatio=10",
            "-XX:TieredStopAtLevel=1",
            "-XX:CompileThresholdScaling=10",
            "-Xss256k",
            "-XX:-UsePerfData",
            "-Dsun.reflect.inflationThreshold=2147483647",
            "-Dio.netty.allocator.maxOrder=5",
            "-XX:+UnlockDiagnosticVMOptions",
            "-XX:ArchiveRelocationMode=0");
    private static final String NODE = "footprint";
    private static final int PODS = 110;
    private static final int SECRETS_OF_A_POD = 5;
    private static final int PAYLOAD = 1_500;

    private final RealApiServer server;
    private final KubernetesClient client;
    private final Path archive;
    private final String kubeconfig;
    private final int starts;

    private FootprintRun(RealApiServer server, KubernetesClient client, Path archive, int starts) {
        this.server = server;
        this.client = client;
        this.archive = archive;
        this.kubeconfig = server.nodeKubeconfig(NODE).toString();
        this.starts = starts;
    }

    /** Measures and prints. */
    public static void main(String[] args) throws Exception {
        int starts = args.length == 0 ? 9 : Integer.parseInt(args[0]);
        Machine machine = Machine.now();
        Path folder = Files.createTempDirectory("podcache-footprint");
        try (RealApiServer server = RealApiServer.start();
                KubernetesClient client = server.client()) {
            FootprintRun run = new FootprintRun(server, client, folder.resolve("podcache.jsa"), starts);
            System.out.println(machine.sentence() + " kube-apiserver " + server.version() + ". Flags: "
                    + String.join(" ", FLAGS) + ".\n");
            System.out.println("| class-data archive | Ready, s, median (lowest to highest) | resident, MB | threads |"
                    + " CPU, % of a core | requests a minute |\n|---|---|---|---|---|---|");
            System.out.println(run.row("no", List.of()));
            run.makeArchive();
            System.out.println(run.row("yes", List.of("-XX:SharedArchiveFile=" + run.archive)));
        }
        System.exit(0);
    }

    private void makeArchive() throws Exception {
        Path classes = archive.resolveSibling("classes");
        awaitReady(List.of("-XX:DumpLoadedClassList=" + classes), Duration.ofSeconds(20));
        MeasuredProcess.makeArchive(FLAGS, classes, archive);
    }

    /** Returns how long a process took until its Node was Ready, in seconds. Ends it after it has run for {@code more}. */
    private double awaitReady(List<String> flags, Duration more) throws Exception {
        client.nodes().withName(NODE).delete();
        // a watch, because frequent requests would take the processor from the agent
        CompletableFuture<List<Node>> ready = client.nodes()
                .withName(NODE)
                .informOnCondition(nodes -> nodes.stream().anyMatch(FootprintRun::isReady));
        TimeUnit.SECONDS.sleep(1);
        long began = System.nanoTime();
        MeasuredProcess agent = start(flags);
        ready.get(3, TimeUnit.MINUTES);
        double seconds = (System.nanoTime() - began) * 1e-9;
        TimeUnit.NANOSECONDS.sleep(more.toNanos());
        agent.stop();
        return seconds;
    }

    private static boolean isReady(Node node) {
        return node.getStatus().getConditions().stream()
                .anyMatch(condition -> condition.getType().equals("Ready")
                        && condition.getStatus().equals("True"));
    }

    private String row(String label, List<String> flags) throws Exception {
        List<Double> seconds = new ArrayList<>();
        for (int i = 0; i < starts; i++) {
            seconds.add(awaitReady(flags, Duration.ofSeconds(1)));
        }
        seconds.sort(null);
        return String.format(
                        Locale.ROOT,
                        "| %s | %.2f (%.2f to %.2f) |",
                        label,
                        seconds.get(starts / 2),
                        seconds.get(0),
                        seconds.get(starts - 1))
                + idle(flags);
    }

    private String idle(List<String> flags) throws Exception {
        String namespace = server.createNamespaceLike("idle");
        for (int i = 0; i < PODS; i++) {
            client.resource(pod(namespace, i)).create();
        }
        MeasuredProcess agent = start(flags);
        try {
            await(
                    "all pods run",
                    () -> client.pods().inNamespace(namespace).list().getItems().stream()
                            .allMatch(pod -> "Running".equals(pod.getStatus().getPhase())));
            TimeUnit.MINUTES.sleep(1);
            long requests = requests();
            double cpu = MeasuredProcess.cpuSeconds(agent.pid());
            Duration over = Duration.ofMinutes(2);
            TimeUnit.NANOSECONDS.sleep(over.toNanos());
            double share = (MeasuredProcess.cpuSeconds(agent.pid()) - cpu) * 100 / over.toSeconds();
            return String.format(
                    Locale.ROOT,
                    " %.0f | %d | %.2f | %.0f |",
                    agent.resident() / 1024.0 / 1024.0,
                    agent.threads(),
                    share,
                    (requests() - requests) / 2.0);
        } finally {
            agent.stop();
            client.namespaces().withName(namespace).withGracePeriod(0).delete();
            client.pods().inNamespace(namespace).withGracePeriod(0).delete();
        }
    }

    private Pod pod(String namespace, int i) {
        List<String> secrets = IntStream.range(0, SECRETS_OF_A_POD)
                .mapToObj(s -> "secret-" + i + "-" + s)
                .toList();
        secrets.forEach(name -> client.resource(Secrets.of(namespace, name, "x".repeat(PAYLOAD)))
                .create());
        PodBuilder pod = new PodBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName("pod-" + i)
                .endMetadata()
                .withNewSpec()
                .withNodeName(NODE)
                .addNewContainer()
                .withName("main")
                .withImage("registry.example/main:1")
                .endContainer()
                .endSpec();
        for (String name : secrets) {
            pod.editSpec()
                    .editFirstContainer()
                    .addNewEnvFrom()
                    .withNewSecretRef(name, null)
                    .endEnvFrom()
                    .endContainer()
                    .endSpec();
        }
        return pod.build();
    }

    private MeasuredProcess start(List<String> more) throws IOException {
        List<String> flags = new ArrayList<>(FLAGS);
        flags.addAll(more);
        return MeasuredProcess.start(
                flags,
                List.of("run", "--hostname-override", NODE, "--kubeconfig", kubeconfig),
                ProcessBuilder.Redirect.DISCARD);
    }

    private static void await(String what, BooleanSupplier condition) throws Exception {
        long giveUp = System.nanoTime() + TimeUnit.MINUTES.toNanos(3);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > giveUp) {
                throw new IllegalStateException("gave up: " + what + " did not come true within 3 minutes");
            }
            TimeUnit.MILLISECONDS.sleep(10);
        }
    }

    /** Returns how many requests for what an agent uses the server has answered. */
    private long requests() {
        ServerMetrics metrics = server.metrics();
        long sum = 0;
        for (String resource : List.of("nodes", "leases", "pods", "secrets", "configmaps", "services", "events")) {
            for (String verb : List.of("GET", "LIST", "POST", "PUT", "PATCH", "DELETE")) {
                sum += metrics.requests(verb, resource);
            }
        }
        return sum;
    }
}
