package dev.podcache.embedded;

import dev.podcache.object.ObjectKey;
import java.util.NavigableMap;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One watch: its selection and the queue of its events. */
final class Watcher {

    // Signals are queued under the lock of the cluster, in the order of the changes, and delivered after the lock is
    // released. The thread that made a change delivers it before the write returns. If another thread is delivering for
    // this watch at the moment, that thread delivers the change as well.

    private static final Logger log = LoggerFactory.getLogger(InMemoryCluster.class);

    private final Selection selection;
    private final long after;
    private final WatchListener listener;
    private final WatchTimers timers;
    private final Queue<Consumer<WatchListener>> signals = new ConcurrentLinkedQueue<>();
    private final AtomicInteger deliveryRequests = new AtomicInteger();
    private volatile boolean cancelled;

    /**
     * Creates a watch.
     *
     * @param after the revision from which to watch; this and earlier changes are not delivered
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

    /** Returns the name that the watch selects, or "" if it may select several objects. */
    String name() {
        return selection.name();
    }

    WatchTimers timers() {
        return timers;
    }

    /**
     * Queues the event for a change. Returns whether there is one; it must then be {@linkplain #deliver() delivered}.
     */
    boolean queue(ClusterChange change) {
        if (Long.compareUnsigned(change.revision(), after) <= 0) {
            return false;
        }
        ClusterEvent event = change.eventFor(selection);
        if (event == null) {
            return false;
        }
        queue(event);
        return true;
    }

    /** Queues an event for each of the objects that is selected. */
    void queueAll(NavigableMap<ObjectKey, StoredObject> objects) {
        selection.of(objects).forEach(json -> queue(new ClusterEvent(ClusterEvent.ChangeType.ADDED, json)));
    }

    void queue(ClusterEvent event) {
        signals.add(seen -> seen.event(event));
    }

    void queueEnd() {
        signals.add(WatchListener::ended);
    }

    /** Stops the delivery. Discards queued events. */
    void cancel() {
        cancelled = true;
        signals.clear();
    }

    boolean isCancelled() {
        return cancelled;
    }

    /** Delivers the queued signals to the listener, in order. Must not be called under the lock. */
    void deliver() {
        if (deliveryRequests.getAndIncrement() != 0) {
            return;
        }
        int seen;
        do {
            seen = deliveryRequests.get();
            for (Consumer<WatchListener> signal = signals.poll(); signal != null; signal = signals.poll()) {
                deliver(signal);
            }
        } while (deliveryRequests.addAndGet(-seen) != 0);
    }

    private void deliver(Consumer<WatchListener> signal) {
        if (cancelled) {
            return;
        }
        try {
            signal.accept(listener);
        } catch (Throwable e) {
            // of any kind: else this watch would deliver nothing any more, and grow
            cancel();
            timers.stop();
            log.error("watch listener failed; its watch was closed", e);
        }
    }
}
