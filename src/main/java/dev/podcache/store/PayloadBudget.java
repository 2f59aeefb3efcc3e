package dev.podcache.store;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bounds the bytes of payload that all stores sharing it hold, counted as received. Over the bound, the least used
 * payloads are evicted; their references stay, and the next get reads the object again. A payload larger than the whole
 * budget is never held. Equal payloads of these stores are kept once, but each of them counts. Thread-safe.
 *
 * <p>The bound is restored after each change of an answer. So it is exceeded by at most one object for each thread that
 * receives objects.
 */
public final class PayloadBudget {

    /*
     * Caffeine maps an entry to the bytes of its payload and decides which to evict. The payload itself stays in the
     * entry, because a failed refresh must still serve an object that an expiring cache would have dropped. A hit never
     * touches Caffeine: a sweep reports the entries that were read since the last sweep.
     *
     * An entry's answer and its weight here cannot change in one step. So each change of an answer is followed by
     * setWeight(), which repeats until the weight matches the answer: the last change leaves the right weight.
     *
     * Caffeine evicts on a thread that adds a weight, under its own lock. The entries that it evicts are queued, and
     * drop their payloads without that lock, one after the other: weigh() in an eviction would evict the next one
     * inside it, as deep as there are entries in the queue.
     *
     * `sweeping` is true from the moment a sweep is scheduled until it has ended, whatever it threw. Then the next one is
     * scheduled if payloads are held, by the sweep itself or by the weighing of the next payload.
     */

    private static final Logger log = LoggerFactory.getLogger(PayloadBudget.class);

    private static final Duration SWEEP = Duration.ofSeconds(1);

    final Answer.SharedPayloads shared = new Answer.SharedPayloads();

    private final @Nullable Cache<Entry<?>, Integer> weights;
    private final Timekeeper timekeeper;
    private final AtomicBoolean sweeping = new AtomicBoolean();
    private final Queue<Entry<?>> evicted = new ConcurrentLinkedQueue<>();

    private PayloadBudget(long bytes, Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
        this.weights = bytes == Long.MAX_VALUE
                ? null
                : Caffeine.newBuilder()
                        .maximumWeight(bytes)
                        .weigher((Entry<?> entry, Integer weight) -> weight)
                        .executor(Runnable::run)
                        .removalListener((@Nullable Entry<?> entry, @Nullable Integer weight, RemovalCause cause) -> {
                            if (cause.wasEvicted() && entry != null) {
                                evicted.add(entry);
                            }
                        })
                        .build();
    }

    /** Returns a budget without a bound. */
    public static PayloadBudget unlimited(Timekeeper timekeeper) {
        return new PayloadBudget(Long.MAX_VALUE, timekeeper);
    }

    /**
     * Returns a budget of {@code bytes} bytes.
     *
     * @throws IllegalArgumentException if {@code bytes} is not positive
     */
    public static PayloadBudget ofBytes(long bytes, Timekeeper timekeeper) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("payloadBudget must be a positive number of bytes, but is " + bytes);
        }
        return new PayloadBudget(bytes, timekeeper);
    }

    /** Returns whether there is a bound, so that payloads need to be weighed. */
    boolean isLimited() {
        return weights != null;
    }

    /** Sets the weight of an entry to the size of its payload, and evicts what is over the bound. Throws nothing. */
    void weigh(Entry<?> entry) {
        if (weights == null) {
            return;
        }
        setWeight(weights, entry);
        // while another thread evicts, put() does not, and what is too much would stay until the next one
        weights.cleanUp();
        evictAll(weights);
        startSweeping(weights);
    }

    private static void setWeight(Cache<Entry<?>, Integer> cache, Entry<?> entry) {
        Answer<?> weighed;
        do {
            weighed = entry.held();
            if (weighed instanceof Answer.Present<?> present) {
                cache.put(entry, present.encodedBytes);
            } else {
                cache.invalidate(entry);
            }
        } while (entry.held() != weighed);
    }

    private void evictAll(Cache<Entry<?>, Integer> cache) {
        for (Entry<?> next = evicted.poll(); next != null; next = evicted.poll()) {
            try {
                next.evict();
                setWeight(cache, next);
            } catch (Throwable e) {
                log.error(
                        "the eviction of {} failed; the payload budget does not count it until it changes; this is a bug",
                        next.key,
                        e);
            }
        }
    }

    /** Schedules a sweep, unless one is scheduled or no payload is held. */
    private void startSweeping(Cache<Entry<?>, Integer> cache) {
        if (cache.asMap().isEmpty() || !sweeping.compareAndSet(false, true)) {
            return;
        }
        try {
            timekeeper.schedule(SWEEP, () -> sweep(cache));
        } catch (Throwable e) {
            sweeping.set(false);
            log.warn(
                    "the reads of objects are not counted for the payload budget until the next object is received:"
                            + " no timer could be started",
                    e);
        }
    }

    private void sweep(Cache<Entry<?>, Integer> cache) {
        try {
            for (Entry<?> entry : cache.asMap().keySet()) {
                if (entry.touched) {
                    entry.touched = false;
                    entry.touchedBefore = true;
                    // called for its effect: a lookup records a use
                    Integer unused = cache.getIfPresent(entry);
                }
            }
        } finally {
            sweeping.set(false);
            startSweeping(cache);
            evictAll(cache);
        }
    }
}
