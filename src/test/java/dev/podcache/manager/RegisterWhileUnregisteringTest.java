package dev.podcache.manager;

import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Referrer;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * An owner is registered anew while it is being unregistered: the registration that it finds is about to be released, and
 * when its turn comes there is nothing to add to any more.
 */
@ExtendWith(NoLeaks.class)
class RegisterWhileUnregisteringTest {

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final TtlObjectStore<Secret> store = new TtlObjectStore<>(
            ObjectKind.SECRET,
            server.getter(ObjectKind.SECRET),
            FixedTtl.ofSeconds(60),
            StoreOptions.defaults(timekeeper));
    private final Manager<Secret> manager = Managers.caching(store, pod -> Set.of());
    private final HoldingOwner owner = new HoldingOwner();

    /** Holds the thread that takes back its reference until released, in the middle of the store's work. */
    private static final class HoldingOwner implements Referrer {

        final CountDownLatch arrived = new CountDownLatch(1);
        final CountDownLatch released = new CountDownLatch(1);
        private volatile @Nullable Thread held;

        @Override
        public String uid() {
            return "uid";
        }

        @Override
        public boolean equals(@Nullable Object other) {
            if (Thread.currentThread() == held) {
                held = null;
                arrived.countDown();
                try {
                    released.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            return this == other;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    @AfterEach
    void close() {
        store.close();
        server.close();
    }

    @Test
    void newObjects_areRegisteredAfterTheOldAreGone_andCanBeUnregistered() throws InterruptedException {
        manager.register(owner, Set.of(ObjectKey.of("default", "a")));
        Thread unregistering = new Thread(() -> manager.unregister(owner));
        owner.held = unregistering;
        unregistering.start();
        owner.arrived.await();
        Thread registering = new Thread(() -> manager.register(owner, Set.of(ObjectKey.of("default", "b"))));
        registering.start();
        while (registering.getState() != Thread.State.BLOCKED) {
            Thread.onSpinWait();
        }
        owner.released.countDown();
        unregistering.join();
        registering.join();

        assertThat(store.keys()).containsExactly(ObjectKey.of("default", "b"));
        manager.unregister(owner);
        assertThat(store.keys()).isEmpty();
    }
}
