package dev.podcache;

import com.github.benmanes.caffeine.cache.CacheLoader;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import dev.podcache.apiserver.Fetched;
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
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
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
import org.openjdk.jmh.annotations.Warmup;

/**
 * What does a get of an expired object cost, beside the request that it makes?
 *
 * <p>All objects have expired. One thread reads them in turn, and each fetch is answered at once with the same object.
 * Entries expire after a nanosecond. A fetch that ends also brings the store's clock up to date, so an object has
 * expired when its turn comes again. Caffeine with refreshAfterWrite returns the old object, and replaces it meanwhile.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.args="ExpiredKey -prof gc"
 * mvn -q -Pjmh verify -Djmh.args="ExpiredKey -p objects=10,100,1000,10000"
 * }</pre>
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(5)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class ExpiredKeyBenchmark {

    private static final String NAMESPACE = "shop";
    private static final Duration TTL = Duration.ofNanos(1);

    private record ShortTtl(long ttlNanos) implements ObjectTtlSource {
        @Override
        public String origin() {
            return "fixed";
        }
    }

    /** The names of the objects, which are read in turn. */
    @State(Scope.Benchmark)
    public static class KeyCursor {

        /** How many objects there are. */
        @Param("10000")
        public int objects;

        private final Fetched<Secret> answer = new Fetched<>(Kind.secret(ObjectKey.of(NAMESPACE, "any")), "1", 2_000);
        private List<String> names;
        private int next;

        /** Makes the names. */
        @Setup
        public void fill() {
            names = IntStream.range(0, objects).mapToObj(i -> "object-" + i).toList();
        }

        private CompletableFuture<Fetched<Secret>> fetch() {
            return CompletableFuture.completedFuture(answer);
        }

        private String next() {
            next = next + 1 == objects ? 0 : next + 1;
            return names.get(next);
        }
    }

    /** Podcache's store of strategy CACHE. */
    @State(Scope.Benchmark)
    public static class PodcacheStore {

        private final Timekeeper timekeeper = Timekeeper.system();
        private TtlObjectStore<Secret> store;

        /** Reads all once. */
        @Setup
        public void fill(KeyCursor turn) {
            store = new TtlObjectStore<>(
                    ObjectKind.SECRET,
                    (key, freshness, timeout) -> turn.fetch(),
                    new ShortTtl(TTL.toNanos()),
                    StoreOptions.defaults(timekeeper));
            for (String name : turn.names) {
                store.addReference(ObjectKey.of(NAMESPACE, name), PodKey.of(NAMESPACE, "pod", "uid"));
                store.get(NAMESPACE, name);
            }
        }

        /** Ends the threads. */
        @TearDown
        public void close() {
            store.close();
            timekeeper.close();
        }
    }

    /** Caffeine, in two ways. */
    @State(Scope.Benchmark)
    public static class Baselines {

        private LoadingCache<ObjectKey, Secret> expiring;
        private LoadingCache<ObjectKey, Secret> refreshing;

        /** Reads all once. */
        @Setup
        public void fill(KeyCursor turn) {
            CacheLoader<ObjectKey, Secret> loader = new CacheLoader<>() {
                @Override
                public Secret load(ObjectKey key) {
                    return turn.answer.object();
                }

                @Override
                public CompletableFuture<Secret> asyncReload(ObjectKey key, Secret old, Executor executor) {
                    return turn.fetch().thenApply(Fetched::object);
                }
            };
            expiring = Caffeine.newBuilder().expireAfterWrite(TTL).build(loader);
            refreshing = Caffeine.newBuilder().refreshAfterWrite(TTL).build(loader);
            for (String name : turn.names) {
                expiring.get(ObjectKey.of(NAMESPACE, name));
                refreshing.get(ObjectKey.of(NAMESPACE, name));
            }
        }
    }

    /** Podcache. */
    @Benchmark
    public Secret podcache(KeyCursor turn, PodcacheStore ours) {
        return ours.store.get(NAMESPACE, turn.next());
    }

    /** Caffeine, expireAfterWrite. */
    @Benchmark
    public Secret caffeine(KeyCursor turn, Baselines baselines) {
        return baselines.expiring.get(ObjectKey.of(NAMESPACE, turn.next()));
    }

    /** Caffeine, refreshAfterWrite. */
    @Benchmark
    public Secret caffeineRefresh(KeyCursor turn, Baselines baselines) {
        return baselines.refreshing.get(ObjectKey.of(NAMESPACE, turn.next()));
    }
}
