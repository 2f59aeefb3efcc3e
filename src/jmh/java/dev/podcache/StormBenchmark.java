package dev.podcache;

import com.google.common.io.Closer;
import dev.podcache.apiserver.fabric8.Fabric8ApiServer;
import dev.podcache.apiserver.fabric8.RequestLimit;
import dev.podcache.embedded.EmbeddedApiServer;
import dev.podcache.embedded.InMemoryCluster;
import dev.podcache.object.ObjectKey;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How long until all threads are served that meet one object which nobody holds, and how many requests does that take?
 *
 * <p>{@code threads} threads stand ready; the time is from letting them go, all at once, until the last has the Secret.
 * The API server is the embedded one, over HTTP on loopback, in the same JVM, with nothing else to do; all send their
 * requests in the same way. Counter {@code requests} divided by {@code storms} is how many requests one storm took,
 * counted by the server. With a TTL of zero every get must be answered by a request that began after it, or, of those
 * that came before any request, by the first; Caffeine does not promise that.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.args="StormBenchmark"
 * }</pre>
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(5)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class StormBenchmark {

    private static final ObjectKey KEY = ObjectKey.of("default", "db");

    /** Who asks whom. */
    @State(Scope.Benchmark)
    public static class Storm {

        /** Who. */
        @Param
        public Reader.By by;

        /** How many threads. */
        @Param("64")
        public int threads;

        /** For how many seconds an answer is good. */
        @Param({"60", "0"})
        public int ttl;

        private final Closer closer = Closer.create();
        private final List<Future<Secret>> gets = new ArrayList<>();
        private InMemoryCluster cluster;
        private Reader reader;
        private ExecutorService crew;
        private CyclicBarrier gate;

        /** Starts server and threads. */
        @Setup
        public void open() {
            Timekeeper timekeeper = Timekeeper.system();
            closer.register(timekeeper::close);
            cluster = InMemoryCluster.create(timekeeper);
            closer.register(cluster::close);
            cluster.create(Kind.secret(KEY));
            EmbeddedApiServer embedded = EmbeddedApiServer.start(cluster);
            closer.register(embedded::close);
            Config config = new ConfigBuilder(Config.empty())
                    .withMasterUrl(embedded.url())
                    .build();
            KubernetesClient client = new KubernetesClientBuilder()
                    .withConfig(config)
                    .withHttpClientFactory(HttpClients.vertx())
                    .build();
            closer.register(client::close);
            Fabric8ApiServer server = Fabric8ApiServer.of(client, new RequestLimit(1_000_000, 1_000_000));
            closer.register(server::close);
            reader = by.open(server, KEY, Duration.ofSeconds(ttl), closer);
            gate = new CyclicBarrier(threads + 1);
            crew = Executors.newFixedThreadPool(threads);
            closer.register(crew::shutdownNow);
        }

        /** Has the threads stand ready. */
        @Setup(Level.Invocation)
        public void gather() {
            reader.forget();
            gets.clear();
            for (int i = 0; i < threads; i++) {
                gets.add(crew.submit(() -> {
                    gate.await();
                    return reader.get();
                }));
            }
            while (gate.getNumberWaiting() < threads) {
                Thread.onSpinWait();
            }
        }

        /** Ends server and threads. */
        @TearDown
        public void close() throws IOException {
            closer.close();
        }
    }

    /** What came of it. */
    @State(Scope.Thread)
    @AuxCounters(AuxCounters.Type.EVENTS)
    public static class Counters {

        /** So far. */
        public long storms;

        /** That they took. */
        public long requests;
    }

    /** One storm. */
    @Benchmark
    public Secret storm(Storm storm, Counters counters) throws Exception {
        int before = storm.cluster.requests().total();
        storm.gate.await();
        Secret last = null;
        for (Future<Secret> get : storm.gets) {
            last = get.get();
        }
        counters.storms++;
        counters.requests += storm.cluster.requests().total() - before;
        return last;
    }
}
