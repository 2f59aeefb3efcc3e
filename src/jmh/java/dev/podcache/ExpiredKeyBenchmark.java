package dev.podcache;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.PodKey;
import dev.podcache.store.ObjectTtlSource;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What does a get cost whose object has expired, beside the request that it makes?
 *
 * <p>{@code expired...}: all objects have expired, and are read one after the other; each read is answered at
 * once, by a source that makes nothing anew. One thread. The baseline loads through Caffeine,
 * expireAfterWrite. Entries expire after a nanosecond: each landing brings the store's clock up to date, so an
 * object has expired when its turn comes again.
 *
 * <p>{@code storm...}: 16 threads read one object with a TTL of zero, from a source that answers after a millisecond.
 * The counter {@code requests} divided by {@code gets} is how many requests a get makes: with the registration
 * guarantee kept, which lets no get be answered by a request that began before it. The baseline asks under a lock for
 * each object, as the kubelet does.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.args="ExpiredKey -prof gc"
 * mvn -q -Pjmh verify -Djmh.args="ExpiredKey.*expired -p objects=10,100,1000,10000"
 * }</pre>
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(3)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class ExpiredKeyBenchmark {

    private static final String NAMESPACE = "shop";
    private static final Duration LATENCY = Duration.ofMillis(1);
    private static final int STORMERS = 16;

    private record ShortTtl(long ttlNanos) implements ObjectTtlSource {
        @Override
        public String origin() {
            return "fixed";
        }
    }

    /** A store in which everything has expired. */
    private static final class Expired implements AutoCloseable {

        private final Timekeeper timekeeper;
        private final TtlObjectStore<Secret> store;

        Expired(Timekeeper timekeeper, long ttlNanos, ObjectGetter<Secret> getter, List<String> names) {
            this.timekeeper = timekeeper;
            store = new TtlObjectStore<>(
                    ObjectKind.SECRET, getter, new ShortTtl(ttlNanos), StoreOptions.defaults(timekeeper));
            for (String name : names) {
                store.addReference(ObjectKey.of(NAMESPACE, name), PodKey.of(NAMESPACE, "pod", "uid"));
                store.get(NAMESPACE, name);
            }
        }

        @Override
        public void close() {
            store.close();
            timekeeper.close();
        }
    }

    /** Objects that are read in turn. */
    @State(Scope.Benchmark)
    public static class Many {

        /** How many. */
        @Param("10000")
        public int objects;

        private final Fetched<Secret> answer = new Fetched<>(Kind.secret(ObjectKey.of(NAMESPACE, "any")), "1", 2_000);
        private List<String> names;
        private Expired expired;
        private LoadingCache<ObjectKey, Secret> cache;
        private int next;

        /** Reads all once. */
        @Setup
        public void read() {
            names = IntStream.range(0, objects).mapToObj(i -> "object-" + i).toList();
            expired = new Expired(
                    Timekeeper.system(),
                    1,
                    (key, freshness, timeout) -> CompletableFuture.completedFuture(answer),
                    names);
            cache = Caffeine.newBuilder().expireAfterWrite(Duration.ofNanos(1)).build(key -> answer.object());
            names.forEach(name -> cache.get(ObjectKey.of(NAMESPACE, name)));
        }

        /** Ends the threads. */
        @TearDown
        public void close() {
            expired.close();
        }

        private String name() {
            next = next + 1 == objects ? 0 : next + 1;
            return names.get(next);
        }
    }

    /** One object for all. */
    @State(Scope.Benchmark)
    public static class One {

        private final LongAdder requested = new LongAdder();
        private final Timekeeper timekeeper = Timekeeper.system();
        private final Fetched<Secret> answer = new Fetched<>(Kind.secret(ObjectKey.of(NAMESPACE, "db")), "1", 2_000);
        private final Expired expired = new Expired(timekeeper, 0, (key, freshness, timeout) -> slow(), List.of("db"));

        private CompletableFuture<Fetched<Secret>> slow() {
            requested.increment();
            CompletableFuture<Fetched<Secret>> slow = new CompletableFuture<>();
            timekeeper.schedule(LATENCY, () -> slow.complete(answer));
            return slow;
        }

        private synchronized Secret fetchLocked() {
            return slow().join().object();
        }

        /** Ends the threads. */
        @TearDown
        public void close() {
            expired.close();
        }
    }

    /** What came of it. */
    @State(Scope.Thread)
    @AuxCounters(AuxCounters.Type.EVENTS)
    public static class Counters {

        /** By this thread. */
        public long gets;

        /** By all threads while this one was told of them. */
        public long requests;

        private void count(One one) {
            gets++;
            requests += one.requested.sumThenReset();
        }
    }

    /** Ours. */
    @Benchmark
    public Secret expired(Many many) {
        return many.expired.store.get(NAMESPACE, many.name());
    }

    /** Caffeine. */
    @Benchmark
    public Secret expiredCaffeine(Many many) {
        return many.cache.get(ObjectKey.of(NAMESPACE, many.name()));
    }

    /** Ours. */
    @Benchmark
    @Threads(STORMERS)
    public Secret storm(One one, Counters counters) {
        Secret secret = one.expired.store.get(NAMESPACE, "db");
        counters.count(one);
        return secret;
    }

    /** The kubelet's way. */
    @Benchmark
    @Threads(STORMERS)
    public Secret stormKubelet(One one, Counters counters) {
        Secret secret = one.fetchLocked();
        counters.count(one);
        return secret;
    }
}
