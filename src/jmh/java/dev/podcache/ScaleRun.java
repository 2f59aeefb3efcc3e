package dev.podcache;

import com.sun.management.OperatingSystemMXBean;
import dev.podcache.testing.ServerMetrics;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What does it cost to watch hundreds of single objects of a real kube-apiserver, and what does it cost otherwise?
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.main=dev.podcache.ScaleRun -Dscale.parts=sync,latency,5000,memory
 * }</pre>
 *
 * <p>Writes JSON to the file that is its argument, or else to {@code target/scale.json}, and a line for each figure to
 * standard error. Needs the programs that kube-api-test keeps; takes some minutes. Runs on a server with its own limit
 * of streams for each connection (v1.20: 250), and again on one started with {@code
 * --http2-max-streams-per-connection=100}, there without the contestants that the limit does not affect. Contestants take
 * turns in each of the rounds, so that a noisy machine troubles all. Their number is 6, or system property {@code
 * scale.rounds}, of 5000 and memory 2 less; round 1 is the cold one.
 *
 * <ul>
 *   <li><b>sync</b>: 600 Secrets, referred to by 110 pods. {@code syncMillis} counts from before the cache is built and
 *       the first pod registered, or the first informer made, until each object has been read. {@code connections} are
 *       the established ones of this process to the server, less those before; requests by the caller's client are among
 *       them, and counted by the server as {@code getRequests}. {@code threads} live at the end and did not before,
 *       {@code mostThreads} is the peak. {@code heapBytesPerObject} is the growth of the used heap after full
 *       collections, divided by 600. What a contestant needs once is in it, but not the client that its user passes to
 *       it: that is opened before, encodes and decodes one Secret, and is {@code clientHeapBytes}. Neither is in
 *       round 1, which loads classes.
 *   <li><b>latency</b>, on the first server only: with the 600 in place, 300 further pods with a further Secret each come, one by one, and stay:
 *       from before {@code registerPod} (or {@code inform()}, or the GET) until the object is returned. Then 300 updates,
 *       one by one: until the new version is read, from before the update call and from its return (zero if it is there
 *       by then).
 *   <li><b>streamed</b>, only if asked for, on a server of 1.34 or newer: the same on a server with streamed lists, and
 *       for Podcache also on one without ({@code plain}), whose part of the 300 first gets is beside them: {@code
 *       listRequests}, {@code watches} and {@code serverCpuMillis}.
 *   <li><b>5000</b>: sync of 5,000 Secrets and 900 pods, Podcache only.
 *   <li><b>memory</b>, on the first server only: 20,000 Secrets of which 600 are referred to.
 * </ul>
 */
public final class ScaleRun {

    private static final int ROUNDS = Integer.getInteger("scale.rounds", 6);
    /** Of what takes long, and differs little from round to round. */
    private static final int FEWER_ROUNDS = Math.max(2, ROUNDS - 2);

    private static final int OBJECTS = 600;
    private static final int PODS = 110;
    private static final int SINGLES = 300;
    private static final int MANY = 5_000;
    private static final int MANY_PODS = 900;
    private static final int NAMESPACE = 20_000;

    private final Set<String> parts;
    private final ScaleFigures all;
    private final ScaleCluster cluster;
    private final String limit;
    private final String version;

    private ScaleRun(Set<String> parts, ScaleFigures all, ScaleCluster cluster, String limit) {
        this.parts = parts;
        this.all = all;
        this.cluster = cluster;
        this.limit = limit;
        this.version = cluster.version();
    }

    /** Runs the parts that the system property {@code scale.parts} names. */
    public static void main(String[] args) throws Exception {
        Set<String> parts = Set.copyOf(Arrays.asList(
                System.getProperty("scale.parts", "sync,latency,5000,memory").split(",")));
        try {
            measure(parts, new ScaleFigures(Path.of(args.length == 0 ? "target/scale.json" : args[0])));
        } catch (IllegalStateException e) {
            // such as no kube-apiserver on this machine
            System.err.println("ScaleRun: " + e.getMessage());
            System.exit(1);
        }
        // threads of clients that were closed may live on for a minute
        System.exit(0);
    }

    private static void measure(Set<String> parts, ScaleFigures all) throws Exception {
        try (ScaleCluster cluster = new ScaleCluster()) {
            ScaleRun run = new ScaleRun(parts, all, cluster, "default");
            run.sync(
                    ScaleContestants.PODCACHE_WATCH,
                    ScaleContestants.PODCACHE_NAMESPACE,
                    ScaleContestants.INFORMER_PER_OBJECT,
                    ScaleContestants.INFORMERS_TOGETHER,
                    ScaleContestants.INFORMERS_TOGETHER_OKHTTP,
                    ScaleContestants.NAMESPACE_INFORMER);
            run.latency(ScaleContestants.PODCACHE_WATCH, ScaleContestants.INFORMER_PER_OBJECT, ScaleContestants.GET);
            run.streamed();
            run.many();
            run.memory();
        }
        try (ScaleCluster cluster = new ScaleCluster("--http2-max-streams-per-connection=100")) {
            ScaleRun run = new ScaleRun(parts, all, cluster, "100");
            run.sync(ScaleContestants.PODCACHE_WATCH, ScaleContestants.INFORMER_PER_OBJECT);
            run.many();
        }
    }

    private void sync(ScaleContestants... contestants) throws Exception {
        if (parts.contains("sync")) {
            cluster.ensure(OBJECTS);
            for (int round = 1; round <= ROUNDS; round++) {
                for (ScaleContestants contestant : contestants) {
                    sync("sync", contestant, round, OBJECTS, PODS);
                }
            }
        }
    }

    private void many() throws Exception {
        if (parts.contains("5000")) {
            cluster.ensure(MANY);
            for (int round = 1; round <= FEWER_ROUNDS; round++) {
                sync("5000", ScaleContestants.PODCACHE_WATCH, round, MANY, MANY_PODS);
                sync("5000", ScaleContestants.PODCACHE_NAMESPACE, round, MANY, MANY_PODS);
            }
        }
    }

    private void memory() throws Exception {
        if (parts.contains("memory")) {
            cluster.ensure(NAMESPACE);
            for (int round = 1; round <= FEWER_ROUNDS; round++) {
                sync("memory", ScaleContestants.PODCACHE_WATCH, round, OBJECTS, PODS);
                sync("memory", ScaleContestants.PODCACHE_NAMESPACE, round, OBJECTS, PODS);
                sync("memory", ScaleContestants.PODCACHE_CACHE, round, OBJECTS, PODS);
                sync("memory", ScaleContestants.NAMESPACE_INFORMER, round, OBJECTS, PODS);
            }
        }
    }

    private void sync(String part, ScaleContestants by, int round, int objects, int pods) throws Exception {
        List<String> names = ScaleCluster.names(0, objects);
        var registered = ScaleCluster.pods(pods, names);
        long gets = cluster.gets();
        long connections = cluster.connections();
        Footprint before = Footprint.now();
        KubernetesClient client = by.client(cluster);
        encodeAndDecode(client);
        Footprint withClient = Footprint.now();
        long cpuBefore = processCpu();
        long start = System.nanoTime();
        try (Contestant contestant = by.open(client)) {
            contestant.follow(registered, names);
            long took = System.nanoTime() - start;
            long cpu = processCpu() - cpuBefore;
            Map<String, Object> figures = figures(part, by, round);
            figures.put("objects", objects);
            figures.put("syncMillis", Latencies.rounded(took));
            figures.put("cpuMillis", Latencies.rounded(cpu));
            figures.put("connections", cluster.connections() - connections);
            figures.put("getRequests", cluster.gets() - gets);
            figures.put("threads", before.newThreads());
            figures.put("mostThreads", before.mostNewThreads());
            if (round > 1) {
                long grown = withClient.heapGrowth();
                figures.put("heapBytes", grown);
                figures.put("heapBytesPerObject", grown / objects);
                figures.put("clientHeapBytes", withClient.heapBytesSince(before));
            }
            all.add(version, figures);
        }
        settle();
    }

    private void latency(ScaleContestants... contestants) throws Exception {
        if (parts.contains("latency")) {
            cluster.ensure(OBJECTS + SINGLES);
            for (int round = 1; round <= ROUNDS; round++) {
                for (ScaleContestants contestant : contestants) {
                    latency("latency", contestant, round);
                }
            }
        }
    }

    private void streamed() throws Exception {
        if (parts.contains("streamed")) {
            try (ScaleCluster withoutThem = new ScaleCluster("--feature-gates=WatchList=false")) {
                ScaleRun plain = new ScaleRun(parts, all, withoutThem, limit);
                cluster.ensure(OBJECTS + SINGLES);
                withoutThem.ensure(OBJECTS + SINGLES);
                for (int round = 1; round <= ROUNDS; round++) {
                    latency("streamed", ScaleContestants.PODCACHE_WATCH, round);
                    plain.latency("plain", ScaleContestants.PODCACHE_WATCH, round);
                    latency("streamed", ScaleContestants.INFORMER_PER_OBJECT, round);
                    latency("streamed", ScaleContestants.GET, round);
                }
            }
        }
    }

    private void latency(String part, ScaleContestants by, int round) throws Exception {
        List<String> names = ScaleCluster.names(0, OBJECTS);
        try (Contestant contestant = by.open(by.client(cluster));
                KubernetesClient admin = cluster.client()) {
            contestant.follow(ScaleCluster.pods(PODS, names), names);
            Latencies firstGets = new Latencies(SINGLES);
            ServerMetrics before = cluster.metrics();
            for (String single : ScaleCluster.names(OBJECTS, OBJECTS + SINGLES)) {
                var pod = ScaleCluster.pod("p-" + single, List.of(single));
                long start = System.nanoTime();
                contestant.firstGet(pod, single);
                firstGets.add(System.nanoTime() - start);
            }
            ServerMetrics after = cluster.metrics();
            Map<String, Object> figures = figures(part, by, round);
            firstGets.putInto(figures, "firstGet");
            figures.put("listRequests", after.requests("LIST", "secrets") - before.requests("LIST", "secrets"));
            figures.put("watches", after.openWatches("secrets") - before.openWatches("secrets"));
            figures.put(
                    "serverCpuMillis",
                    after.processCpu().minus(before.processCpu()).toMillis());
            if (by != ScaleContestants.GET) {
                updates(contestant, admin, figures);
            }
            all.add(version, figures);
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
        fromStart.putInto(figures, "visibleAfterUpdateBegan");
        fromReturn.putInto(figures, "visibleAfterUpdateReturned");
    }

    private static String versionOf(Contestant contestant, String name) {
        return contestant.read(name).getMetadata().getResourceVersion();
    }

    private Map<String, Object> figures(String part, ScaleContestants contestant, int round) {
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("part", part);
        figures.put("contestant", contestant.name());
        figures.put("streamLimit", limit);
        figures.put("round", round);
        return figures;
    }

    /** The processor time of this process, which a noisy machine lengthens less than it does the time that passes. */
    private static long processCpu() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    /** Has {@code client} learn the model class, as one that is in use has. */
    private static void encodeAndDecode(KubernetesClient client) {
        var serialization = client.getKubernetesSerialization();
        Secret unused = serialization.unmarshal(
                serialization.asJson(new SecretBuilder()
                        .withNewMetadata()
                        .endMetadata()
                        .addToData("key", "")
                        .build()),
                Secret.class);
    }

    /** Gives the server time to notice which connections ended. */
    private static void settle() throws InterruptedException {
        Thread.sleep(1_000);
    }
}
