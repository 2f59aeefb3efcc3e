package dev.podcache.reflector;

import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The pending attempts of all reflectors: watches, and lists, which cost the server more. Guarded by its {@link
 * Recovery}.
 */
final class PendingAttempts {

    private static final int LIST_BURST = 20;

    private final AttemptQueue lists;
    private final AttemptQueue watches;

    PendingAttempts(Timekeeper timekeeper) {
        // in any second, at most the burst and the rate together
        this.lists = new AttemptQueue(Recovery.LISTS_PER_SECOND - LIST_BURST, LIST_BURST, timekeeper);
        this.watches = new AttemptQueue(1_000, 50, timekeeper);
    }

    void add(PendingAttempt attempt) {
        queue(attempt).add(attempt);
    }

    void remove(PendingAttempt attempt) {
        queue(attempt).remove(attempt);
    }

    /** Removes and returns the attempt to make now; null if none is due or no token is available. */
    @Nullable
    PendingAttempt take(long now) {
        PendingAttempt watch = watches.take(now);
        return watch == null ? lists.take(now) : watch;
    }

    /** Returns the attempt that is to probe the server, urgent ones first; null if there is none. */
    @Nullable
    PendingAttempt probe(long now) {
        PendingAttempt found = null;
        for (boolean urgentOnes : new boolean[] {true, false}) {
            found = found == null ? watches.probe(now, urgentOnes) : found;
            found = found == null ? lists.probe(now, urgentOnes) : found;
        }
        return found;
    }

    /** Returns the time until {@link #take} may return an attempt; null if none is pending. */
    @Nullable
    Duration untilNext(long now) {
        Duration watch = watches.untilNext(now);
        Duration list = lists.untilNext(now);
        return list == null || (watch != null && watch.compareTo(list) <= 0) ? watch : list;
    }

    /** Returns the attempts that wait for the end of an outage. */
    List<PendingAttempt> waitingForOutage() {
        return Stream.concat(watches.waitingForOutage(), lists.waitingForOutage())
                .toList();
    }

    private AttemptQueue queue(PendingAttempt attempt) {
        return attempt.isList ? lists : watches;
    }
}
