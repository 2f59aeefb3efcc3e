package dev.podcache;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.google.common.cache.CacheBuilder;
import com.google.common.cache.CacheLoader;
import com.google.common.cache.LoadingCache;
import dev.podcache.manager.Manager;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.pod.PodReferences;
import dev.podcache.store.ObjectTtlSource;
import dev.podcache.store.Store;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.store.WatchObjectStore;
import dev.podcache.store.WatchObjectStore.WatchTimes;
import dev.podcache.testing.Pods;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import io.fabric8.kubernetes.client.informers.impl.cache.CacheImpl;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What does a get cost that is answered from memory?
 *
 * <p>512 Secrets of one namespace, uniformly at random, by strings that are equal to, but not the same as, those that the maps hold; each
 * thread in an order of its own. Every store is asked through the manager that users have, and is the
 * only one of its JVM, as in a real process. The limit is {@code concurrentHashMap}, under a
 * key object that is built for each get.
 *
 * <pre>{@code
 * mvn -q -Pjmh verify -Djmh.args="GetHit -t 1 -prof gc"
 * mvn -q -Pjmh verify -Djmh.args="GetHit -t 8 -prof gc"
 * }</pre>
 *
 * <p>With 8 threads the score is the time of each thread; divided by 8 it is nanoseconds per get in all.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(3)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class GetHitBenchmark {

    private static final int KEYS = 512;
    private static final int ORDER = 4_096;
    private static final String NAMESPACE = "shop";
    private static final Duration TTL = Duration.ofHours(1);

    private record FixedTtl() implements ObjectTtlSource {
        @Override
        public long ttlNanos() {
            return TTL.toNanos();
        }

        @Override
        public String origin() {
            return "fixed";
        }
    }

    /** What a thread asks for, in its own order. */
    @State(Scope.Thread)
    public static class Requests {

        private final String namespace = copy(NAMESPACE);
        private final String[] names = new String[ORDER];
        private int next;

        /** Draws the order. */
        @Setup
        public void draw() {
            SplittableRandom random =
                    new SplittableRandom(Thread.currentThread().getId());
            String[] distinct = names().stream().map(Requests::copy).toArray(String[]::new);
            for (int i = 0; i < ORDER; i++) {
                names[i] = distinct[random.nextInt(KEYS)];
            }
        }

        String name() {
            return names[next++ & (ORDER - 1)];
        }

        private static String copy(String text) {
            return new String(text.toCharArray());
        }
    }

    private static List<String> names() {
        return IntStream.range(0, KEYS).mapToObj(i -> "secret-" + i).toList();
    }

    private static void forEach(BiConsumer<ObjectKey, Secret> put) {
        for (String name : names()) {
            ObjectKey key = ObjectKey.of(NAMESPACE, name);
            put.accept(key, InMemorySecrets.secret(key));
        }
    }

    private static Manager<Secret> filled(Store<Secret> store) {
        Manager<Secret> manager = Manager.caching(store, PodReferences::secrets);
        manager.registerPod(Pods.withSecrets(NAMESPACE, "pod", "uid", names()));
        names().forEach(name -> manager.getObject(NAMESPACE, name));
        return manager;
    }

    /** A manager over strategy CACHE. */
    @State(Scope.Benchmark)
    public static class Ttl {

        private final Timekeeper timekeeper = Timekeeper.system();
        private final TtlObjectStore<Secret> store = new TtlObjectStore<>(
                ObjectKind.SECRET, new InMemorySecrets(), new FixedTtl(), StoreOptions.defaults(timekeeper));
        private final Manager<Secret> manager = filled(store);

        /** Ends the threads. */
        @TearDown
        public void close() {
            store.close();
            timekeeper.close();
        }
    }

    /** A manager over strategy WATCH. */
    @State(Scope.Benchmark)
    public static class Watch {

        private final Timekeeper timekeeper = Timekeeper.system();
        private final WatchObjectStore<Secret> store = new WatchObjectStore<>(
                ObjectKind.SECRET,
                InMemorySecrets::byName,
                new InMemorySecrets(),
                StoreOptions.defaults(timekeeper),
                WatchTimes.DEFAULT);
        private final Manager<Secret> manager = filled(store);

        /** Ends the threads. */
        @TearDown
        public void close() {
            store.close();
            timekeeper.close();
        }
    }

    /** What others have. */
    @State(Scope.Benchmark)
    public static class Baselines {

        private final ConcurrentMap<ObjectKey, Secret> map = new ConcurrentHashMap<>();
        private final com.github.benmanes.caffeine.cache.Cache<ObjectKey, Secret> caffeine =
                Caffeine.newBuilder().expireAfterWrite(TTL).build();
        private final LoadingCache<ObjectKey, Secret> guava =
                CacheBuilder.newBuilder().expireAfterWrite(TTL).build(CacheLoader.from(InMemorySecrets::secret));
        private final CacheImpl<Secret> informer = new CacheImpl<>();
        private final TwoMutexStore<Secret> twoMutexes = new TwoMutexStore<>(TTL.toNanos());

        /** Puts everything everywhere. */
        @Setup
        public void fill() {
            forEach((key, secret) -> {
                map.put(key, secret);
                caffeine.put(key, secret);
                guava.put(key, secret);
                informer.put(secret);
                twoMutexes.put(key, secret);
            });
        }
    }

    /** Strategy CACHE. */
    @Benchmark
    public Secret ttl(Ttl state, Requests requests) {
        return state.manager.getObject(requests.namespace, requests.name());
    }

    /** Strategy WATCH. */
    @Benchmark
    public Secret watch(Watch state, Requests requests) {
        return state.manager.getObject(requests.namespace, requests.name());
    }

    /** The limit. */
    @Benchmark
    public Secret concurrentHashMap(Baselines baselines, Requests requests) {
        return baselines.map.get(ObjectKey.of(requests.namespace, requests.name()));
    }

    /** Caffeine with a TTL. */
    @Benchmark
    public Secret caffeineExpireAfterWrite(Baselines baselines, Requests requests) {
        return baselines.caffeine.getIfPresent(ObjectKey.of(requests.namespace, requests.name()));
    }

    /** Guava with a TTL. */
    @Benchmark
    public Secret guavaLoadingCache(Baselines baselines, Requests requests) {
        return baselines.guava.getUnchecked(ObjectKey.of(requests.namespace, requests.name()));
    }

    /** What a lister of fabric8 does. */
    @Benchmark
    public Secret fabric8Informer(Baselines baselines, Requests requests) {
        return baselines.informer.getByKey(Cache.namespaceKeyFunc(requests.namespace, requests.name()));
    }

    /** The kubelet's way. */
    @Benchmark
    public Secret kubeletTwoMutexes(Baselines baselines, Requests requests) {
        return baselines.twoMutexes.get(requests.namespace, requests.name());
    }
}
