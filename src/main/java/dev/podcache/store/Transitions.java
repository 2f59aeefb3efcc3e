package dev.podcache.store;

import com.google.common.util.concurrent.MoreExecutors;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.CacheState;
import dev.podcache.object.ObjectKind;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Passes every change of what is known of an object to the payload budget and the metrics, for all strategies.
 *
 * <p>A change is recorded under the lock of its entry, and reported without it. Metrics are called on a worker, in order:
 * the thread that made the change may be in the middle of a registration. An answer that repeats what was known is no
 * change.
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

    Transitions(ObjectKind<?> kind, StoreOptions options) {
        this.kind = kind;
        this.budget = options.budget();
        this.metrics = options.metrics();
        this.inOrder = MoreExecutors.newSequentialExecutor(options.timekeeper().workers());
    }

    /** Records a change, under the lock of its entry: so the changes of one object are reported in their order. */
    void recordLocked(Entry<T> entry, @Nullable Answer<T> before, @Nullable Answer<T> after, String cause) {
        if (metrics != PodcacheMetrics.NONE && !Answer.isSame(before, after)) {
            CacheState from = Answer.cacheStateOf(before);
            CacheState to = Answer.cacheStateOf(after);
            unreported.add(() -> metrics.changed(kind, entry.key, from, to, cause));
        }
    }

    /** Weighs the entry's payload and reports what was recorded. Called without a lock. */
    void report(Entry<T> entry) {
        budget.weigh(entry);
        if (!unreported.isEmpty()) {
            inOrder.execute(this::reportAll);
        }
    }

    private void reportAll() {
        for (Runnable next = unreported.poll(); next != null; next = unreported.poll()) {
            next.run();
        }
    }
}
