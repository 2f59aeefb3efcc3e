package dev.podcache.cli.observe;

import dev.podcache.object.FailureReason;
import dev.podcache.object.ObjectKey;
import dev.podcache.object.ObjectKind;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Which objects have a watch, as the caches tell under strategy WATCH, and which of the watches are lost. Thread-safe.
 */
final class Watched {

    private enum State {
        /** Never was live. */
        FAILING,
        LIVE,
        LOST
    }

    private record Watch(ObjectKind<?> kind, ObjectKey key) {}

    /**
     * How often it happened.
     *
     * @param opened watches that became live for the first time
     * @param lost watches that were live and failed
     * @param again lost watches that became live again
     */
    public record Tally(long opened, long lost, long again) {}

    private final ConcurrentHashMap<Watch, State> states = new ConcurrentHashMap<>();
    private final LongAdder opened = new LongAdder();
    private final LongAdder lost = new LongAdder();
    private final LongAdder again = new LongAdder();
    private final WatchNews news;

    /**
     * None yet.
     *
     * @param news told of each change
     */
    Watched(WatchNews news) {
        this.news = news;
    }

    /** An attempt to list or watch the object failed. */
    void failed(ObjectKind<?> kind, ObjectKey key, FailureReason reason) {
        if (reason == FailureReason.EXPIRED) {
            // no loss: a list follows at once, as for every object after a restart of the server
            return;
        }
        Watch watch = new Watch(kind, key);
        if (states.putIfAbsent(watch, State.FAILING) == null) {
            news.failed(reason);
        } else if (states.replace(watch, State.LIVE, State.LOST)) {
            lost.increment();
            news.lost(reason);
        }
    }

    /** The object is watched, and was not for so long. */
    void synced(ObjectKind<?> kind, ObjectKey key, Duration took) {
        @Nullable State before = states.put(new Watch(kind, key), State.LIVE);
        if (before == State.LOST) {
            again.increment();
            news.again(took, isAnyLost());
        } else {
            opened.increment();
            news.opened(took);
        }
    }

    /** Whether the object was watched at some time, so that a get of it does not wait. */
    boolean isKnown(ObjectKind<?> kind, ObjectKey key) {
        State state = states.get(new Watch(kind, key));
        return state == State.LIVE || state == State.LOST;
    }

    /** Whether what is known of the object may be behind. */
    boolean isLost(ObjectKind<?> kind, ObjectKey key) {
        return states.get(new Watch(kind, key)) == State.LOST;
    }

    /** The watch was closed because nobody read the object. */
    void idle(ObjectKind<?> kind, ObjectKey key) {
        states.remove(new Watch(kind, key));
    }

    /** Forgets objects that nobody refers to any more. */
    void retain(ObjectKind<?> kind, Set<ObjectKey> keys) {
        states.keySet().removeIf(watch -> watch.kind().equals(kind) && !keys.contains(watch.key()));
    }

    /** Of how many objects something is known. */
    int size() {
        return states.size();
    }

    Tally tally() {
        return new Tally(opened.sum(), lost.sum(), again.sum());
    }

    private boolean isAnyLost() {
        return states.containsValue(State.LOST);
    }
}
