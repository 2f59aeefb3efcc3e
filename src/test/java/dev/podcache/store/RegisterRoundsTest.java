package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.PodKey;
import dev.podcache.testing.Effort;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.Slow;
import dev.podcache.time.Timekeeper;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Many references come and go: nobody gets an object that is not referenced, and nothing is left of it. */
@Slow
@ExtendWith(NoLeaks.class)
class RegisterRoundsTest {

    private static final ObjectKey DB = ObjectKey.of("shop", "db");
    private static final PodKey POD = PodKey.of("shop", "web", "uid-1");
    /** The gets that were once made beside 8,305 rounds. By default as many as 5 s allow: a refused get makes an exception. */
    private static final long GETS = 76_000_000;

    private static final Duration LENGTH = Effort.NIGHTLY ? Duration.ofMinutes(10) : Duration.ofSeconds(5);

    private static final int COUNTED_AT_ONCE = 1000;
    private static final int ROUNDS = Effort.NIGHTLY ? 50_000 : 9_000;
    private static final int PAIRS = Effort.NIGHTLY ? 5_000_000 : 1_600_000;

    private final Timekeeper timekeeper = Timekeeper.system();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final TtlObjectStore<Secret> store = new TtlObjectStore<>(
            ObjectKind.SECRET,
            server.getter(ObjectKind.SECRET),
            FixedTtl.ofSeconds(60),
            StoreOptions.defaults(timekeeper));

    /** Odd while the object may be referenced, even while it is not, -1 at the end. */
    private volatile long phase;

    private final AtomicLong gets = new AtomicLong();
    private final AtomicLong served = new AtomicLong();
    private final AtomicLong servedUnreferenced = new AtomicLong();

    @AfterEach
    void close() {
        store.close();
        server.close();
        timekeeper.close();
    }

    @Test
    void gets_besideRoundsOfReferences_serveNothingWhileThereIsNone() {
        server.cluster().create(Secrets.of(DB, "v"));
        List<CompletableFuture<Void>> readers = Stream.generate(
                        () -> CompletableFuture.runAsync(this::read, NewThread.EACH))
                .limit(2)
                .toList();
        long end = timekeeper.nanoTime() + LENGTH.toNanos();
        for (int round = 0; round < ROUNDS || (gets.get() < GETS && timekeeper.nanoTime() - end < 0); round++) {
            phase = 2L * round + 1;
            store.addReference(DB, POD);
            assertThat(Secrets.value(store.get(DB))).isEqualTo("v");
            store.deleteReference(DB, POD);
            phase = 2L * round + 2;
        }
        phase = -1;
        readers.forEach(CompletableFuture::join);

        if (Effort.NIGHTLY) {
            assertThat(gets).hasValueGreaterThanOrEqualTo(GETS);
        }
        assertThat(served).hasPositiveValue();
        assertThat(servedUnreferenced).hasValue(0);
        assertThat(store.size()).isZero();
    }

    private void read() {
        int made = 0;
        for (long before = phase; before >= 0; before = phase) {
            if (++made == COUNTED_AT_ONCE) {
                gets.addAndGet(made);
                made = 0;
            }
            try {
                store.get(DB.namespace(), DB.name());
                served.lazySet(1);
                if (before % 2 == 0 && before == phase) {
                    servedUnreferenced.incrementAndGet();
                }
            } catch (NotRegistered expected) {
                // it is not referenced
            }
        }
    }

    @Test
    void pairsOfReferences_leaveNothing() {
        long before = 0;
        for (int pair = 0; pair < PAIRS; pair++) {
            ObjectKey key = ObjectKey.of("shop", "secret-" + pair);
            PodKey pod = PodKey.of("shop", "web", "uid-" + pair);
            store.addReference(key, pod);
            store.deleteReference(key, pod);
            if (pair == PAIRS / 10) {
                before = heap();
            }
        }
        assertThat(store.size()).isZero();
        assertThat(heap() - before).as("bytes that the heap has grown by").isLessThan(8 << 20);
    }

    private static long heap() {
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }
}
