package dev.podcache.reflector;

import dev.podcache.time.Timekeeper;
import dev.podcache.time.TokenBucket;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The pending attempts of one sort, lists or watches, and their rate. Guarded by its {@link Recovery}. */
final class AttemptQueue {

    private static final Comparator<PendingAttempt> ORDER =
            (a, b) -> a.due == b.due ? Long.compare(a.number, b.number) : Long.signum(a.due - b.due);

    private final TreeSet<PendingAttempt> urgent = new TreeSet<>(ORDER);
    private final TreeSet<PendingAttempt> others = new TreeSet<>(ORDER);
    private final List<TreeSet<PendingAttempt>> urgentFirst = List.of(urgent, others);
    private final TokenBucket tokens;

    AttemptQueue(double perSecond, int burst, Timekeeper timekeeper) {
        this.tokens = new TokenBucket(perSecond, burst, timekeeper);
    }

    void add(PendingAttempt attempt) {
        (attempt.isUrgent ? urgent : others).add(attempt);
    }

    void remove(PendingAttempt attempt) {
        (attempt.isUrgent ? urgent : others).remove(attempt);
    }

    /** Takes out the attempt to make now; null if none is due, or there is no token for it. */
    @Nullable
    PendingAttempt take(long now) {
        for (TreeSet<PendingAttempt> attempts : urgentFirst) {
            if (!attempts.isEmpty() && attempts.first().due - now <= 0) {
                return tokens.take(Duration.ZERO).isPresent() ? attempts.pollFirst() : null;
            }
        }
        return null;
    }

    /** Returns how long it takes until {@link #take} may find something; null if the queue is empty. */
    @Nullable
    Duration untilNext(long now) {
        Duration soonest = null;
        for (TreeSet<PendingAttempt> attempts : urgentFirst) {
            if (!attempts.isEmpty()) {
                long left = attempts.first().due - now;
                Duration until = left > 0 ? Duration.ofNanos(left) : tokens.untilNext();
                soonest = soonest == null || until.compareTo(soonest) < 0 ? until : soonest;
            }
        }
        return soonest;
    }

    /** Returns the first attempt that may be made to find out whether the server is back; null if there is none. */
    @Nullable
    PendingAttempt probe(long now, boolean urgently) {
        for (PendingAttempt attempt : urgently ? urgent : others) {
            // a pause of its own may be one that the server asked for
            if (attempt.unserved || attempt.earliest - now <= 0) {
                return attempt;
            }
        }
        return null;
    }

    /** Returns all that an outage keeps. */
    Stream<PendingAttempt> unserved() {
        return urgentFirst.stream().flatMap(TreeSet::stream).filter(attempt -> attempt.unserved);
    }
}
