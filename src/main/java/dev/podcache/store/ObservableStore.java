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
     * Calls {@code changed} with the key of an object after the known object or its staleness has changed, and after
     * its last reference was deleted. The calls come on any thread, several at a time, under no lock; they must return
     * at once. A call says only that something may have changed; {@link #known} returns what is known now.
     *
     * @return ends the calls; one that has begun may go on
     * @throws IllegalStateException if the store is closed
     */
    Runnable observe(Consumer<ObjectKey> changed);

    /**
     * Returns the object if a get would return it from memory without counting as a miss or as stale, else null. Marks
     * the object as read.
     */
    @Nullable
    T ifHit(String namespace, String name);

    /** Returns what is known of an object; null if it is not referenced. Makes no request and returns at once. */
    @Nullable
    KnownObject<T> known(ObjectKey key);

    /** Returns how often the held objects have changed. */
    ChangeCounts changes();

    /** Returns the referenced objects; a snapshot. */
    Set<ObjectKey> keys();
}
