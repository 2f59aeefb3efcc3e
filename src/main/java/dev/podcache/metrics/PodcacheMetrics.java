package dev.podcache.metrics;

import dev.podcache.object.CacheState;
import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Told what the caches do. Every method does nothing unless overridden, so that an
 * implementation names only what it counts.
 *
 * <p>Hits are not told: a hit costs about as much as reading a field, and counting it would cost more than the hit. A
 * caller who wants to know counts its gets and subtracts what is {@link #missed}.
 *
 * <p><b>Rules for implementations.</b> Be fast, do not block, do not call back into Podcache. What is thrown is logged
 * once and otherwise ignored. Methods are called by many threads, at the same time, and never under a lock of
 * Podcache's. Do not make the key a label of a meter: that is one time series for each object.
 */
public interface PodcacheMetrics {

    /** Counts nothing. */
    PodcacheMetrics NONE = new PodcacheMetrics() {};

    /**
     * A get found no fresh answer and took the slow path: it waits for a request, or is served what is known. Called on
     * the thread of the get, before anything else happens.
     *
     * @param strategy {@code GET}, {@code CACHE} or {@code WATCH}
     */
    default void missed(ObjectKind<?> kind, ObjectKey key, String strategy) {}

    /**
     * A get was answered with an object older than the strategy promises, rather than with an
     * error. On the get's thread.
     */
    default void staleServed(ObjectKind<?> kind, ObjectKey key, String strategy) {}

    /**
     * A fetch ended: the requests, with their repetitions, that one or many gets waited for.
     *
     * @param why what made it necessary, such as {@code first read} or {@code expired}; few values, fit for a label
     * @param failure null if an answer came; "there is no such object" is the failure {@link FailureReason#NOT_FOUND}
     * @param took from the beginning of the first request to the last answer
     */
    default void fetched(
            ObjectKind<?> kind, ObjectKey key, String why, @Nullable FailureReason failure, Duration took) {}

    /**
     * What is known of an object changed. Changes of one object are told in order, on a thread of Podcache's, a moment
     * after the fact. An answer that only repeats what is known is no change.
     * Who acts on changes gets the object anew, on another thread, whatever the cause: after {@code idle}
     * nothing more is told before that get.
     *
     * @param from what was known before; of {@link CacheState}, only UNREAD, FRESH and ABSENT are told here
     * @param to what is known now; the same as {@code from} when one state of the object followed another
     * @param cause {@code referenced}, {@code fetched}, {@code watched}, {@code idle}, {@code
     *     dropped} or {@code evicted}
     */
    default void changed(ObjectKind<?> kind, ObjectKey key, CacheState from, CacheState to, String cause) {}

    /**
     * Strategy WATCH: a list or watch of an object failed, and what is held may be behind until {@link #watchSynced}.
     * Told at each failed attempt, on a thread that must not be held up.
     */
    default void watchFailed(ObjectKind<?> kind, ObjectKey key, FailureReason failure) {}

    /**
     * Strategy WATCH: an object is watched, and what is held is up to date but for news that is under way. Told once for
     * each time that it was not. On a thread that must not be held up.
     *
     * @param took since it was not: since the watch was first wanted, or was lost
     */
    default void watchSynced(ObjectKind<?> kind, ObjectKey key, Duration took) {}

    /** A listener that passes everything on to {@code metrics} and never throws. */
    static PodcacheMetrics guarded(PodcacheMetrics metrics) {
        return metrics == NONE || metrics instanceof GuardedMetrics ? metrics : new GuardedMetrics(metrics);
    }
}
