package dev.podcache;

import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.embedded.RequestPattern;
import dev.podcache.embedded.StatusException;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.WatchScope;
import dev.podcache.object.ObjectKey;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.TcpProxy;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/**
 * How soon 600 watches of single objects are live again after each kind of trouble, and what the server is asked for
 * meanwhile: Podcache beside a fabric8 informer for each object, on the embedded API server behind a proxy.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.main=dev.podcache.RecoveryRun
 * }</pre>
 *
 * <p>Each object is changed at the moment when the trouble is over, or when a connection freezes, from which nobody has
 * to recover otherwise. The time counts from that change until each contestant reads all of the new objects. Dials and
 * requests are all from the beginning of the trouble on.
 */
public final class RecoveryRun {

    private static final int OBJECTS = 600;
    private static final Duration AWAY = Duration.ofSeconds(20);
    private static final Duration GIVE_UP = Duration.ofMinutes(2);

    private final InMemoryCluster cluster;
    private final EmbeddedApiServer server;
    private final TcpProxy proxy;
    private int version;

    private RecoveryRun(InMemoryCluster cluster, EmbeddedApiServer server, TcpProxy proxy) {
        this.cluster = cluster;
        this.server = server;
        this.proxy = proxy;
    }

    private enum ServerFault {
        /** Nobody listens for 20 s; then the server goes on with all watches. */
        RESTART {
            @Override
            void happen(RecoveryRun run) throws InterruptedException {
                run.away();
            }
        },
        /** The same, and the server answers 410 to all watches. */
        RESTART_FORGOTTEN {
            @Override
            void happen(RecoveryRun run) throws InterruptedException {
                run.change();
                run.cluster.forgetHistory();
                run.away();
            }
        },
        /** All connections freeze; new ones work. */
        FROZEN {
            @Override
            void happen(RecoveryRun run) {
                run.proxy.freeze();
            }
        },
        /** All watches end with 410. */
        FORGOTTEN {
            @Override
            void happen(RecoveryRun run) {
                run.change();
                run.cluster.forgetHistory();
                run.proxy.reset();
            }
        },
        /** All connections are reset, and for 5 s every request is answered with 429 and Retry-After: 1. */
        THROTTLED {
            @Override
            void happen(RecoveryRun run) throws InterruptedException {
                run.server.faults().fail(StatusException.tooManyRequests(1), RequestPattern.any());
                run.proxy.reset();
                Thread.sleep(5_000);
                run.server.faults().clear();
            }
        };

        abstract void happen(RecoveryRun run) throws InterruptedException;
    }

    /** Runs all; takes about five minutes. */
    public static void main(String[] args) throws InterruptedException {
        try (Timekeeper timekeeper = Timekeeper.system();
                InMemoryCluster cluster = InMemoryCluster.create(timekeeper);
                EmbeddedApiServer server = EmbeddedApiServer.start(cluster);
                TcpProxy proxy = TcpProxy.to(server.port())) {
            RecoveryRun run = new RecoveryRun(cluster, server, proxy);
            IntStream.range(0, OBJECTS).forEach(i -> cluster.create(Secrets.of(key(i), "0")));
            for (ServerFault trouble : ServerFault.values()) {
                run.measure(
                        trouble,
                        "Podcache",
                        new PodcacheContestant(run.client(), ChangeDetectionStrategy.WATCH, WatchScope.OBJECT));
                run.measure(
                        trouble,
                        "informer for each",
                        new InformerContestant(run.client(), InformerContestant.Start.TOGETHER));
            }
        }
    }

    private void measure(ServerFault trouble, String name, Contestant contestant) throws InterruptedException {
        try (contestant) {
            contestant.follow(List.of(Pods.withSecrets(ScaleCluster.NAMESPACE, "web", "uid-1", names())), names());
            Thread.sleep(3_000);
            int dials = proxy.accepted();
            int requests = server.requests().total();
            long began = System.nanoTime();
            trouble.happen(this);
            change();
            long changed = System.nanoTime();
            long late = names().stream()
                    .filter(object -> !arrives(contestant, object, changed))
                    .count();
            double took = (System.nanoTime() - changed) / 1e9;
            System.out.printf(
                    "%-18s %-18s %s after %.2f s; %d dials and %d requests in %.1f s%n",
                    trouble,
                    name,
                    late == 0 ? "all" : OBJECTS - late,
                    took,
                    proxy.accepted() - dials,
                    server.requests().total() - requests,
                    (System.nanoTime() - began) / 1e9);
        }
        Thread.sleep(2_000);
    }

    private boolean arrives(Contestant contestant, String object, long since) {
        while (!Secrets.value(contestant.read(object)).equals(String.valueOf(version))) {
            if (System.nanoTime() - since > GIVE_UP.toNanos()) {
                return false;
            }
            try {
                Thread.sleep(5);
            } catch (InterruptedException e) {
                return false;
            }
        }
        return true;
    }

    private void change() {
        version++;
        IntStream.range(0, OBJECTS).forEach(i -> cluster.update(Secrets.of(key(i), String.valueOf(version))));
    }

    private void away() throws InterruptedException {
        proxy.leadTo(1);
        proxy.reset();
        Thread.sleep(AWAY.toMillis());
        proxy.leadTo(server.port());
    }

    private KubernetesClient client() {
        Config config = new ConfigBuilder(Config.empty())
                .withMasterUrl("http://127.0.0.1:" + proxy.port())
                .build();
        return new KubernetesClientBuilder()
                .withConfig(config)
                .withHttpClientFactory(HttpClients.vertx())
                .build();
    }

    private static List<String> names() {
        return IntStream.range(0, OBJECTS).mapToObj(i -> "secret-" + i).toList();
    }

    private static ObjectKey key(int i) {
        return ObjectKey.of(ScaleCluster.NAMESPACE, "secret-" + i);
    }
}
