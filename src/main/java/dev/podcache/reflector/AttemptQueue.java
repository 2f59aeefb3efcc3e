package dev.podcache.reflector;

import dev.podcache.time.Timekeeper;
import dev.podcache.time.TokenBucket;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The pending attempts of one type, lists or watches, and their rate limit. Guarded by its {@link Recovery}. */
final class AttemptQueue {

    private static final Comparator<PendingAttempt> ORDER =
            (a, b) -> a.due == b.due ? Integer.compare(a.number, b.number) : Long.signum(a.due - b.due);

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

    /** Removes and returns the attempt to make now; null if none is due or no token is available. */
    @Nullable
    PendingAttempt take(long now) {
        for (TreeSet<PendingAttempt> attempts : urgentFirst) {
            if (!attempts.isEmpty() && attempts.first().due - now <= 0) {
                return tokens.take(Duration.ZERO).isPresent() ? attempts.pollFirst() : null;
            }
        }
        return null;
    }

    /** Returns the time until {@link #take} may return an attempt; null if the queue is empty. */
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

    /** Returns the first attempt that may probe whether the server is back; null if there is none. */
    @Nullable
    PendingAttempt probe(long now, boolean urgentOnes) {
        for (PendingAttempt attempt : urgentOnes ? urgent : others) {
            // otherwise the pause must end first: the server may have asked for it
            if (attempt.waitsForOutage || attempt.earliest - now <= 0) {
                return attempt;
            }
        }
        return null;
    }

    /** Returns the attempts that wait for the end of an outage. */
    Stream<PendingAttempt> waitingForOutage() {
        return urgentFirst.stream().flatMap(TreeSet::stream).filter(attempt -> attempt.waitsForOutage);
    }
}
