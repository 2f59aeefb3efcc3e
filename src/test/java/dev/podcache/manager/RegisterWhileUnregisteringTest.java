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
import dev.podcache.testing.Patience;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An owner is registered, or reads, while its registration is being changed: it waits for its turn, and sees all of the change. */
@ExtendWith(NoLeaks.class)
class RegisterWhileUnregisteringTest {

    private static final Subject WEB = Subject.serviceAccount("default", "web");
    private static final Set<ObjectKey> A = Set.of(ObjectKey.of("default", "a"));
    private static final Set<ObjectKey> B = Set.of(ObjectKey.of("default", "b"));
    private static final Referrer OTHER = () -> "other";

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();
    private final FakeApiServer server = new FakeApiServer(timekeeper);
    private final TtlObjectStore<Secret> store = new TtlObjectStore<>(
            ObjectKind.SECRET,
            server.getter(ObjectKind.SECRET),
            FixedTtl.ofSeconds(60),
            StoreOptions.defaults(timekeeper));
    private final Manager<Secret> manager = Managers.caching(store, pod -> Set.of());
    private final HoldingOwner owner = new HoldingOwner();
    private final Referrer onBehalf = owner.onBehalfOf(WEB);

    /** Holds a thread that adds or takes back its reference until released, in the middle of the store's work. */
    private static final class HoldingOwner implements Referrer {

        final CountDownLatch arrived = new CountDownLatch(1);
        final CountDownLatch released = new CountDownLatch(1);
        private volatile @Nullable Thread held;
        private volatile String step = "";

        void hold(Thread thread, String ofStore) {
            step = ofStore;
            held = thread;
        }

        @Override
        public String uid() {
            holdOnce();
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
            if (Thread.currentThread() == held && isIn(step)) {
                held = null;
                arrived.countDown();
                try {
                    released.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        }

        private static boolean isIn(String method) {
            return StackWalker.getInstance()
                    .walk(frames ->
                            frames.anyMatch(frame -> frame.getMethodName().equals(method)));
        }
    }

    @BeforeEach
    void objectIsInMemory() throws Exception {
        server.cluster().create(Secrets.of("default", "a", "v1"));
        // others hold it too: the store finds its owners by hash, and a read with a hold is a hit, which takes no lock
        manager.register(OTHER, A);
        manager.register(() -> "another", A);
    }

    @AfterEach
    void close() {
        store.close();
        server.close();
    }

    /** Runs {@code meanwhile} on a thread of its own, which must wait, while {@code change} is held in a step of the store. */
    private void during(Runnable change, String step, Runnable meanwhile) throws InterruptedException {
        assertThat(Secrets.value(read(OTHER))).isEqualTo("v1");
        Thread changing = new Thread(change);
        Thread other = new Thread(meanwhile);
        owner.hold(changing, step);
        changing.start();
        try {
            assertThat(owner.arrived.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
            other.start();
            await().until(() -> {
                assertThat(other.isAlive()).as("it did not wait").isTrue();
                return other.getState() == Thread.State.BLOCKED;
            });
        } finally {
            owner.released.countDown();
            changing.join();
            other.join();
        }
    }

    /** Has the owner read meanwhile. Returns how that ended when the change was over; null if it returned the object. */
    private @Nullable Throwable readDuring(Runnable change, String step, Referrer reader) throws InterruptedException {
        AtomicReference<@Nullable Throwable> ended = new AtomicReference<>(new AssertionError("nothing was read"));
        during(change, step, () -> ended.set(catchThrowable(() -> read(reader))));
        return ended.get();
    }

    private Secret read(Referrer reader) {
        return manager.getObject(reader, "default", "a");
    }

    @Test
    void newObjects_areRegisteredAfterTheOldAreGone_andCanBeUnregistered() throws InterruptedException {
        manager.register(owner, A);
        during(() -> manager.unregister(owner), "deleteReference", () -> manager.register(owner, B));

        assertThat(store.keys()).containsExactlyInAnyOrder(ObjectKey.of("default", "a"), ObjectKey.of("default", "b"));
        manager.unregister(owner);
        assertThat(store.keys()).containsExactly(ObjectKey.of("default", "a"));
    }

    @Test
    void read_whileTheOwnerIsUnregistered_findsItUnregistered() throws InterruptedException {
        manager.register(owner, A);

        assertThat(readDuring(() -> manager.unregister(owner), "deleteReference", owner))
                .isInstanceOf(NotRegistered.class);
    }

    @Test
    void readWithASubject_whileTheOwnerIsUnregistered_findsItUnregistered() throws InterruptedException {
        manager.register(owner, A);

        assertThat(readDuring(() -> manager.unregister(owner), "deleteReference", onBehalf))
                .isInstanceOf(NotRegistered.class);
    }

    @Test
    void read_whileTheOwnerIsRegistered_findsTheObject() throws InterruptedException {
        assertThat(readDuring(() -> manager.register(owner, A), "addReference", owner))
                .isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"addReference", "deleteReference"})
    void read_whileTheOwnerGetsASubject_isOnBehalfOfIt(String step) throws InterruptedException {
        manager.register(owner, A);

        assertThat(readDuring(() -> manager.register(onBehalf, A), step, onBehalf))
                .isInstanceOf(Denied.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"addReference", "deleteReference"})
    void readWithoutASubject_whileTheOwnerGetsOne_isRefused(String step) throws InterruptedException {
        manager.register(owner, A);

        assertThat(readDuring(() -> manager.register(onBehalf, A), step, owner))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is registered on behalf of system:serviceaccount:default:web");
    }

    @ParameterizedTest
    @ValueSource(strings = {"addReference", "deleteReference"})
    void readWithASubject_whileTheOwnerLosesIt_isRefused(String step) throws InterruptedException {
        manager.register(onBehalf, A);

        assertThat(readDuring(() -> manager.register(owner, A), step, onBehalf))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is registered without a subject");
    }

    @ParameterizedTest
    @ValueSource(strings = {"addReference", "deleteReference"})
    void read_whileTheOwnerLosesItsSubject_findsTheObject(String step) throws InterruptedException {
        manager.register(onBehalf, A);

        assertThat(readDuring(() -> manager.register(owner, A), step, owner)).isNull();
    }

    /** Under GET, an owner without a subject reads whether or not it is registered. */
    @Test
    void readUnderGet_ofAnOwnerWithASubjectThatIsBeingForgotten_findsTheObject() throws Exception {
        OnBehalfFixture cache = new OnBehalfFixture(timekeeper, ChangeDetectionStrategy.GET);
        cache.create(OnBehalfFixture.TLS, "v1");
        cache.register(onBehalf, OnBehalfFixture.TLS);
        Thread forgetting = new Thread(() -> cache.managers.unregister(owner));
        // it holds nothing any more, and is still found by its UID
        owner.hold(forgetting, "forgetIfReleased");
        forgetting.start();
        try {
            assertThat(owner.arrived.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();

            assertThat(cache.secrets.getObjectAsync(owner, "shop", "tls"))
                    .succeedsWithin(Duration.ofSeconds(Patience.SECONDS));
        } finally {
            owner.released.countDown();
            forgetting.join();
        }
    }
}
