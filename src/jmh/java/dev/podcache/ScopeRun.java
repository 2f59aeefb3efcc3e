package dev.podcache;

import com.sun.management.OperatingSystemMXBean;
import dev.podcache.manager.WatchScope;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.Referrer;
import dev.podcache.testing.RealApiServer;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * What do the two scopes of strategy WATCH cost, for objects in many namespaces of a real kube-apiserver of which only a
 * part is referred to?
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.main=dev.podcache.ScopeRun -Dscope.namespaces=50 -Dscope.objects=400 -Dscope.referenced=100
 * }</pre>
 *
 * <p>Writes JSON to the file that is its argument, or else to {@code target/scope.json}, and a line for each figure to
 * standard error. The three properties are the number of namespaces, of Secrets in each, and of those that are referred
 * to; above are their defaults. {@code syncMillis} counts from before the cache is built until each referenced object has
 * been read; {@code updateMillis} counts from before every Secret of one namespace is changed until all that are referred
 * to are seen. {@code watches} and {@code lists} are the server's own figures. {@code heapBytes} is the growth of the used
 * heap after full collections, not in round 1, which loads classes.
 */
public final class ScopeRun {

    private static final int NAMESPACES = Integer.getInteger("scope.namespaces", 50);
    private static final int OBJECTS = Integer.getInteger("scope.objects", 400);
    private static final int REFERENCED = Integer.getInteger("scope.referenced", 100);
    private static final int ROUNDS = Integer.getInteger("scope.rounds", 3);
    private static final int CREATORS = 8;
    private static final int PAYLOAD = 1_500;
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final RealApiServer server;
    private final ScaleFigures all;
    private final Random random = new Random(1);

    private ScopeRun(RealApiServer server, ScaleFigures all) {
        this.server = server;
        this.all = all;
    }

    /** Runs both scopes in turns. */
    public static void main(String[] args) throws Exception {
        try (RealApiServer server = RealApiServer.start()) {
            ScopeRun run =
                    new ScopeRun(server, new ScaleFigures(Path.of(args.length == 0 ? "target/scope.json" : args[0])));
            run.create();
            for (int round = 1; round <= ROUNDS; round++) {
                for (WatchScope scope : WatchScope.values()) {
                    run.measure(scope, round);
                }
            }
        }
        // threads of clients that were closed may live on for a minute
        System.exit(0);
    }

    private void create() throws Exception {
        ExecutorService creators = Executors.newFixedThreadPool(CREATORS);
        try (KubernetesClient admin = server.client()) {
            List<Future<?>> created = new ArrayList<>();
            for (int n = 0; n < NAMESPACES; n++) {
                String namespace = namespace(n);
                admin.resource(new NamespaceBuilder()
                                .withNewMetadata()
                                .withName(namespace)
                                .endMetadata()
                                .build())
                        .create();
                for (int i = 0; i < OBJECTS; i++) {
                    Secret secret = secret(namespace, i);
                    created.add(creators.submit(() -> admin.resource(secret).create()));
                }
            }
            for (Future<?> each : created) {
                each.get();
            }
        } finally {
            creators.shutdown();
        }
    }

    private void measure(WatchScope scope, int round) throws Exception {
        Set<ObjectRef> objects = new HashSet<>();
        for (int n = 0; n < NAMESPACES; n++) {
            for (int i = 0; i < REFERENCED; i++) {
                objects.add(ObjectRef.of(ObjectKind.SECRET, namespace(n), "s" + i));
            }
        }
        try (KubernetesClient admin = server.client();
                KubernetesClient client = server.client()) {
            Referrer owner =
                    Referrer.of(admin.namespaces().withName(namespace(0)).get());
            long lists = server.metrics().requests("LIST", "secrets");
            long watches = server.metrics().openWatchesInNamespaces("secrets");
            Footprint before = Footprint.now();
            long cpuBefore = processCpu();
            long start = System.nanoTime();
            try (Podcache cache = Podcache.builder(client)
                    .scope(ObjectKind.SECRET, scope)
                    .firstSyncTimeout(PATIENCE)
                    .build()) {
                cache.register(owner, objects);
                for (ObjectRef each : objects) {
                    cache.secrets().getObject(each.namespace(), each.name());
                }
                long took = System.nanoTime() - start;
                long cpu = processCpu() - cpuBefore;
                Map<String, Object> figures = new LinkedHashMap<>();
                figures.put("scope", scope.name());
                figures.put("round", round);
                figures.put("referenced", objects.size());
                figures.put("objects", NAMESPACES * OBJECTS);
                figures.put("syncMillis", Latencies.rounded(took));
                figures.put("cpuMillis", Latencies.rounded(cpu));
                figures.put("watches", server.metrics().openWatchesInNamespaces("secrets") - watches);
                figures.put("lists", server.metrics().requests("LIST", "secrets") - lists);
                if (round > 1) {
                    long grown = before.heapGrowth();
                    figures.put("heapBytes", grown);
                    figures.put("heapBytesPerObject", grown / objects.size());
                }
                figures.put("updateMillis", Latencies.rounded(update(cache, admin)));
                all.add(server.version().toString(), figures);
            }
        }
        // gives the server time to notice that the watches ended
        Thread.sleep(2_000);
    }

    private long update(Podcache cache, KubernetesClient admin) {
        long start = System.nanoTime();
        Map<Integer, String> versions = new LinkedHashMap<>();
        for (int i = 0; i < OBJECTS; i++) {
            Secret updated = admin.resource(secret(namespace(0), i)).update();
            if (i < REFERENCED) {
                versions.put(i, updated.getMetadata().getResourceVersion());
            }
        }
        versions.forEach((i, version) -> {
            while (!version.equals(cache.secrets()
                    .getObject(namespace(0), "s" + i)
                    .getMetadata()
                    .getResourceVersion())) {
                Thread.yield();
            }
        });
        return System.nanoTime() - start;
    }

    private static String namespace(int number) {
        return "scope-" + number;
    }

    private Secret secret(String namespace, int number) {
        byte[] payload = new byte[PAYLOAD];
        random.nextBytes(payload);
        return new SecretBuilder()
                .withNewMetadata()
                .withNamespace(namespace)
                .withName("s" + number)
                .endMetadata()
                .withData(Map.of("value", Base64.getEncoder().encodeToString(payload)))
                .build();
    }

    private static long processCpu() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }
}
