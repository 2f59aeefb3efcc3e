package dev.podcache.store;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.podcache.apiserver.Fetched;
import dev.podcache.apiserver.ObjectGetter;
import dev.podcache.manager.Manager;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.PodKey;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.lang.management.ManagementFactory;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What a hit costs in memory: nothing. How long it takes is a matter for benchmarks. */
class HitAllocationTest {

    private static final int KEYS = 512;
    private static final int ROUNDS = 200;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final ManualTimekeeper timekeeper = new ManualTimekeeper();

    @Test
    void getObject_hit_allocatesNothing() {
        try (TtlObjectStore<Secret> store = filledStore()) {
            Manager<Secret> manager = Manager.caching(store, pod -> Set.of());
            String[] names = names();
            // first compiled, then measured
            for (int i = 0; i < 100; i++) {
                readAll(manager, names);
            }

            long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
            for (int i = 0; i < ROUNDS; i++) {
                readAll(manager, names);
            }
            long allocated =
                    threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;

            // the reading of the meter itself may cost a little, a hit must not: 16 bytes each would be 1.6 MB
            assertThat(allocated).isLessThan(10_000);
        }
    }

    private static void readAll(Manager<Secret> manager, String[] names) {
        for (String name : names) {
            if (manager.getObject("shop", name).getMetadata() == null) {
                throw new AssertionError(name);
            }
        }
    }

    private TtlObjectStore<Secret> filledStore() {
        ObjectGetter<Secret> getter = (key, freshness, timeout) -> CompletableFuture.completedFuture(new Fetched<>(
                new SecretBuilder()
                        .withNewMetadata()
                        .withName(key.name())
                        .endMetadata()
                        .build(),
                "1",
                100));
        TtlObjectStore<Secret> store = new TtlObjectStore<>(
                ObjectKind.SECRET, getter, FixedTtl.ofSeconds(60), StoreOptions.defaults(timekeeper));
        for (String name : names()) {
            store.addReference(ObjectKey.of("shop", name), PodKey.of("shop", "pod", "uid"));
        }
        return store;
    }

    private static String[] names() {
        String[] names = new String[KEYS];
        for (int i = 0; i < KEYS; i++) {
            names[i] = "secret-" + i;
        }
        return names;
    }
}
