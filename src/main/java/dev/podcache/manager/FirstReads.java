package dev.podcache.manager;

import com.google.common.collect.ImmutableMap;
import com.google.common.collect.Maps;
import com.google.common.collect.Sets;
import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectRef;
import dev.podcache.object.ObjectUnavailableException.NotFound;
import dev.podcache.object.ObjectUnavailableException.NotRegistered;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;

/** Reads objects until each was read once. An object that does not exist counts as read. Not thread-safe. */
final class FirstReads {

    /** The pause before objects whose read failed are read again. */
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final Function<ObjectRef, Manager<?>> managers;
    private final Timekeeper timekeeper;

    FirstReads(Function<ObjectRef, Manager<?>> managers, Timekeeper timekeeper) {
        this.managers = managers;
        this.timekeeper = timekeeper;
    }

    /**
     * Returns those of {@code entries} that were not read within {@code timeout}, and those without a legal name, which
     * are never read. An interrupt ends the wait; the interrupt status is then set.
     */
    Set<ObjectRef> await(List<ObjectEntry> entries, Duration timeout) {
        long begin = timekeeper.nanoTime();
        Set<ObjectRef> unreadable = new LinkedHashSet<>();
        Set<ObjectRef> unread = new LinkedHashSet<>();
        for (ObjectEntry entry : entries) {
            if (entry.cacheState() == CacheState.UNREAD || entry.cacheState() == CacheState.NOT_SYNCED) {
                boolean legal = entry.kind().isLegal(entry.key());
                (legal ? unread : unreadable).add(ObjectRef.of(entry.kind(), entry.key()));
            }
        }
        Duration left = timeout;
        boolean waited = true;
        while (waited && !unread.isEmpty() && left.compareTo(Duration.ZERO) > 0) {
            waited = readAll(unread, left);
            left = timeout.minusNanos(timekeeper.nanoTime() - begin);
            if (waited && !unread.isEmpty()) {
                waited = await(new CompletableFuture<>(), left.compareTo(PAUSE) < 0 ? left : PAUSE);
            }
        }
        return Sets.union(unread, unreadable);
    }

    /** Reads objects, and removes those that were read. Returns false if the thread was interrupted. */
    private boolean readAll(Set<ObjectRef> unread, Duration timeout) {
        ImmutableMap<ObjectRef, CompletableFuture<?>> reads =
                Maps.toMap(unread, object -> managers.apply(object).getObjectAsync(object.namespace(), object.name()));
        boolean waited = await(CompletableFuture.allOf(reads.values().toArray(CompletableFuture[]::new)), timeout);
        reads.forEach((object, read) -> {
            if (isRead(read)) {
                unread.remove(object);
            }
        });
        return waited;
    }

    private boolean isRead(CompletableFuture<?> read) {
        if (!read.isDone()) {
            return false;
        }
        try {
            read.join();
            return true;
        } catch (CompletionException e) {
            return e.getCause() instanceof NotFound || e.getCause() instanceof NotRegistered;
        }
    }

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
