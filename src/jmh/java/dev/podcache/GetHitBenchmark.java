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
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import io.fabric8.kubernetes.client.informers.impl.cache.CacheImpl;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
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
 * thread in an order of its own. Every store is asked through the manager that users have. The limit is {@code concurrentHashMap}, under a
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
@State(Scope.Benchmark)
public class GetHitBenchmark {

    private static final int KEYS = 512;
    private static final int ORDER = 4_096;
    private static final String NAMESPACE = "shop";
    private static final Duration TTL = Duration.ofHours(1);

    private final Timekeeper timekeeper = Timekeeper.system();
    private final StoreOptions options = StoreOptions.defaults(timekeeper);
    private final TtlObjectStore<Secret> ttlStore =
            new TtlObjectStore<>(ObjectKind.SECRET, new InMemorySecrets(), new FixedTtl(), options);
    private final WatchObjectStore<Secret> watchStore = new WatchObjectStore<>(
            ObjectKind.SECRET, InMemorySecrets::byName, new InMemorySecrets(), options, WatchTimes.DEFAULT);

    private final Manager<Secret> ttl = manager(ttlStore);
    private final Manager<Secret> watch = manager(watchStore);
    private final ConcurrentMap<ObjectKey, Secret> map = new ConcurrentHashMap<>();
    private final com.github.benmanes.caffeine.cache.Cache<ObjectKey, Secret> caffeine =
            Caffeine.newBuilder().expireAfterWrite(TTL).build();
    private final LoadingCache<ObjectKey, Secret> guava =
            CacheBuilder.newBuilder().expireAfterWrite(TTL).build(CacheLoader.from(InMemorySecrets::secret));
    private final CacheImpl<Secret> informer = new CacheImpl<>();
    private final TwoMutexStore<Secret> twoMutexes = new TwoMutexStore<>(TTL.toNanos());

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

    private static Manager<Secret> manager(Store<Secret> store) {
        return Manager.caching(store, PodReferences::secrets);
    }

    private static List<String> names() {
        return IntStream.range(0, KEYS).mapToObj(i -> "secret-" + i).toList();
    }

    /** Puts everything everywhere. */
    @Setup
    public void fill() {
        Pod pod = Pods.withSecrets(NAMESPACE, "pod", "uid", names());
        ttl.registerPod(pod);
        watch.registerPod(pod);
        for (String name : names()) {
            ObjectKey key = ObjectKey.of(NAMESPACE, name);
            Secret secret = InMemorySecrets.secret(key);
            ttl.getObject(NAMESPACE, name);
            watch.getObject(NAMESPACE, name);
            map.put(key, secret);
            caffeine.put(key, secret);
            guava.put(key, secret);
            informer.put(secret);
            twoMutexes.put(key, secret);
        }
    }

    /** Ends the threads. */
    @TearDown
    public void close() {
        ttlStore.close();
        watchStore.close();
        timekeeper.close();
    }

    /** Strategy CACHE. */
    @Benchmark
    public Secret ttl(Requests requests) {
        return ttl.getObject(requests.namespace, requests.name());
    }

    /** Strategy WATCH. */
    @Benchmark
    public Secret watch(Requests requests) {
        return watch.getObject(requests.namespace, requests.name());
    }

    /** The limit. */
    @Benchmark
    public Secret concurrentHashMap(Requests requests) {
        return map.get(ObjectKey.of(requests.namespace, requests.name()));
    }

    /** Caffeine with a TTL. */
    @Benchmark
    public Secret caffeineExpireAfterWrite(Requests requests) {
        return caffeine.getIfPresent(ObjectKey.of(requests.namespace, requests.name()));
    }

    /** Guava with a TTL. */
    @Benchmark
    public Secret guavaLoadingCache(Requests requests) {
        return guava.getUnchecked(ObjectKey.of(requests.namespace, requests.name()));
    }

    /** What a lister of fabric8 does. */
    @Benchmark
    public Secret fabric8Informer(Requests requests) {
        return informer.getByKey(Cache.namespaceKeyFunc(requests.namespace, requests.name()));
    }

    /** The kubelet's way. */
    @Benchmark
    public Secret kubeletTwoMutexes(Requests requests) {
        return twoMutexes.get(requests.namespace, requests.name());
    }
}
