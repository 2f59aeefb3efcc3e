package dev.podcache;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.io.Closer;
import dev.podcache.manager.Managers;
import dev.podcache.object.ObjectKind;
import dev.podcache.store.Store;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.ManualTimekeeper;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;

/** A pod that is registered and unregistered at the same time is registered with both managers, or with none. */
class PodcacheWhileUnregisteringTest {

    private static final int ROUNDS = 20_000;
    private static final Pod POD = new PodBuilder()
            .withNewMetadata()
            .withNamespace("shop")
            .withName("web")
            .withUid("uid-1")
            .endMetadata()
            .withNewSpec()
            .addNewContainer()
            .addNewEnvFrom()
            .withNewSecretRef("both", null)
            .endEnvFrom()
            .addNewEnvFrom()
            .withNewConfigMapRef("both", null)
            .endEnvFrom()
            .endContainer()
            .endSpec()
            .build();

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final TtlObjectStore<Secret> secrets = store(ObjectKind.SECRET);
    private final TtlObjectStore<ConfigMap> configMaps = store(ObjectKind.CONFIG_MAP);
    private final Podcache cache = new Podcache(
            new Managers(new Managers.Stores() {
                @Override
                @SuppressWarnings("unchecked") // the kinds that pods refer to are two
                public <T extends HasMetadata> Store<T> storeOf(ObjectKind<T> kind) {
                    return (Store<T>) (kind.equals(ObjectKind.SECRET) ? secrets : configMaps);
                }

                @Override
                public boolean countsReferences(ObjectKind<?> kind) {
                    return true;
                }
            }),
            timekeeper,
            Closer.create());

    private <T extends HasMetadata> TtlObjectStore<T> store(ObjectKind<T> kind) {
        return new TtlObjectStore<>(
                kind, server.getter(kind), FixedTtl.ofSeconds(60), StoreOptions.defaults(timekeeper));
    }

    @Test
    void registerPod_whileItIsUnregistered_isOneStep() throws Exception {
        CyclicBarrier together = new CyclicBarrier(2);
        Thread unregistering = new Thread(() -> {
            for (int i = 0; i < ROUNDS; i++) {
                await(together);
                cache.unregisterPod(POD);
                await(together);
            }
        });
        unregistering.start();
        int different = 0;
        for (int i = 0; i < ROUNDS; i++) {
            await(together);
            cache.registerPod(POD);
            await(together);
            different += secrets.size() == configMaps.size() ? 0 : 1;
            cache.unregisterPod(POD);
        }
        unregistering.join();

        assertThat(different).as("rounds of %s that left one kind only", ROUNDS).isZero();
        assertThat(secrets.size()).isZero();
        assertThat(configMaps.size()).isZero();
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
