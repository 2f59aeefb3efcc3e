package dev.podcache.reflector;

import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The pending attempts of all reflectors: watches, and lists, which cost the server more. Guarded by its {@link Recovery}. */
final class PendingAttempts {

    private final AttemptQueue lists;
    private final AttemptQueue watches;

    PendingAttempts(Timekeeper timekeeper) {
        // with what is in the bucket, at most 200 in any second
        this.lists = new AttemptQueue(180, 20, timekeeper);
        this.watches = new AttemptQueue(1_000, 50, timekeeper);
    }

    void add(PendingAttempt attempt) {
        queue(attempt).add(attempt);
    }

    void remove(PendingAttempt attempt) {
        queue(attempt).remove(attempt);
    }

    /** Takes out the attempt to make now; null if none is due, or there is no token for it. */
    @Nullable
    PendingAttempt take(long now) {
        PendingAttempt watch = watches.take(now);
        return watch == null ? lists.take(now) : watch;
    }

    /** Returns the attempt to probe an unreachable server with, urgent ones first; null if there is none. */
    @Nullable
    PendingAttempt probe(long now) {
        PendingAttempt found = null;
        for (boolean urgently : new boolean[] {true, false}) {
            found = found == null ? watches.probe(now, urgently) : found;
            found = found == null ? lists.probe(now, urgently) : found;
        }
        return found;
    }

    /** Returns how long it takes until {@link #take} may find something; null if nothing is pending. */
    @Nullable
    Duration untilNext(long now) {
        Duration watch = watches.untilNext(now);
        Duration list = lists.untilNext(now);
        return list == null || (watch != null && watch.compareTo(list) <= 0) ? watch : list;
    }

    /** Returns all that an outage keeps. */
    List<PendingAttempt> unserved() {
        return Stream.concat(watches.unserved(), lists.unserved()).toList();
    }

    private AttemptQueue queue(PendingAttempt attempt) {
        return attempt.isList ? lists : watches;
    }
}
