package dev.podcache.cli.observe;

import com.google.common.collect.ImmutableMap;
import dev.podcache.cli.config.ObjectId;
import dev.podcache.cli.output.ProgramEvent;
import dev.podcache.object.FailureReason;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Tracks and counts the watches of objects under strategy WATCH. Reports those of a moment in one event, because one
 * lost connection means hundreds of lost watches. Thread-safe.
 */
final class WatchMonitor {

    private enum State {
        /** Never was live. */
        FAILING,
        LIVE,
        LOST
    }

    private final ConcurrentHashMap<ObjectId, State> states = new ConcurrentHashMap<>();

    // all that follows is guarded by this
    private final Map<String, Integer> failed = new TreeMap<>();
    private final Map<String, Integer> lost = new TreeMap<>();
    private long opened;
    private long totalLost;
    private long again;
    private long reported;
    private long live;

    /** A list or watch of the object failed. */
    void failed(ObjectId id, FailureReason reason) {
        if (reason == FailureReason.EXPIRED) {
            // not a loss: a list follows at once, as for every object after a restart of the server
            return;
        }
        if (states.putIfAbsent(id, State.FAILING) == null) {
            synchronized (this) {
                failed.merge(reason.name(), 1, Integer::sum);
            }
        } else if (states.replace(id, State.LIVE, State.LOST)) {
            synchronized (this) {
                totalLost++;
                lost.merge(reason.name(), 1, Integer::sum);
            }
        }
    }

    /** The watch of the object became live. */
    void synced(ObjectId id) {
        State before = states.put(id, State.LIVE);
        synchronized (this) {
            if (before == State.LOST) {
                again++;
            } else {
                opened++;
            }
        }
    }

    /** Returns whether the object was ever watched, so that a get of it does not wait. */
    boolean isKnown(ObjectId id) {
        State state = states.get(id);
        return state == State.LIVE || state == State.LOST;
    }

    /** Returns whether the cached object may be out of date. */
    boolean isLost(ObjectId id) {
        return states.get(id) == State.LOST;
    }

    /** Forgets all other objects. */
    void retain(Set<ObjectId> objects) {
        states.keySet().retainAll(objects);
    }

    /** Returns how many watches were opened, lost and live again, by these names. */
    synchronized ImmutableMap<String, Long> totals() {
        return ImmutableMap.of("opened", opened, "lost", totalLost, "again", again);
    }

    /**
     * Returns what happened since the last report. Postpones the report of live watches while more become live.
     *
     * @param all postpone nothing
     */
    synchronized List<ProgramEvent> report(boolean all) {
        List<ProgramEvent> events = new ArrayList<>();
        addFailures(events, failed, "unwatched", " cannot be watched; retrying: ");
        addFailures(events, lost, "watch-lost", " may be out of date, their watches failed; retrying: ");
        long now = opened + again;
        if (now > reported && (all || now == live)) {
            events.add(
                    new ProgramEvent("watched", objects(now - reported), ImmutableMap.of("watches", now - reported)));
            reported = now;
        }
        live = now;
        return events;
    }

    private static void addFailures(List<ProgramEvent> events, Map<String, Integer> reasons, String name, String what) {
        if (!reasons.isEmpty()) {
            int count = reasons.values().stream().mapToInt(Integer::intValue).sum();
            String text = objects(count) + what + String.join(", ", reasons.keySet());
            ImmutableMap<String, Object> facts =
                    ImmutableMap.of("watches", count, "reasons", ImmutableMap.copyOf(reasons));
            events.add(new ProgramEvent(name, text, facts));
            reasons.clear();
        }
    }

    private static String objects(long count) {
        return count + (count == 1 ? " object" : " objects");
    }
}
