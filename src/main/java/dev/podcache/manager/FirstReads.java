package dev.podcache.manager;

import com.google.common.collect.Sets;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Waits until each of several objects was read once, and reads them meanwhile. An object that does not exist counts as
 * read. For one call of {@link #await}.
 */
final class FirstReads {

    /*
     * What ends the wait is `allRead`: a read that ends, or a change of a store, takes its object out of `unread`, and
     * whoever takes out the last one completes it. So the wait ends as soon as the last object is known, however that came.
     *
     * Reads are made in rounds. A round ends with its last read, and the next one begins a pause later, for what is still
     * unread: under CACHE nothing else asks the API server again, and under WATCH a get makes a broken watch hurry.
     */

    /** The pause before objects whose read failed are read again. */
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final Function<ObjectRef, StoreManager<?>> managers;
    private final Timekeeper timekeeper;
    private final Set<ObjectRef> unread = ConcurrentHashMap.newKeySet();
    private final CompletableFuture<Void> allRead = new CompletableFuture<>();

    FirstReads(Function<ObjectRef, StoreManager<?>> managers, Timekeeper timekeeper) {
        this.managers = managers;
        this.timekeeper = timekeeper;
    }

    /**
     * Returns those of {@code entries} that were not read within {@code timeout}, and those without a legal name, which
     * are never read. An interrupt ends the wait; the interrupt status is then set.
     */
    Set<ObjectRef> await(List<ObjectEntry> entries, Duration timeout) {
        Set<ObjectRef> unreadable = new LinkedHashSet<>();
        for (ObjectEntry entry : entries) {
            if (!StoreManager.isRead(entry.cacheState())) {
                boolean legal = entry.kind().isLegal(entry.key());
                (legal ? unread : unreadable).add(ObjectRef.of(entry.kind(), entry.key()));
            }
        }
        if (!unread.isEmpty()) {
            List<Runnable> observed = observe();
            try {
                readInRounds(timeout);
            } finally {
                observed.forEach(Runnable::run);
            }
        }
        return Sets.union(Set.copyOf(unread), unreadable);
    }

    /** Observes the stores, then takes out the objects that were read before that. */
    private List<Runnable> observe() {
        List<Runnable> ends = new ArrayList<>();
        Set<StoreManager<?>> observed = new HashSet<>();
        for (ObjectRef object : unread) {
            StoreManager<?> manager = managers.apply(object);
            if (observed.add(manager)) {
                ends.add(manager.store.observePassively(key -> changed(ObjectRef.of(object.kind(), key))));
            }
            changed(object);
        }
        return ends;
    }

    private void changed(ObjectRef object) {
        if (unread.contains(object) && managers.apply(object).isRead(object.key())) {
            isRead(object);
        }
    }

    private void isRead(ObjectRef object) {
        unread.remove(object);
        if (unread.isEmpty()) {
            allRead.complete(null);
        }
    }

    private void readInRounds(Duration timeout) {
        long begin = timekeeper.nanoTime();
        Duration left = timeout;
        boolean waited = true;
        while (waited && !unread.isEmpty() && left.compareTo(Duration.ZERO) > 0) {
            CompletableFuture<?> round =
                    CompletableFuture.allOf(unread.stream().map(this::read).toArray(CompletableFuture[]::new));
            waited = await(CompletableFuture.anyOf(allRead, round), left);
            left = timeout.minusNanos(timekeeper.nanoTime() - begin);
            if (waited && !unread.isEmpty()) {
                waited = await(allRead, left.compareTo(PAUSE) < 0 ? left : PAUSE);
                left = timeout.minusNanos(timekeeper.nanoTime() - begin);
            }
        }
    }

    private CompletableFuture<?> read(ObjectRef object) {
        // nobody is handed what is read, so nobody's right is asked
        return managers.apply(object)
                .store
                .getAsync(object.namespace(), object.name())
                .whenComplete((found, failure) -> ended(object, failure));
    }

    private void ended(ObjectRef object, @Nullable Throwable failure) {
        if (failure == null || failure instanceof NotFound || failure instanceof NotRegistered) {
            isRead(object);
        }
    }

    /** Returns false if the thread was interrupted. */
    private boolean await(CompletableFuture<?> completion, Duration timeout) {
        try {
            boolean unused = timekeeper.await(completion, timeout);
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
