package dev.podcache.embedded;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.LinkedHashMultimap;
import com.google.common.collect.SetMultimap;
import dev.podcache.object.ObjectKey;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.Iterator;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What the server has of one resource without asking its storage: the objects, the last changes, and the watches that
 * these are told to. May lag behind the storage. Guarded by the cluster's lock.
 */
final class WatchCache {

    private final int historyLimit;
    private final NavigableMap<ObjectKey, StoredObject> objects = new TreeMap<>(Storage.BY_NAMESPACE_AND_NAME);
    private final Deque<ClusterChange> history = new ArrayDeque<>();

    /**
     * By the one name that they select, or "": thousands of watches of one object each must not slow down every change.
     */
    private final SetMultimap<String, Watcher> watchers = LinkedHashMultimap.create();

    private long forgotten; // the revision of the last change that left the history

    /**
     * A cache of nothing yet.
     *
     * @param historyLimit how many changes it remembers
     */
    WatchCache(int historyLimit) {
        this.historyLimit = historyLimit;
    }

    /**
     * Takes over a change.
     *
     * @return the watches that have something to tell
     */
    ImmutableList<Watcher> apply(ClusterChange change) {
        if (change.after() == null) {
            objects.remove(change.key());
        } else {
            objects.put(change.key(), change.after());
        }
        history.addLast(change);
        if (history.size() > historyLimit) {
            forgotten = history.removeFirst().revision();
        }
        ImmutableList.Builder<Watcher> telling = ImmutableList.builder();
        queue(change, watchers.get(""), telling);
        queue(change, watchers.get(change.key().name()), telling);
        return telling.build();
    }

    private static void queue(ClusterChange change, Set<Watcher> concerned, ImmutableList.Builder<Watcher> telling) {
        concerned.removeIf(Watcher::isSilent);
        for (Watcher watcher : concerned) {
            if (watcher.queue(change)) {
                telling.add(watcher);
            }
        }
    }

    /** The object as it was before its last change that is remembered; as it is if none is. */
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

    Collection<StoredObject> objects() {
        return objects.values();
    }

    /**
     * Queues what the watcher has to know first, and follows what comes.
     *
     * @return false if that is no longer known; then the watcher is told so, and not followed
     */
    boolean open(Watcher watcher) {
        if (watcher.after() == 0) {
            objects.values().stream()
                    .filter(watcher::selects)
                    .forEach(object -> watcher.queue(new ClusterEvent(ClusterEvent.Type.ADDED, object.json())));
        } else if (Long.compareUnsigned(watcher.after(), forgotten) >= 0) {
            history.forEach(watcher::queue);
        } else {
            watcher.queue(ClusterEvent.error(StatusException.expired(watcher.after(), forgotten)));
            return false;
        }
        return watchers.put(watcher.name(), watcher);
    }

    /** No watch can begin before {@code upTo} any more. */
    void forgetHistory(long upTo) {
        history.clear();
        forgotten = upTo;
    }

    boolean isOpen(Watcher watcher) {
        return watchers.containsEntry(watcher.name(), watcher);
    }

    /** Whether it was open. */
    boolean close(Watcher watcher) {
        return watchers.remove(watcher.name(), watcher);
    }

    ImmutableList<Watcher> watchers() {
        return ImmutableList.copyOf(watchers.values());
    }
}
