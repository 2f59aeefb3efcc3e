package dev.podcache.chaos;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/** P5: the objects that a cache has handed out. When nobody refers to them any more, nothing reaches them. Thread-safe. */
final class Handed {

    private static final Duration POLL = Duration.ofMillis(100);

    private final Set<Reference<?>> objects = ConcurrentHashMap.newKeySet();
    private final ReferenceQueue<Object> collected = new ReferenceQueue<>();

    /** A get has returned it. */
    void add(Object object) {
        objects.add(new WeakReference<>(object, collected));
        forget();
    }

    /** How many of them can still be reached, after waiting at most {@code patience} for the collector. */
    long reachable(Duration patience) {
        long giveUp = System.nanoTime() + patience.toNanos();
        System.gc();
        forget();
        while (!objects.isEmpty() && System.nanoTime() < giveUp) {
            LockSupport.parkNanos(POLL.toNanos());
            System.gc();
            forget();
        }
        return objects.stream()
                .map(Reference::get)
                .filter(object -> object != null)
                .distinct()
                .count();
    }

    private void forget() {
        for (Reference<?> gone = collected.poll(); gone != null; gone = collected.poll()) {
            objects.remove(gone);
        }
    }
}
