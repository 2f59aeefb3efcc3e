package dev.podcache;

import static dev.podcache.testing.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.manager.ChangeDetectionStrategy;
import dev.podcache.testing.FakeApiServer;
import dev.podcache.testing.ManualTimekeeper;
import dev.podcache.testing.NewThread;
import dev.podcache.testing.NoLeaks;
import dev.podcache.testing.Patience;
import dev.podcache.testing.Pods;
import dev.podcache.testing.Secrets;
import io.fabric8.kubernetes.api.model.Secret;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.EnumSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.StampedLock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A hit takes no lock: it returns while another thread holds every lock of the cache. */
@ExtendWith(NoLeaks.class)
class HitLockTest {

    private final ManualTimekeeper timekeeper = new ManualTimekeeper();

    @ParameterizedTest
    @EnumSource(
            value = ChangeDetectionStrategy.class,
            names = {"CACHE", "WATCH"})
    void getObject_hitWhileEveryLockIsHeld_returns(ChangeDetectionStrategy strategy) throws Exception {
        try (FakeApiServer server = new FakeApiServer(timekeeper);
                Podcache cache = CacheWithoutHttp.of(strategy, server, timekeeper)) {
            server.cluster().create(Secrets.of("shop", "db", "v1"));
            cache.registerPod(Pods.withSecrets("shop", "web", "uid-web", "db"));
            assertThat(Secrets.value(cache.secrets().getObject("shop", "db"))).isEqualTo("v1");
            HeldLocks locks = new HeldLocks(cache);
            Thread registering =
                    new Thread(() -> cache.registerPod(Pods.withSecrets("shop", "other", "uid-other", "db")));
            try {
                // what does take a lock waits
                registering.start();
                await().until(() ->
                        EnumSet.of(Thread.State.BLOCKED, Thread.State.WAITING).contains(registering.getState()));

                CompletableFuture<Secret> hit =
                        CompletableFuture.supplyAsync(() -> cache.secrets().getObject("shop", "db"), NewThread.EACH);

                assertThat(Secrets.value(hit.get(Patience.SECONDS, TimeUnit.SECONDS)))
                        .isEqualTo("v1");
                assertThat(registering.isAlive()).as("the locks are still held").isTrue();
            } finally {
                locks.release();
                registering.join();
            }
        }
    }

    /** Holds the monitor of each object that leads from a cache, and each lock of {@code java.util.concurrent}. */
    private static final class HeldLocks {

        private static final long STACK_BYTES = 1 << 28; // of one frame for each lock

        private final CountDownLatch released = new CountDownLatch(1);
        private final Thread holder;

        HeldLocks(Podcache cache) throws Exception {
            Set<Object> all = reachable(cache);
            CountDownLatch held = new CountDownLatch(1);
            holder = new Thread(null, () -> hold(all.iterator(), held), "holder", STACK_BYTES);
            holder.setDaemon(true);
            holder.start();
            assertThat(held.await(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
        }

        void release() throws InterruptedException {
            released.countDown();
            holder.join();
        }

        private void hold(Iterator<Object> rest, CountDownLatch held) {
            if (!rest.hasNext()) {
                held.countDown();
                try {
                    released.await();
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                return;
            }
            Object next = rest.next();
            Lock lock = lockOf(next);
            if (lock != null) {
                lock.lock();
            }
            try {
                synchronized (next) {
                    hold(rest, held);
                }
            } finally {
                if (lock != null) {
                    lock.unlock();
                }
            }
        }

        private static @Nullable Lock lockOf(Object object) {
            if (object instanceof ReadWriteLock both) {
                return both.writeLock();
            }
            if (object instanceof StampedLock stamped) {
                return stamped.asWriteLock();
            }
            return object instanceof Lock lock ? lock : null;
        }

        private static Set<Object> reachable(Object root) throws IllegalAccessException {
            Set<Object> found = Collections.newSetFromMap(new IdentityHashMap<>());
            Deque<Object> next = new ArrayDeque<>();
            next.add(root);
            while (!next.isEmpty()) {
                Object object = next.remove();
                if (!isOfTheTest(object.getClass()) && found.add(object)) {
                    addReferents(object, next);
                }
            }
            return found;
        }

        /** The clock and the server are not of the cache. */
        private static boolean isOfTheTest(Class<?> type) {
            String name = type.getName();
            return name.startsWith("dev.podcache.testing.")
                    || name.startsWith("dev.podcache.embedded.")
                    || type == Class.class
                    || type == String.class;
        }

        private static void addReferents(Object object, Deque<Object> next) throws IllegalAccessException {
            if (object instanceof Map<?, ?> map) {
                map.forEach((key, value) -> {
                    next.add(key);
                    next.add(value);
                });
            } else if (object instanceof Iterable<?> all) {
                all.forEach(each -> addIfPresent(each, next));
            } else if (object instanceof AtomicReference<?> reference) {
                addIfPresent(reference.get(), next);
            } else if (object instanceof Object[] array) {
                for (int i = 0; i < Array.getLength(array); i++) {
                    addIfPresent(array[i], next);
                }
            }
            for (Class<?> type = object.getClass();
                    type != null && !type.getModule().isNamed(); ) {
                for (Field field : type.getDeclaredFields()) {
                    if (!field.getType().isPrimitive() && !Modifier.isStatic(field.getModifiers())) {
                        field.setAccessible(true);
                        addIfPresent(field.get(object), next);
                    }
                }
                type = type.getSuperclass();
            }
        }

        private static void addIfPresent(@Nullable Object object, Deque<Object> next) {
            if (object != null) {
                next.add(object);
            }
        }
    }
}
