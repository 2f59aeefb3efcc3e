package dev.podcache.store;

import dev.podcache.object.ObjectKey;
import dev.podcache.time.Timekeeper;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A store that keeps objects, and reports when what it knows of one has changed. Thread-safe.
 *
 * @param <T> the model class
 */
public sealed interface ObservableStore<T> extends Store<T>
        permits TtlObjectStore, WatchObjectStore, PartlyPolledStore {

    /** Returns the source of time and timers of this store. */
    Timekeeper timekeeper();

    /**
     * Calls {@code changed} after each change of what is known of an object, of whether that is stale, and after the last
     * reference to it went. The calls come on any thread, several at once, under no lock; they must return at once. A
     * call says that something may have changed; {@link #known} says what is known by then.
     *
     * @return ends the calls; one that has begun may go on
     */
    Runnable observe(Consumer<ObjectKey> changed);

    /**
     * Returns the object if a get is answered with it from memory, up to date: neither as a miss nor as stale. Else null.
     * Marks the object as read.
     */
    @Nullable
    T ifHit(String namespace, String name);

    /** Returns what is known of an object; null if it is not referenced. Makes no request and returns at once. */
    @Nullable
    KnownObject<T> known(ObjectKey key);

    /** Returns how often what is held has changed. */
    ChangeCounts changes();

    /** Returns the referenced objects; a snapshot. */
    Set<ObjectKey> keys();
}
