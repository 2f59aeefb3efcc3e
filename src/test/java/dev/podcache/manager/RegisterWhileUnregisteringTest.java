package dev.podcache.manager;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.ObjectUnavailableException.Denied;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.object.Referrer;
import dev.podcache.object.Subject;
import dev.podcache.store.StoreOptions;
import dev.podcache.store.TtlObjectStore;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.FixedTtl;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * An owner is registered anew, or reads, while its registration is being changed: it waits for its turn, and sees all of the
 * change. Reads without an owner may see the change already, so a read of the owner that did not would have come after them
 * and before them.
 */
@ExtendWith(NoLeaks.class)
class RegisterWhileUnregisteringTest {

    private static final Subject WEB = Subject.serviceAccount("default", "web");
    private static final Set<ObjectKey> A = Set.of(ObjectKey.of("default", "a"));

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final TtlObjectStore<Secret> store = new TtlObjectStore<>(
            ObjectKind.SECRET,
            server.getter(ObjectKind.SECRET),
            FixedTtl.ofSeconds(60),
            StoreOptions.defaults(timekeeper));
    private final Manager<Secret> manager = Managers.caching(store, pod -> Set.of());
    private final HoldingOwner owner = new HoldingOwner();

    /** Holds the thread that adds its reference, or takes it back, until released, in the middle of the store's work. */
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
            holdOnce();
            return this == other;
        }

        @Override
        public int hashCode() {
            holdOnce();
            return 1;
        }

        private void holdOnce() {
            if (Thread.currentThread() == held) {
                held = null;
                arrived.countDown();
                try {
                    released.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        }
    }

    /** Begins a change of the owner's registration, and returns once it is held in the store. */
    private Thread beginAndHold(Runnable change) throws InterruptedException {
        Thread changing = new Thread(change);
        owner.held = changing;
        changing.start();
        owner.arrived.await();
        return changing;
    }

    private static Thread beginAndAwaitBlocked(Runnable action) {
        Thread thread = new Thread(action);
        thread.start();
        await().until(() -> {
            assertThat(thread.isAlive()).as("it did not wait").isTrue();
            return thread.getState() == Thread.State.BLOCKED;
        });
        return thread;
    }

    /** Has the owner read while {@code change} is held. Returns how the read ended when the change was over. */
    private Throwable readDuring(Runnable change, Referrer reader) throws InterruptedException {
        AtomicReference<Throwable> ended = new AtomicReference<>();
        Thread changing = beginAndHold(change);
        try {
            Thread reading = beginAndAwaitBlocked(() -> ended.set(catchThrowable(() -> read(reader))));
            owner.released.countDown();
            reading.join();
        } finally {
            owner.released.countDown();
            changing.join();
        }
        return ended.get();
    }

    private Secret read(Referrer reader) {
        return manager.getObject(reader, "default", "a");
    }

    @AfterEach
    void close() {
        store.close();
        server.close();
    }

    @Test
    void newObjects_areRegisteredAfterTheOldAreGone_andCanBeUnregistered() throws InterruptedException {
        manager.register(owner, A);
        Thread unregistering = beginAndHold(() -> manager.unregister(owner));
        Thread registering = beginAndAwaitBlocked(() -> manager.register(owner, Set.of(ObjectKey.of("default", "b"))));
        owner.released.countDown();
        unregistering.join();
        registering.join();

        assertThat(store.keys()).containsExactly(ObjectKey.of("default", "b"));
        manager.unregister(owner);
        assertThat(store.keys()).isEmpty();
    }

    @Test
    void read_whileTheOwnerIsUnregistered_waitsAndFindsItUnregistered() throws InterruptedException {
        manager.register(owner, A);

        assertThat(readDuring(() -> manager.unregister(owner), owner)).isInstanceOf(NotRegistered.class);
    }

    @Test
    void readWithAnotherSubject_whileTheOwnerIsUnregistered_waitsAndFindsItUnregistered() throws InterruptedException {
        manager.register(owner, A);

        assertThat(readDuring(() -> manager.unregister(owner), owner.onBehalfOf(WEB)))
                .isInstanceOf(NotRegistered.class);
    }

    @Test
    void read_whileTheOwnerIsRegistered_waitsAndFindsTheObject() throws Exception {
        server.cluster().create(Secrets.of("default", "a", "v1"));
        // with two references, the store finds its owners by hash
        manager.register(() -> "other", A);
        manager.register(() -> "another", A);

        assertThat(readDuring(() -> manager.register(owner, A), owner)).isNull();
    }

    @Test
    void read_whileTheOwnerGetsASubject_waitsAndReadsOnBehalfOfIt() throws InterruptedException {
        manager.register(owner, A);
        Referrer onBehalf = owner.onBehalfOf(WEB);

        assertThat(readDuring(() -> manager.register(onBehalf, A), onBehalf)).isInstanceOf(Denied.class);
    }

    @Test
    void read_whileTheOwnerLosesItsSubject_waitsAndReadsWithoutOne() throws InterruptedException {
        Referrer onBehalf = owner.onBehalfOf(WEB);
        manager.register(onBehalf, A);

        assertThat(readDuring(() -> manager.register(owner, A), onBehalf))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is registered without a subject");
    }
}
