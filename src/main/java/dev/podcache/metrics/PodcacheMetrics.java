package dev.podcache.metrics;

import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A listener for the events of the caches. Every method does nothing unless overridden, so an implementation contains
 * only what it counts.
 *
 * <p>Cache hits are not reported: a hit costs about as much as reading a field, and a call would cost more. {@code
 * PodcacheBuilder.recordStats} counts them.
 *
 * <p><b>Rules for implementations.</b> Be fast, do not block, do not call Podcache. Methods are called by many threads
 * concurrently, and never under a lock of Podcache. What a method throws is logged, the first time as a warning and later
 * at DEBUG, and has no other effect. Do not use the key as a metric label: that is one time series for each object.
 */
public interface PodcacheMetrics {

    /** A listener that does nothing. */
    PodcacheMetrics NONE = new PodcacheMetrics() {};

    /**
     * Called when a get found no fresh answer, so that it waits for a request or returns the known object. Once for each
     * get. Runs on the thread that called get, before it waits.
     *
     * @param strategy {@code GET}, {@code CACHE} or {@code WATCH}
     */
    default void missed(ObjectKind<?> kind, ObjectKey key, String strategy) {}

    /**
     * Called when a get returns an object that is older than the strategy promises, instead of failing. Runs on the
     * thread that called get; for a {@code getObjectAsync} that had to wait, on a thread that must not be blocked.
     */
    default void staleServed(ObjectKind<?> kind, ObjectKey key, String strategy) {}

    /**
     * Called when a fetch ended: the requests, with their retries, that one or many gets waited for. Runs on a thread that
     * must not be blocked.
     *
     * @param why the cause, such as {@code first read} or {@code expired}; safe as a metric label
     * @param failure null if an object was returned; {@link FailureReason#NOT_FOUND} if the object does not exist
     * @param took from the start of the first request to the last answer
     */
    default void fetched(
            ObjectKind<?> kind, ObjectKey key, String why, @Nullable FailureReason failure, Duration took) {}

    /**
     * Called under strategy WATCH for each failed list or watch of an object: the held object may be outdated until
     * {@link #watchSynced}. Runs on a thread that must not be blocked.
     */
    default void watchFailed(ObjectKind<?> kind, ObjectKey key, FailureReason failure) {}

    /**
     * Called under strategy WATCH when the watch of an object is established and the held object is up to date, except
     * for events in transit. Called once after each period in which it was not. Runs on a thread that must not be
     * blocked.
     *
     * @param took the length of that period: since the watch was first needed, or was lost
     */
    default void watchSynced(ObjectKind<?> kind, ObjectKey key, Duration took) {}
}
