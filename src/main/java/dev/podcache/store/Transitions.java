package dev.podcache.store;

import dev.podcache.object.ObjectKey;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the changes of held answers, and reports them to the payload budget and to observers, for all strategies.
 *
 * <p>A change is counted under the lock of its entry and reported without it.
 */
final class Transitions<T> {

    private static final Logger log = LoggerFactory.getLogger(Store.class);

    private final PayloadBudget budget;
    private final boolean limited;
    private final List<Observer> observers = new CopyOnWriteArrayList<>();
    private final LongAdder updates = new LongAdder();
    private final LongAdder evictions = new LongAdder();

    Transitions(StoreOptions options) {
        this.budget = options.budget();
        this.limited = budget.isLimited();
    }

    // compared by identity: the same consumer may observe twice
    private static final class Observer {

        private final Consumer<ObjectKey> changed;
        private final boolean keepsWatches;

        Observer(Consumer<ObjectKey> changed, boolean keepsWatches) {
            this.changed = changed;
            this.keepsWatches = keepsWatches;
        }
    }

    /** Counts a change. An answer that confirms the held one is not a change. Absence is not counted. */
    void setLocked(@Nullable Answer<T> before, @Nullable Answer<T> after) {
        if (after instanceof Answer.Present && !Answer.isSame(before, after)) {
            updates.increment();
        }
    }

    void evicted() {
        evictions.increment();
    }

    /** Implements {@link Store#changes}. */
    ChangeCounts counts() {
        return new ChangeCounts(updates.sum(), evictions.sum());
    }

    /** Weighs the entry's payload and reports that it may have changed. Called without a lock. Throws nothing. */
    void report(Entry<T> entry) {
        // observers first: the budget may evict at once what they are to see
        tellObservers(entry.key);
        if (limited) {
            budget.weigh(entry);
        }
    }

    /** Reports that an object may have changed. Called without a lock. Throws nothing. */
    void tellObservers(ObjectKey key) {
        for (Observer observer : observers) {
            tell(observer, key);
        }
    }

    private static void tell(Observer observer, ObjectKey key) {
        try {
            observer.changed.accept(key);
        } catch (Throwable e) {
            log.error("an observer of a change of {} failed; it is told of the next change; this is a bug", key, e);
        }
    }

    /** Implements {@link Store#observe}, or without {@code keepsWatches} {@link Store#observePassively}. */
    Runnable observe(Consumer<ObjectKey> changed, boolean keepsWatches) {
        Observer observer = new Observer(changed, keepsWatches);
        observers.add(observer);
        return () -> observers.remove(observer);
    }

    /** Returns whether an observer needs the changes of objects that nobody reads. */
    boolean isObserved() {
        return observers.stream().anyMatch(observer -> observer.keepsWatches);
    }
}
