package dev.podcache.store;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.RemovalCause;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A bound on the bytes of payload that all stores sharing it hold, counted as they came over the wire. Over it, the
 * payloads that were read least are forgotten, never the references: the next get fetches again. A payload larger than
 * the whole budget is never held. Thread-safe.
 */
public final class PayloadBudget {

    /*
     * Caffeine maps an entry to the bytes of its payload and decides which to give up; the payload itself stays in the
     * entry, because "the refresh failed, keep serving" needs what an expiring cache would have dropped. A hit never
     * touches Caffeine: a sweep passes on which entries were read since the last one.
     *
     * An entry's answer and its weight here cannot change in one step. So each change of an answer is followed by
     * weigh(), which repeats until it wrote what the answer says: the last change leaves the right weight behind.
     */

    private static final Duration SWEEP = Duration.ofSeconds(1);

    private final @Nullable Cache<Entry<?>, Integer> weights;
    private final Timekeeper timekeeper;
    private final AtomicBoolean sweeping = new AtomicBoolean();

    private PayloadBudget(long bytes, Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
        this.weights = bytes == Long.MAX_VALUE
                ? null
                : Caffeine.newBuilder()
                        .maximumWeight(bytes)
                        .weigher((Entry<?> entry, Integer weight) -> weight)
                        .executor(timekeeper.workers())
                        .removalListener((@Nullable Entry<?> entry, @Nullable Integer weight, RemovalCause cause) -> {
                            if (cause.wasEvicted() && entry != null) {
                                entry.evict();
                            }
                        })
                        .build();
    }

    /** No bound. */
    public static PayloadBudget unlimited(Timekeeper timekeeper) {
        return new PayloadBudget(Long.MAX_VALUE, timekeeper);
    }

    /**
     * A bound of so many bytes.
     *
     * @throws IllegalArgumentException if {@code bytes} is not positive
     */
    public static PayloadBudget ofBytes(long bytes, Timekeeper timekeeper) {
        if (bytes <= 0) {
            throw new IllegalArgumentException("a payload budget of " + bytes
                    + " bytes holds nothing: give a positive number, or leave it out for no bound");
        }
        return new PayloadBudget(bytes, timekeeper);
    }

    /** Makes the weight of an entry that of its answer. */
    void weigh(Entry<?> entry) {
        if (weights == null) {
            return;
        }
        Answer<?> weighed;
        do {
            weighed = entry.answer();
            if (weighed instanceof Answer.Present<?> present) {
                weights.put(entry, present.encodedBytes);
                startSweeping();
            } else {
                weights.invalidate(entry);
            }
        } while (entry.answer() != weighed);
    }

    private void startSweeping() {
        if (sweeping.compareAndSet(false, true)) {
            timekeeper.schedule(SWEEP, this::sweep);
        }
    }

    private void sweep() {
        Cache<Entry<?>, Integer> cache = weights;
        if (cache == null) {
            return;
        }
        for (Entry<?> entry : cache.asMap().keySet()) {
            if (entry.touched) {
                entry.touched = false;
                // for its effect: a lookup is how Caffeine learns of a use
                Integer unused = cache.getIfPresent(entry);
            }
        }
        sweeping.set(false);
        if (!cache.asMap().isEmpty()) {
            startSweeping();
        }
    }
}
