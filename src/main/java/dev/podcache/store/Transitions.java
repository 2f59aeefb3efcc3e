package dev.podcache.store;

import com.google.common.util.concurrent.MoreExecutors;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.ObjectKind;
import dev.podcache.object.Phase;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The one hook through which every change of what is known of an object passes, for whatever strategy: the payload
 * budget and the metrics hang on it.
 *
 * <p>A change is noted under the lock of its entry, and told without it. Listeners are told on a worker, in order: the
 * thread that made the change may be in the middle of a registration. An answer that only says again what was known is
 * no change.
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
    private final Queue<Runnable> untold = new ConcurrentLinkedQueue<>();

    Transitions(ObjectKind<?> kind, StoreOptions options) {
        this.kind = kind;
        this.budget = options.budget();
        this.metrics = options.metrics();
        this.inOrder = MoreExecutors.newSequentialExecutor(options.timekeeper().workers());
    }

    /** Puts down a change, under the lock of its entry: so the changes of one object are told in their order. */
    void noteLocked(Entry<T> entry, @Nullable Answer<T> before, @Nullable Answer<T> after, String cause) {
        if (metrics != PodcacheMetrics.NONE && !Answer.isSame(before, after)) {
            Phase from = Answer.phaseOf(before);
            Phase to = Answer.phaseOf(after);
            untold.add(() -> metrics.changed(kind, entry.key, from, to, cause));
        }
    }

    /** Weighs the entry's payload and tells of what was noted. Under no lock. */
    void tell(Entry<T> entry) {
        budget.weigh(entry);
        if (!untold.isEmpty()) {
            inOrder.execute(this::tellAll);
        }
    }

    private void tellAll() {
        for (Runnable next = untold.poll(); next != null; next = untold.poll()) {
            next.run();
        }
    }
}
