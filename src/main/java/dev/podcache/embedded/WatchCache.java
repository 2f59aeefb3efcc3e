package dev.podcache.embedded;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.LinkedHashMultimap;
import com.google.common.collect.SetMultimap;
import dev.podcache.object.ObjectKey;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The watch cache of one resource: the objects, the last changes, and the open watches. May lag behind the storage.
 * Guarded by the lock of the cluster.
 */
final class WatchCache {

    private final int historyLimit;
    private final NavigableMap<ObjectKey, StoredObject> objects = new TreeMap<>(Storage.BY_NAMESPACE_AND_NAME);
    private final Deque<ClusterChange> history = new ArrayDeque<>();

    /**
     * The open watches, by the name that they select, or "". The index keeps a change cheap while thousands of watches
     * select one object each.
     */
    private final SetMultimap<String, Watcher> watchers = LinkedHashMultimap.create();

    private long lastForgotten; // the revision of the last change removed from the history

    /**
     * Creates an empty cache.
     *
     * @param historyLimit the number of changes in the history
     */
    WatchCache(int historyLimit) {
        this.historyLimit = historyLimit;
    }

    /**
     * Applies a change and queues its events.
     *
     * @return the watches with events to deliver
     */
    ImmutableList<Watcher> apply(ClusterChange change) {
        if (change.after() == null) {
            objects.remove(change.key());
        } else {
            objects.put(change.key(), change.after());
        }
        history.addLast(change);
        if (history.size() > historyLimit) {
            lastForgotten = history.removeFirst().revision();
        }
        ImmutableList.Builder<Watcher> pending = ImmutableList.builder();
        queue(change, watchers.get(""), pending);
        queue(change, watchers.get(change.key().name()), pending);
        return pending.build();
    }

    private static void queue(ClusterChange change, Set<Watcher> candidates, ImmutableList.Builder<Watcher> pending) {
        candidates.removeIf(Watcher::isCancelled);
        for (Watcher watcher : candidates) {
            if (watcher.queue(change)) {
                pending.add(watcher);
            }
        }
    }

    /**
     * Returns the object before its last change in the history. If the history has no change of it, returns the current
     * state.
     */
    @Nullable
    StoredObject beforeLastChange(ObjectKey key) {
        for (Iterator<ClusterChange> latest = history.descendingIterator(); latest.hasNext(); ) {
            ClusterChange change = latest.next();
            if (change.key().equals(key)) {
                return change.before();
            }
        }
        return get(key);
    }

    @Nullable
    StoredObject get(ObjectKey key) {
        return objects.get(key);
    }

    NavigableMap<ObjectKey, StoredObject> objects() {
        return objects;
    }

    /**
     * Queues the initial events of a watch, then adds the watch.
     *
     * @return false if the history no longer reaches back to the start of the watch; an ERROR event is then queued, and
     *     the watch is not added
     */
    boolean open(Watcher watcher) {
        if (watcher.after() == 0) {
            watcher.queueAll(objects);
        } else if (Long.compareUnsigned(watcher.after(), lastForgotten) >= 0) {
            history.forEach(watcher::queue);
        } else {
            watcher.queue(ClusterEvent.error(StatusException.expired(watcher.after(), lastForgotten)));
            return false;
        }
        return watchers.put(watcher.name(), watcher);
    }

    /** Clears the history. No watch can start before {@code upTo} afterwards. */
    void forgetHistory(long upTo) {
        history.clear();
        lastForgotten = upTo;
    }

    /** Returns the revision of the last change that is no longer in the history. */
    long lastForgotten() {
        return lastForgotten;
    }

    /** Returns the history from the newest change to the oldest. */
    Iterator<ClusterChange> newestFirst() {
        return history.descendingIterator();
    }

    boolean isOpen(Watcher watcher) {
        return watchers.containsEntry(watcher.name(), watcher);
    }

    /** Removes a watch. Returns whether it was open. */
    boolean close(Watcher watcher) {
        return watchers.remove(watcher.name(), watcher);
    }

    ImmutableList<Watcher> watchers() {
        return ImmutableList.copyOf(watchers.values());
    }
}
