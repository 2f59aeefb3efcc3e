package dev.podcache.store;

import dev.podcache.object.ObjectKey;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Counts the changes of held answers, and reports them to the payload budget and to observers, for all strategies.
 *
 * <p>A change is counted under the lock of its entry and reported without it.
 */
final class Transitions<T> {

    private final PayloadBudget budget;
    private final boolean limited;
    private final List<Consumer<ObjectKey>> observers = new CopyOnWriteArrayList<>();
    private final LongAdder updates = new LongAdder();
    private final LongAdder evictions = new LongAdder();

    Transitions(StoreOptions options) {
        this.budget = options.budget();
        this.limited = budget.isLimited();
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

    /** Implements {@link ObservableStore#changes}. */
    ChangeCounts counts() {
        return new ChangeCounts(updates.sum(), evictions.sum());
    }

    /** Weighs the entry's payload and reports that it may have changed. Called without a lock. */
    void report(Entry<T> entry) {
        // observers first: the budget may evict at once what they are to see
        for (Consumer<ObjectKey> observer : observers) {
            observer.accept(entry.key);
        }
        if (limited) {
            budget.weigh(entry);
        }
    }

    /** Implements {@link ObservableStore#observe}. */
    Runnable observe(Consumer<ObjectKey> changed) {
        // compared by identity: the same consumer may observe twice
        Consumer<ObjectKey> observer = key -> changed.accept(key);
        observers.add(observer);
        return () -> observers.remove(observer);
    }

    boolean isObserved() {
        return !observers.isEmpty();
    }
}
