package dev.podcache.manager;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.Multiset;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.Referrer;
import dev.podcache.pod.PodReferences;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Pods;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Secret;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A pod is registered anew while it is being unregistered: the registration that it finds is about to be released, and
 * when its turn comes there is nothing to add to any more.
 */
@ExtendWith(NoLeaks.class)
class RegisterWhileUnregisteringTest {

    private static final Pod OLD = Pods.at(Pods.withSecrets("default", "web", "uid", "a"), "1");
    private static final Pod NEW = Pods.at(Pods.withSecrets("default", "web", "uid", "b"), "2");

    private final HoldingStore store = new HoldingStore();
    private final Manager<Secret> manager = Manager.caching(store, PodReferences::secretKeys);

    /** Counts references, and holds whoever deletes one until released. */
    private static final class HoldingStore extends ReferencesOnly {

        final Multiset<ObjectKey> references = HashMultiset.create();
        final CountDownLatch arrived = new CountDownLatch(1);
        final CountDownLatch released = new CountDownLatch(1);

        @Override
        public synchronized void addReference(ObjectKey key, Referrer referrer) {
            references.add(key);
        }

        @Override
        public void deleteReference(ObjectKey key, Referrer referrer) {
            arrived.countDown();
            try {
                released.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            synchronized (this) {
                references.remove(key);
            }
        }
    }

    @Test
    void newVersion_isRegisteredAfterTheOldIsGone_andCanBeUnregistered() throws InterruptedException {
        manager.registerPod(OLD);
        Thread unregistering = new Thread(() -> manager.unregisterPod(OLD));
        unregistering.start();
        store.arrived.await();
        Thread registering = new Thread(() -> manager.registerPod(NEW));
        registering.start();
        while (registering.getState() != Thread.State.BLOCKED) {
            Thread.onSpinWait();
        }
        store.released.countDown();
        unregistering.join();
        registering.join();

        assertThat(store.references).containsExactly(ObjectKey.of("default", "b"));
        manager.unregisterPod(NEW);
        assertThat(store.references).isEmpty();
    }
}
