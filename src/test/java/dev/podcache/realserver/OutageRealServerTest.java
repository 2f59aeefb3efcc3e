package dev.podcache.realserver;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.Podcache;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.RealApiServer;
import dev.podcache.testing.RealServerTest;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.Stalls;
import dev.podcache.testing.TcpProxy;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The API server is killed under load, and its machine answers nobody: what is known is read on, at the speed of a hit.
 */
@RealServerTest
@ExtendWith(NoLeaks.class)
class OutageRealServerTest {

    private static final Logger log = LoggerFactory.getLogger(OutageRealServerTest.class);
    private static final int OBJECTS = 3;
    private static final int READERS = 2;

    /** Leaves some of the machine to the server. */
    private static final Duration READERS_PAUSE = Duration.ofNanos(100_000);

    private static final Duration OUTAGE = Duration.ofSeconds(30);
    private static final Duration TTL = Duration.ofSeconds(1);

    /** Shorter than the outage, so that requests fail in it, and longer than any get may wait. */
    private static final Duration READ_TIMEOUT = Duration.ofSeconds(8);

    /** Of a get that waits for a request, which here is never answered. */
    private static final Duration WAITS = Duration.ofMillis(800);

    private final RealApiServer own = RealApiServer.restartable();

    @Test
    void serverKilledUnderLoad_knownObjectsAreReadThroughout_andAreRightAfterwards(NoLeaks leaks)
            throws InterruptedException {
        leaks.allowWarnings("failed; retrying: ");
        leaks.allowWarnings("did not answer a ping");
        List<String> names =
                IntStream.range(0, OBJECTS).mapToObj(i -> "db-" + i).toList();
        try (TestNamespace shop = new TestNamespace(own);
                TcpProxy proxy = shop.proxy();
                KubernetesClient client = TestNamespace.through(proxy, own.config());
                Podcache polling = cache(client, ChangeDetectionStrategy.CACHE);
                Podcache watching = cache(client, ChangeDetectionStrategy.WATCH)) {
            names.forEach(name -> shop.put(name, "v1"));
            List<Load> loads = Stream.of(polling, watching)
                    .map(cache -> new Load(cache, shop.name(), names))
                    .toList();
            loads.forEach(load -> load.cache.registerPod(shop.pod("web", "", names.toArray(String[]::new))));
            loads.forEach(load -> load.awaitAll("v1"));
            loads.forEach(Load::forgetTimes);

            loads.forEach(Load::start);
            proxy.freezeNew();
            proxy.freeze();
            own.apiServer().kill();
            loads.get(0).goOnFor(OUTAGE);
            own.apiServer().start();
            names.forEach(name -> shop.put(name, "v2"));
            proxy.thaw();

            loads.forEach(load -> load.awaitAll("v2"));
            for (Load load : loads) {
                load.end();
                log.info("{}", load);
            }
            assertThat(loads).allSatisfy(load -> {
                assertThat(load.failures).isEmpty();
                assertThat(load.gets.get()).isGreaterThan(1_000);
                // CACHE: for one flight, until a get gives up on it, and on a busy machine for another one. If each get
                // waited, a reader would have waited ten times for each object
                assertThat(load.waited.values()).allMatch(times -> times.get() <= 3 * READERS);
                assertThat(Duration.ofNanos(load.longest.get())).isLessThan(READ_TIMEOUT);
            });
        }
    }

    private static Podcache cache(KubernetesClient client, ChangeDetectionStrategy strategy) {
        return Podcache.builder(client)
                .strategy(strategy)
                .defaultTtl(TTL)
                .readTimeout(READ_TIMEOUT)
                .build();
    }

    /** Threads that read all the time, and what came of it. */
    private static final class Load {

        private final Stalls stalls = new Stalls(System::nanoTime);
        final AtomicLong gets = new AtomicLong();
        final AtomicLong longest = new AtomicLong(); // nanoseconds
        final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        final Map<String, AtomicLong> waited = new ConcurrentHashMap<>();
        private final Podcache cache;
        private final String namespace;
        private final List<String> names;
        private final AtomicBoolean ended = new AtomicBoolean();
        private final List<Thread> readers;

        Load(Podcache cache, String namespace, List<String> names) {
            this.cache = cache;
            this.namespace = namespace;
            this.names = names;
            Stream<Thread> all = IntStream.range(0, READERS).mapToObj(i -> new Thread(this::readAll, "reader-" + i));
            readers = Stream.concat(all, Stream.of(new Thread(this::noticeStalls, "stalls")))
                    .toList();
        }

        void start() {
            readers.forEach(Thread::start);
        }

        /** Not a pause: so long the outage lasts, and is read in. */
        void goOnFor(Duration duration) throws InterruptedException {
            readers.get(0).join(duration.toMillis());
        }

        void end() throws InterruptedException {
            ended.set(true);
            for (Thread reader : readers) {
                reader.join();
            }
        }

        void forgetTimes() {
            longest.set(0);
            waited.clear();
            failures.clear();
        }

        void awaitAll(String value) {
            await().until(() -> names.stream().allMatch(name -> value.equals(read(name))));
        }

        private String read(String name) {
            long began = System.nanoTime();
            try {
                return Secrets.value(cache.secrets().getObject(namespace, name));
            } catch (RuntimeException failed) {
                failures.add(failed);
                return "";
            } finally {
                long over = System.nanoTime();
                long took = over - began - stalls.between(began, over);
                gets.incrementAndGet();
                longest.accumulateAndGet(took, Math::max);
                if (took > WAITS.toNanos()) {
                    waited.computeIfAbsent(name, first -> new AtomicLong()).incrementAndGet();
                }
            }
        }

        private void noticeStalls() {
            while (!ended.get()) {
                LockSupport.parkNanos(stalls.step().toNanos());
            }
        }

        private void readAll() {
            while (!ended.get()) {
                names.forEach(this::read);
                LockSupport.parkNanos(READERS_PAUSE.toNanos());
            }
        }

        @Override
        public String toString() {
            return gets + " gets, " + failures.size() + " failures, the longest "
                    + Duration.ofNanos(longest.get()).toMillis() + " ms, waited for a request: " + waited;
        }
    }
}
