package dev.podcache.embedded;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One watch: what it selects, and what it has still to tell. */
final class Watcher {

    // Signals are queued under the cluster's lock, in the order of history, and told outside of it:
    // whoever made a change tells it before the change returns, unless another thread is telling at the
    // moment, which then goes on with ours.

    private static final Logger log = LoggerFactory.getLogger(InMemoryCluster.class);

    private final Selection selection;
    private final long after;
    private final WatchListener listener;
    private final WatchTimers timers;
    private final Queue<Consumer<WatchListener>> signals = new ConcurrentLinkedQueue<>();
    private final AtomicInteger tellers = new AtomicInteger();
    private volatile boolean silent;

    /**
     * A watch of what comes after a revision.
     *
     * @param after changes up to this revision are none of its business
     */
    Watcher(Selection selection, long after, WatchListener listener, WatchTimers timers) {
        this.selection = selection;
        this.after = after;
        this.listener = listener;
        this.timers = timers;
    }

    long after() {
        return after;
    }

    /** The one name that it selects, or "" if it may select several. */
    String name() {
        return selection.name();
    }

    WatchTimers timers() {
        return timers;
    }

    /** Whether the change concerns this watch, which then has something to {@link #tell()}. */
    boolean queue(ClusterChange change) {
        if (Long.compareUnsigned(change.revision(), after) <= 0) {
            return false;
        }
        ClusterEvent event = change.seenBy(selection);
        if (event == null) {
            return false;
        }
        queue(event);
        return true;
    }

    boolean selects(StoredObject object) {
        return selection.matches(object.json());
    }

    void queue(ClusterEvent event) {
        signals.add(told -> told.event(event));
    }

    void queueEnd() {
        signals.add(WatchListener::ended);
    }

    /** Nothing more is told. */
    void silence() {
        silent = true;
        signals.clear();
    }

    boolean isSilent() {
        return silent;
    }

    /** Tells what is queued. Never called under a lock. */
    void tell() {
        if (tellers.getAndIncrement() != 0) {
            return;
        }
        int told;
        do {
            told = tellers.get();
            for (Consumer<WatchListener> signal = signals.poll(); signal != null; signal = signals.poll()) {
                tell(signal);
            }
        } while (tellers.addAndGet(-told) != 0);
    }

    private void tell(Consumer<WatchListener> signal) {
        if (silent) {
            return;
        }
        try {
            signal.accept(listener);
        } catch (RuntimeException e) {
            log.error("a watch listener threw, which it must not; its watch is over", e);
            silence();
            timers.stop();
        }
    }
}
