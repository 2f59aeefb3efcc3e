package dev.podcache;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.sun.management.OperatingSystemMXBean;
import dev.podcache.manager.ChangeDetectionStrategy;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * What does it cost to watch hundreds of single objects of a real kube-apiserver, next to a fabric8 informer for each?
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.main=dev.podcache.ScaleRun -Dscale.parts=sync,latency,5000,memory
 * }</pre>
 *
 * <p>Prints a JSON object for each group of figures on standard output, and the same for people on standard error.
 * Needs the programs that kube-api-test keeps; takes some minutes. Everything is done twice: on a server with its own
 * limit of streams for each connection (v1.20: 250), and on one that is started with {@code
 * --http2-max-streams-per-connection=100}. Both contestants take turns, so that a noisy machine troubles both.
 *
 * <ul>
 *   <li><b>sync</b>: 600 Secrets, referred to by 110 pods. {@code syncMillis} counts from before the cache is built and
 *       the first pod registered, or the first informer made, until each object has been read. Round 1 on the first
 *       server is the first of the JVM for Podcache. {@code connections} are all established ones of this process to
 *       the server, less those before; requests by the caller's client are among them, and counted by the server as
 *       {@code getRequests}. {@code threads} live at the end and did not before, {@code mostThreads} is the peak.
 *       {@code heapBytesPerObject} is the growth of the used heap from before to the end, after full collections,
 *       divided by 600; what a contestant needs once is in it. Not in round 1, which loads classes.
 *   <li><b>latency</b>: with the 600 in place, 300 further pods with a further Secret each come, one by one, and stay:
 *       from before {@code registerPod} (or {@code inform()}) until {@code getObject} (or the store) has answered.
 *       Then 300 updates, one by one: until the new version is read, from before the update call and from its return
 *       (zero if it is there by then).
 *   <li><b>5000</b>: the same as sync, Podcache only, 5,000 Secrets and 900 pods.
 *   <li><b>memory</b>, on the first server only: 20,000 Secrets of which 600 are referred to: the heap of Podcache in
 *       both caching strategies, and of one informer on the namespace.
 * </ul>
 */
public final class ScaleRun {

    private static final int ROUNDS = 3;
    private static final int OBJECTS = 600;
    private static final int PODS = 110;
    private static final int SINGLES = 300;
    private static final int MANY = 5_000;
    private static final int MANY_PODS = 900;
    private static final int NAMESPACE = 20_000;

    private final JsonMapper json = new JsonMapper();
    private final Set<String> parts;
    private final ScaleCluster cluster;
    private final String limit;

    private final Map<String, Function<KubernetesClient, Contestant>> contestants = new LinkedHashMap<>();

    private ScaleRun(Set<String> parts, ScaleCluster cluster, String limit) {
        this.parts = parts;
        this.cluster = cluster;
        this.limit = limit;
        contestants.put("podcache", client -> new PodcacheContestant(client, ChangeDetectionStrategy.WATCH));
        contestants.put("informers", InformerContestant::new);
    }

    /** Runs the parts that the system property {@code scale.parts} names. */
    public static void main(String[] args) throws Exception {
        Set<String> parts = Set.copyOf(Arrays.asList(
                System.getProperty("scale.parts", "sync,latency,5000,memory").split(",")));
        try {
            measure(parts);
        } catch (IllegalStateException e) {
            // such as no kube-apiserver on this machine
            System.err.println("ScaleRun: " + e.getMessage());
            System.exit(1);
        }
        // threads of clients that were closed may live on for a minute
        System.exit(0);
    }

    private static void measure(Set<String> parts) throws Exception {
        try (ScaleCluster cluster = new ScaleCluster()) {
            ScaleRun run = new ScaleRun(parts, cluster, "default");
            run.run();
            if (parts.contains("memory")) {
                run.memory();
            }
        }
        try (ScaleCluster cluster = new ScaleCluster("--http2-max-streams-per-connection=100")) {
            new ScaleRun(parts, cluster, "100").run();
        }
    }

    private void run() throws Exception {
        if (parts.contains("sync")) {
            cluster.ensure(OBJECTS);
            for (int round = 1; round <= ROUNDS; round++) {
                for (String name : contestants.keySet()) {
                    sync(name, round, OBJECTS, PODS);
                }
            }
        }
        if (parts.contains("latency")) {
            cluster.ensure(OBJECTS + SINGLES);
            latency("podcache");
            latency("informers");
        }
        if (parts.contains("5000")) {
            cluster.ensure(MANY);
            for (int round = 1; round <= 2; round++) {
                sync("podcache", round, MANY, MANY_PODS);
            }
        }
    }

    private void sync(String name, int round, int objects, int pods) throws Exception {
        List<String> names = ScaleCluster.names(0, objects);
        var registered = ScaleCluster.pods(pods, names);
        KubernetesClient client = cluster.client();
        long gets = cluster.gets();
        long connections = cluster.connections();
        Footprint before = Footprint.now();
        long cpuBefore = processCpu();
        long start = System.nanoTime();
        try (Contestant contestant = contestants.get(name).apply(client)) {
            contestant.follow(registered, names);
            long took = System.nanoTime() - start;
            long cpu = processCpu() - cpuBefore;
            Map<String, Object> figures = figures("sync", name);
            figures.put("objects", objects);
            figures.put("round", round);
            figures.put("syncMillis", Latencies.rounded(took));
            figures.put("cpuMillis", Latencies.rounded(cpu));
            figures.put("connections", cluster.connections() - connections);
            figures.put("getRequests", cluster.gets() - gets);
            figures.put("threads", before.newThreads().size());
            figures.put("mostThreads", before.mostNewThreads());
            if (name.equals("podcache")) {
                figures.put("threadNames", before.newThreads());
            }
            if (round > 1) {
                figures.put("heapBytesPerObject", before.heapGrowth() / objects);
            }
            print(figures);
        }
        settle();
    }

    private void latency(String name) throws Exception {
        List<String> names = ScaleCluster.names(0, OBJECTS);
        try (Contestant contestant = contestants.get(name).apply(cluster.client());
                KubernetesClient admin = cluster.client()) {
            contestant.follow(ScaleCluster.pods(PODS, names), names);
            Latencies firstGets = new Latencies(SINGLES);
            for (String single : ScaleCluster.names(OBJECTS, OBJECTS + SINGLES)) {
                var pod = ScaleCluster.pod("p-" + single, List.of(single));
                long start = System.nanoTime();
                contestant.firstGet(pod, single);
                firstGets.add(System.nanoTime() - start);
            }
            Map<String, Object> figures = figures("latency", name);
            figures.put("firstGetMillis", firstGets.summary());
            updates(contestant, admin, figures);
            print(figures);
        }
        settle();
    }

    private void updates(Contestant contestant, KubernetesClient admin, Map<String, Object> figures) {
        Latencies fromStart = new Latencies(SINGLES);
        Latencies fromReturn = new Latencies(SINGLES);
        for (String each : ScaleCluster.names(0, SINGLES)) {
            Secret changed = cluster.secret(each);
            long start = System.nanoTime();
            String version = admin.resource(changed).update().getMetadata().getResourceVersion();
            long returned = System.nanoTime();
            boolean there = version.equals(versionOf(contestant, each));
            while (!version.equals(versionOf(contestant, each))) {
                Thread.yield();
            }
            long visible = System.nanoTime();
            fromStart.add(visible - start);
            fromReturn.add(there ? 0 : visible - returned);
        }
        figures.put("visibleAfterUpdateBeganMillis", fromStart.summary());
        figures.put("visibleAfterUpdateReturnedMillis", fromReturn.summary());
    }

    private static String versionOf(Contestant contestant, String name) {
        return contestant.read(name).getMetadata().getResourceVersion();
    }

    private void memory() throws Exception {
        cluster.ensure(NAMESPACE);
        List<String> names = ScaleCluster.names(0, OBJECTS);
        for (ChangeDetectionStrategy strategy : List.of(ChangeDetectionStrategy.WATCH, ChangeDetectionStrategy.CACHE)) {
            KubernetesClient client = cluster.client();
            Footprint before = Footprint.now();
            try (Contestant contestant = new PodcacheContestant(client, strategy)) {
                contestant.follow(ScaleCluster.pods(PODS, names), names);
                printHeap("podcache " + strategy, OBJECTS, before.heapGrowth());
            }
            settle();
        }
        try (KubernetesClient client = cluster.client()) {
            Footprint before = Footprint.now();
            try (SharedIndexInformer<Secret> informer =
                    client.secrets().inNamespace(ScaleCluster.NAMESPACE).inform()) {
                int held = informer.getStore().list().size();
                printHeap("informer on the namespace", held, before.heapGrowth());
            }
        }
        settle();
    }

    private void printHeap(String name, int held, long bytes) throws JsonProcessingException {
        Map<String, Object> figures = figures("memory", name);
        figures.put("objectsInNamespace", NAMESPACE);
        figures.put("objectsHeld", held);
        figures.put("heapBytes", bytes);
        figures.put("heapBytesPerObject", bytes / held);
        print(figures);
    }

    private Map<String, Object> figures(String part, String contestant) {
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("part", part);
        figures.put("contestant", contestant);
        figures.put("streamLimit", limit);
        return figures;
    }

    private void print(Map<String, Object> figures) throws JsonProcessingException {
        System.out.println(json.writeValueAsString(figures));
        StringBuilder line = new StringBuilder();
        figures.forEach(
                (name, value) -> line.append(name).append(' ').append(value).append("  "));
        System.err.println(line);
    }

    /** The processor time of this process, which a noisy machine lengthens less than it does the time that passes. */
    private static long processCpu() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    /** Gives the server time to notice who left. */
    private static void settle() throws InterruptedException {
        Thread.sleep(1_000);
    }
}
