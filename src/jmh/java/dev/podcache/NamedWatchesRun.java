package dev.podcache;

import dev.podcache.testing.ServerMetrics;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What do watches of single objects cost kube-apiserver, beside one watch of their namespace and beside an informer?
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.main=dev.podcache.NamedWatchesRun -Djmh.args="file=target/watches.json watches=0,100,500"
 * }</pre>
 *
 * <p>Arguments, each {@code name=value}:
 *
 * <ul>
 *   <li>{@code file}: where the JSON goes; {@code target/watches.json}
 *   <li>{@code watches}: how many Secrets are followed by name, in turn; {@code 0,1000,5000,10000}. The namespace always has
 *       as many as the last of them, which scope NAMESPACE and the informer follow too
 *   <li>{@code seconds}: how long the server is observed while nothing changes, and as long while Secrets change; 8
 *   <li>{@code updates}: how many of the followed Secrets change in a second; 100
 *   <li>{@code rounds}: how often all of it is done; 1
 *   <li>{@code kubeconfig}: of an administrator of another server. Without it, a server is started of the newest programs
 *       that kube-api-test keeps
 * </ul>
 *
 * <p>All figures of the server are its own, from {@code /metrics}: {@code process_resident_memory_bytes}, {@code
 * go_goroutines}, {@code process_cpu_seconds_total}. A server of ours is started anew for each line, because a process never
 * gives back all its memory; another one is not, so that its memory after many watches says nothing about fewer: follow the
 * lines downwards. The namespace {@code podcache-watches} is created, and deleted at the end.
 *
 * <p>{@code openCpuMillis} is the server's processor time from before the client until all Secrets are known, {@code
 * openMillis} what passed meanwhile. {@code idle...} and {@code busy...} are of the two times of observation, memory and
 * goroutines at their ends. The run fails if not every last version is seen within a minute.
 */
public final class NamedWatchesRun {

    private static final String NAMESPACE = "podcache-watches";
    private static final int WRITERS = 4;
    private static final Duration SETTLING = Duration.ofSeconds(3);
    private static final Duration SEEN_WITHIN = Duration.ofMinutes(1);

    private final ServerOfRun server;
    private final ScaleFigures all;
    private final ManySecrets secrets = new ManySecrets(NAMESPACE);
    private final Duration window;
    private final int updates;

    private NamedWatchesRun(ServerOfRun server, ScaleFigures all, Map<String, String> arguments) {
        this.server = server;
        this.all = all;
        this.window = Duration.ofSeconds(Integer.parseInt(arguments.get("seconds")));
        this.updates = Integer.parseInt(arguments.get("updates"));
    }

    /** See above. */
    public static void main(String[] args) throws Exception {
        Map<String, String> arguments = arguments(args);
        String kubeconfig = arguments.get("kubeconfig");
        try (ServerOfRun server = kubeconfig.isEmpty() ? ServerOfRun.own() : ServerOfRun.of(Path.of(kubeconfig))) {
            NamedWatchesRun run =
                    new NamedWatchesRun(server, new ScaleFigures(Path.of(arguments.get("file"))), arguments);
            run.measure(
                    Arrays.stream(arguments.get("watches").split(","))
                            .map(Integer::valueOf)
                            .toList(),
                    Integer.parseInt(arguments.get("rounds")));
        } catch (IllegalStateException e) {
            // such as no kube-apiserver on this machine
            System.err.println("NamedWatchesRun: " + e.getMessage());
            System.exit(1);
        }
        // threads of clients that were closed may live on for a minute
        System.exit(0);
    }

    private static Map<String, String> arguments(String... args) {
        Map<String, String> arguments = new LinkedHashMap<>(Map.of(
                "file", "target/watches.json",
                "watches", "0,1000,5000,10000",
                "seconds", "8",
                "updates", "100",
                "rounds", "1",
                "kubeconfig", ""));
        for (String each : args) {
            int equals = each.indexOf('=');
            String name = each.substring(0, Math.max(0, equals));
            if (arguments.replace(name, each.substring(equals + 1)) == null) {
                throw new IllegalArgumentException(
                        "\"" + each + "\" must be NAME=VALUE, with a name of " + new TreeMap<>(arguments).keySet());
            }
        }
        return arguments;
    }

    private void measure(List<Integer> counts, int rounds) throws Exception {
        HasMetadata namespace = server.admin()
                .resource(new NamespaceBuilder()
                        .withNewMetadata()
                        .withName(NAMESPACE)
                        .endMetadata()
                        .build())
                .create();
        try {
            int most = counts.stream().mapToInt(Integer::intValue).max().orElse(0);
            secrets.create(server.admin(), ScaleCluster.names(0, most));
            for (int round = 1; round <= rounds; round++) {
                for (int count : counts) {
                    measure(count == 0 ? WatchArrangement.NONE : WatchArrangement.OBJECT, namespace, count, round);
                }
                measure(WatchArrangement.NAMESPACE, namespace, most, round);
                measure(WatchArrangement.INFORMER, namespace, most, round);
            }
        } finally {
            server.admin().resource(namespace).delete();
        }
    }

    private void measure(WatchArrangement by, HasMetadata namespace, int count, int round) throws Exception {
        server.renew();
        Thread.sleep(SETTLING.toMillis());
        List<String> names = ScaleCluster.names(0, count);
        ServerMetrics before = server.metrics();
        long start = System.nanoTime();
        try (WatchArrangement.FollowedSecrets followed = by.open(server.client(), namespace, names)) {
            long took = System.nanoTime() - start;
            ServerMetrics open = server.metrics();
            Thread.sleep(SETTLING.toMillis());

            ServerMetrics idleFrom = server.metrics();
            Thread.sleep(window.toMillis());
            ServerMetrics idle = server.metrics();

            long busyStart = System.nanoTime();
            // without watches, the same updates are what the others are compared with
            Map<String, String> last = update(by == WatchArrangement.NONE ? ScaleCluster.names(0, updates) : names);
            double busySeconds = (System.nanoTime() - busyStart) / 1e9;
            ServerMetrics busy = server.metrics();
            if (by != WatchArrangement.NONE) {
                awaitSeen(followed, last);
            }

            Map<String, Object> figures = new LinkedHashMap<>();
            figures.put("part", Integer.toString(count));
            figures.put("contestant", by.name());
            figures.put("streamLimit", "default");
            figures.put("round", round);
            figures.put("serverAnew", server.isOwn());
            figures.put("openWatches", idle.openWatchesInNamespaces("secrets"));
            figures.put("openMillis", Latencies.rounded(took));
            figures.put("openCpuMillis", cpu(before, open));
            figures.put("idleResidentBytes", idle.residentMemory());
            figures.put("idleGoroutines", idle.goroutines());
            figures.put("idleCores", perSecond(cpu(idleFrom, idle), window.toSeconds()));
            figures.put("updatesPerSecond", Math.round(window.toSeconds() * updates / busySeconds));
            figures.put("busyResidentBytes", busy.residentMemory());
            figures.put("busyCores", perSecond(cpu(idle, busy), busySeconds));
            all.add(server.version().text(), figures);
        }
    }

    private static long cpu(ServerMetrics from, ServerMetrics to) {
        return to.processCpu().minus(from.processCpu()).toMillis();
    }

    /** Processors in use, with three digits after the point. */
    private static double perSecond(long cpuMillis, double seconds) {
        return Math.round(cpuMillis / seconds) / 1e3;
    }

    /** Changes Secrets at the wanted rate, and returns the last version of each that was changed. */
    private Map<String, String> update(List<String> names) throws Exception {
        Map<String, String> last = new ConcurrentHashMap<>();
        long total = window.toSeconds() * updates;
        ExecutorService writers = Executors.newFixedThreadPool(WRITERS);
        try (KubernetesClient client = server.client()) {
            long start = System.nanoTime();
            List<Future<?>> ends = new ArrayList<>();
            for (int writer = 0; writer < WRITERS; writer++) {
                int first = writer;
                // one writer for each name, so that its versions come in order
                List<String> own = IntStream.range(0, names.size())
                        .filter(i -> i % WRITERS == first)
                        .mapToObj(names::get)
                        .toList();
                ends.add(writers.submit(() -> {
                    for (long i = 0; i < total / WRITERS && !own.isEmpty(); i++) {
                        sleepUntil(start + (i * WRITERS + first) * 1_000_000_000L / updates);
                        // spread over all of them
                        String name = own.get((int) (i * 7_919 % own.size()));
                        last.put(
                                name,
                                client.resource(secrets.secret(name))
                                        .update()
                                        .getMetadata()
                                        .getResourceVersion());
                    }
                    return null;
                }));
            }
            for (Future<?> end : ends) {
                end.get();
            }
        } finally {
            writers.shutdown();
        }
        return last;
    }

    private static void sleepUntil(long nanoTime) throws InterruptedException {
        long millis = (nanoTime - System.nanoTime()) / 1_000_000;
        if (millis > 0) {
            Thread.sleep(millis);
        }
    }

    private static void awaitSeen(WatchArrangement.FollowedSecrets followed, Map<String, String> last)
            throws InterruptedException {
        long deadline = System.nanoTime() + SEEN_WITHIN.toNanos();
        List<String> unseen = unseen(followed, last);
        while (!unseen.isEmpty()) {
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException(unseen.size() + " updates were not seen within "
                        + SEEN_WITHIN.toSeconds() + " s, such as that of " + unseen.get(0));
            }
            Thread.sleep(100);
            unseen = unseen(followed, last);
        }
    }

    private static List<String> unseen(WatchArrangement.FollowedSecrets followed, Map<String, String> last) {
        return last.entrySet().stream()
                .filter(each -> !each.getValue().equals(followed.version(each.getKey())))
                .map(Map.Entry::getKey)
                .collect(Collectors.toList());
    }
}
