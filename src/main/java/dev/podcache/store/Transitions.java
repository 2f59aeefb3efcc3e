package dev.podcache.store;

import com.google.common.util.concurrent.MoreExecutors;
import dev.podcache.metrics.PodcacheMetrics;
import dev.podcache.object.ObjectKind;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * The one hook through which every change of what is known of an object passes, for whatever strategy: the payload
 * budget and the metrics hang on it.
 *
 * <p>Called without locks, by the thread that made the change. Listeners are told on a worker, in order: the thread
 * that made the change may be in the middle of a registration.
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

    Transitions(ObjectKind<?> kind, StoreOptions options) {
        this.kind = kind;
        this.budget = options.budget();
        this.metrics = options.metrics();
        this.inOrder = MoreExecutors.newSequentialExecutor(options.timekeeper().workers());
    }

    void tell(Entry<T> entry, @Nullable Answer<T> before, @Nullable Answer<T> after, String cause) {
        if (before == after) {
            return;
        }
        budget.weigh(entry);
        if (metrics != PodcacheMetrics.NONE) {
            inOrder.execute(
                    () -> metrics.changed(kind, entry.key, Answer.phaseOf(before), Answer.phaseOf(after), cause));
        }
    }
}
