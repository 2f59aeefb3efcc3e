package dev.podcache.store;

import com.google.common.util.concurrent.MoreExecutors;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Reports every change of a held answer to the payload budget and the metrics, for all strategies.
 *
 * <p>A change is recorded under the lock of its entry and reported without it. Metrics are called on a worker thread,
 * in order, because the thread that made the change may be in the middle of a registration. An answer that confirms the
 * held one is not a change.
 */
final class Transitions<T> {

    static final String REFERENCED = "referenced";
    static final String FETCHED = "fetched";
    static final String DROPPED = "dropped";
    static final String EVICTED = "evicted";
    static final String WATCHED = "watched";
    static final String IDLE = "idle";

    private final ObjectKind<?> kind;
    private final PayloadBudget budget;
    private final PodcacheMetrics metrics;
    private final Executor inOrder;
    private final Queue<Runnable> unreported = new ConcurrentLinkedQueue<>();
    private final List<Consumer<ObjectKey>> observers = new CopyOnWriteArrayList<>();

    Transitions(ObjectKind<?> kind, StoreOptions options) {
        this.kind = kind;
        this.budget = options.budget();
        this.metrics = options.metrics();
        this.inOrder = MoreExecutors.newSequentialExecutor(options.timekeeper().workers());
    }

    /** Records a change under the lock of its entry, so that the changes of one object are reported in order. */
    void recordLocked(Entry<T> entry, @Nullable Answer<T> before, @Nullable Answer<T> after, String cause) {
        if (metrics != PodcacheMetrics.NONE && !Answer.isSame(before, after)) {
            CacheState from = Answer.cacheStateOf(before);
            CacheState to = Answer.cacheStateOf(after);
            unreported.add(() -> metrics.changed(kind, entry.key, from, to, cause));
        }
    }

    /** Weighs the entry's payload and reports the recorded changes. Called without a lock. */
    void report(Entry<T> entry) {
        budget.weigh(entry);
        for (Consumer<ObjectKey> observer : observers) {
            observer.accept(entry.key);
        }
        if (!unreported.isEmpty()) {
            inOrder.execute(this::reportAll);
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

    private void reportAll() {
        for (Runnable next = unreported.poll(); next != null; next = unreported.poll()) {
            next.run();
        }
    }
}
