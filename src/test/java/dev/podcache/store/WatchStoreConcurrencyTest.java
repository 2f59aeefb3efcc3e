package dev.podcache.store;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.PodKey;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Strategy WATCH under real threads: one writes and breaks watches, some refer and let go, some read.
 * Versions at the server only grow, so every promise can be checked by comparing numbers.
 */
@ExtendWith(NoLeaks.class)
class WatchStoreConcurrencyTest {

    /**
     * The first keys are referred to and let go all the time, each by a thread of its own; the
     * others are referred to once.
     */
    private static final int KEYS = 5;

    private static final int CHURNED = 3;
    private static final int OPERATIONS = 1_000;

    static final WatchObjectStore.WatchTimes TIMES =
            new WatchObjectStore.WatchTimes(Duration.ofSeconds(10), Duration.ofMinutes(5));

    private final Timekeeper timekeeper = Timekeeper.system();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final WatchObjectStore<Secret> store = store(server, timekeeper);
    private final AtomicIntegerArray written = new AtomicIntegerArray(KEYS);
    private volatile boolean writing = true;

    WatchObjectStore<Secret> store(FakeApiServer server, Timekeeper timekeeper) {
        return new WatchObjectStore<>(
                ObjectKind.SECRET,
                key -> server.listerWatcher(ObjectKind.SECRET, key.namespace(), "metadata.name=" + key.name()),
                server.getter(ObjectKind.SECRET),
                StoreOptions.defaults(timekeeper),
                TIMES);
    }

    @AfterEach
    void close() {
        store.close();
        server.close();
        timekeeper.close();
    }

    @Test
    void registrationAndOrder_holdForEveryReader_andAllConverges(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("; retrying");
        for (int i = 0; i < KEYS; i++) {
            server.cluster().create(Secrets.of(key(i), "0"));
        }
        PodKey steady = PodKey.of("default", "steady", "uid-steady");
        for (int i = CHURNED; i < KEYS; i++) {
            store.addReference(key(i), steady);
        }
        ExecutorService threads = Executors.newFixedThreadPool(7);
        try {
            Future<Void> writer = threads.submit(this::write);
            List<Future<Void>> others = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                int seed = i;
                others.add(threads.submit(() -> referAndRead(seed)));
                others.add(threads.submit((Callable<Void>) () -> read(seed)));
            }
            for (Future<Void> other : others) {
                other.get();
            }
            writing = false;
            writer.get();
        } finally {
            threads.shutdownNow();
        }

        for (int i = CHURNED; i < KEYS; i++) {
            int key = i;
            await().untilAsserted(() -> assertThat(value(key)).as("P7").isEqualTo(written.get(key)));
            store.deleteReference(key(i), steady);
        }
        assertThat(store.size()).isZero();
    }

    private Void write() {
        Random random = new Random(1);
        while (writing) {
            int i = random.nextInt(KEYS);
            int next = written.get(i) + 1;
            server.cluster().update(Secrets.of(key(i), Integer.toString(next)));
            written.set(i, next);
            if (random.nextInt(200) == 0) {
                server.resetWatches();
            }
            if (random.nextInt(500) == 0) {
                server.forgetHistory();
            }
        }
        return null;
    }

    /** P1: a get after the reference that opened the watch brings nothing older than what was written before that. */
    private Void referAndRead(int seed) {
        PodKey pod = PodKey.of("default", "pod", "uid-" + seed);
        for (int n = 0; n < OPERATIONS; n++) {
            int writtenBefore = written.get(seed);
            store.addReference(key(seed), pod);
            assertThat(value(seed)).as("P1").isGreaterThanOrEqualTo(writtenBefore);
            store.deleteReference(key(seed), pod);
        }
        return null;
    }

    /** P2: what one thread reads between two new references never goes back. */
    private Void read(int seed) {
        Random random = new Random(100 + seed);
        int[] seen = new int[KEYS];
        for (int n = 0; n < OPERATIONS; n++) {
            int i = CHURNED + random.nextInt(KEYS - CHURNED);
            int value = value(i);
            assertThat(value).as("P2").isGreaterThanOrEqualTo(seen[i]);
            seen[i] = value;
        }
        return null;
    }

    private int value(int i) {
        return Integer.parseInt(Secrets.value(store.get(key(i).namespace(), key(i).name())));
    }

    private static ObjectKey key(int i) {
        return ObjectKey.of("default", "secret-" + i);
    }
}
