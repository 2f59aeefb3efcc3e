package dev.podcache.documentation;

import dev.podcache.Podcache;
import dev.podcache.PodcacheBuilder;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.embedded.Resource;
import dev.podcache.embedded.Verb;
import dev.podcache.kubelet.podstatus.PodStatusManager;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.Manager;
import dev.podcache.manager.ObjectEvent;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Secrets;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.PodStatusBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;

/** Goes each of the five ways once, for {@link WaysTest}, which traces its calls. */
final class WaysProgram {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** Once the server has opened a watch, the cache still takes note of it; nothing outside tells when that is done. */
    private static final Duration QUIET = Duration.ofMillis(300);

    private WaysProgram() {}

    // a debugger sees which of these is called

    static void fromPodToSocket() {}

    static void fromEventToEntry() {}

    static void hitUnderWatch() {}

    static void hitUnderCache() {}

    static void missUnderCache() {}

    static void patchOfAStatus() {}

    static void arrived() {}

    public static void main(String[] args) throws Exception {
        try (Timekeeper timekeeper = Timekeeper.system();
                InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
                EmbeddedApiServer server = EmbeddedApiServer.start(cluster);
                KubernetesClient client = client(server);
                Fabric8ApiServer api = Fabric8ApiServer.of(client)) {
            cluster.create(Secrets.of(ObjectKey.of("shop", "other"), "v1"));
            cluster.create(Secrets.of(ObjectKey.of("shop", "db"), "v1"));
            watch(server, api);
            cache(api);
            report(cluster, api);
        }
    }

    private static void watch(EmbeddedApiServer server, Fabric8ApiServer api) throws Exception {
        CountDownLatch changed = new CountDownLatch(1);
        try (Podcache cache = builder(api, ChangeDetectionStrategy.WATCH).build()) {
            cache.registerPod(Pods.withSecrets("shop", "first", "uid-1", "other"));
            cache.secrets().getObject("shop", "other");
            await(() -> server.openWatches() == 1);
            awaitQuiet();
            int lists = lists(server);

            fromPodToSocket();
            cache.registerPod(Pods.withSecrets("shop", "web", "uid-2", "db"));
            await(() -> lists(server) > lists);
            arrived();

            cache.secrets().getObject("shop", "db");
            await(() -> server.openWatches() == 2);
            awaitQuiet();
            Manager<Secret> secrets = cache.secrets();
            hitUnderWatch();
            secrets.getObject("shop", "db");
            arrived();

            AutoCloseable subscription = secrets.listen(Runnable::run, event -> {
                if (event.type() == ObjectEvent.Type.UPDATED) {
                    changed.countDown();
                }
            });
            fromEventToEntry();
            server.cluster().update(Secrets.of(ObjectKey.of("shop", "db"), "v2"));
            changed.await();
            arrived();
            subscription.close();
        }
    }

    private static int lists(EmbeddedApiServer server) {
        return server.requests().of(Verb.LIST, Resource.of(Secret.class));
    }

    private static void cache(Fabric8ApiServer api) {
        try (Podcache cache = builder(api, ChangeDetectionStrategy.CACHE).build()) {
            cache.registerPod(Pods.withSecrets("shop", "web", "uid-2", "db", "other"));
            Manager<Secret> secrets = cache.secrets();
            secrets.getObject("shop", "other");

            missUnderCache();
            secrets.getObject("shop", "db");
            arrived();

            hitUnderCache();
            secrets.getObject("shop", "db");
            arrived();
        }
    }

    private static void report(InMemoryCluster cluster, Fabric8ApiServer api) throws InterruptedException {
        Pod first = cluster.create(Pods.assigned("worker-1", "first").build());
        Pod pod = cluster.create(Pods.assigned("worker-1", "web").build());
        try (PodStatusManager statuses = new PodStatusManager(
                api.api(ObjectKind.POD, PATIENCE),
                uid -> Optional.of(there(cluster, isOf(first, uid) ? first : pod)),
                api.timekeeper(),
                () -> 0)) {
            statuses.start();
            PodStatus running = new PodStatusBuilder().withPhase("Running").build();
            // else the JVM loads most classes of the way while its calls are traced, which takes seconds
            statuses.setPodStatus(first, running);
            await(() -> isRunning(cluster, first));
            awaitQuiet();

            patchOfAStatus();
            statuses.setPodStatus(pod, running);
            await(() -> isRunning(cluster, pod));
            arrived();
            statuses.forget(first.getMetadata().getUid());
            statuses.forget(pod.getMetadata().getUid());
        }
    }

    private static boolean isOf(Pod pod, String uid) {
        return pod.getMetadata().getUid().equals(uid);
    }

    private static boolean isRunning(InMemoryCluster cluster, Pod pod) {
        PodStatus status = there(cluster, pod).getStatus();
        return status != null && "Running".equals(status.getPhase());
    }

    private static Pod there(InMemoryCluster cluster, Pod pod) {
        return cluster.get(
                Pod.class, pod.getMetadata().getNamespace(), pod.getMetadata().getName());
    }

    /** Waits for the threads of the call before. Nothing tells when they have left its methods. */
    private static void awaitQuiet() throws InterruptedException {
        Thread.sleep(QUIET.toMillis());
    }

    private static PodcacheBuilder builder(Fabric8ApiServer api, ChangeDetectionStrategy strategy) {
        return Podcache.builder(api)
                .strategy(strategy)
                .firstSyncTimeout(PATIENCE)
                .readTimeout(PATIENCE);
    }

    /** Waits for {@code condition}; looks every 10 ms, because the server tells nobody when it changes. */
    private static void await(BooleanSupplier condition) throws InterruptedException {
        long giveUp = System.nanoTime() + PATIENCE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - giveUp > 0) {
                throw new AssertionError("did not come in " + PATIENCE);
            }
            Thread.sleep(10);
        }
    }

    private static KubernetesClient client(EmbeddedApiServer server) {
        Config config =
                new ConfigBuilder(Config.empty()).withMasterUrl(server.url()).build();
        return new KubernetesClientBuilder().withConfig(config).build();
    }
}
