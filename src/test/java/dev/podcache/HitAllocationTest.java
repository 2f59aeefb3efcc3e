package dev.podcache;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.manager.Manager;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import dev.podcache.testing.Slow;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.lang.management.ManagementFactory;
import java.util.stream.IntStream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a hit costs in memory, through the front door: nothing. How long it takes is a matter for benchmarks. */
@Slow
@ExtendWith(NoLeaks.class)
class HitAllocationTest {

    private static final String NS = "default";
    private static final int KEYS = 512;
    private static final int ROUNDS = 200;

    private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final String[] names =
            IntStream.range(0, KEYS).mapToObj(i -> "object-" + i).toArray(String[]::new);

    @ParameterizedTest
    @EnumSource(
            value = ChangeDetectionStrategy.class,
            names = {"CACHE", "WATCH"})
    void getObject_hit_allocatesNothing(ChangeDetectionStrategy strategy) {
        try (FakeApiServer server = new FakeApiServer(timekeeper);
                Podcache cache = CacheWithoutHttp.of(strategy, server, timekeeper)) {
            for (String name : names) {
                create(server, name);
            }
            cache.registerPod(pod());

            assertThat(allocatedBy(cache.secrets())).as("Secrets").isLessThan(10_000);
            assertThat(allocatedBy(cache.configMaps())).as("ConfigMaps").isLessThan(10_000);
        }
    }

    /**
     * Bytes for 102,400 hits. The reading of the meter itself may cost a little; 16 bytes for each hit would be 1.6 MB.
     */
    private <T extends HasMetadata> long allocatedBy(Manager<T> manager) {
        // first compiled, then measured
        for (int i = 0; i < 100; i++) {
            readAll(manager);
        }
        long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
        for (int i = 0; i < ROUNDS; i++) {
            readAll(manager);
        }
        return threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;
    }

    private <T extends HasMetadata> void readAll(Manager<T> manager) {
        for (String name : names) {
            if (manager.getObject(NS, name).getMetadata() == null) {
                throw new AssertionError(name);
            }
        }
    }

    private static void create(FakeApiServer server, String name) {
        server.cluster().create(Secrets.of(NS, name, "v1"));
        server.cluster()
                .create(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withNamespace(NS)
                        .withName(name)
                        .endMetadata()
                        .build());
    }

    private Pod pod() {
        var container = new PodBuilder()
                .withNewMetadata()
                .withNamespace(NS)
                .withName("pod")
                .withUid("uid")
                .endMetadata()
                .withNewSpec()
                .addNewContainer();
        for (String name : names) {
            container = container
                    .addNewEnvFrom()
                    .withNewSecretRef(name, null)
                    .withNewConfigMapRef(name, null)
                    .endEnvFrom();
        }
        return container.endContainer().endSpec().build();
    }
}
