package dev.podcache.reflector;

import dev.podcache.time.Timekeeper;
import dev.podcache.time.TokenBucket;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The next attempts of all reflectors, in the order in which they are made: watches, and lists, which cost the server
 * more. Each type has a rate limit. Guarded by its {@link Recovery}.
 */
final class AttemptQueues {

    private static final int LIST_BURST = 20;
    private static final int WATCHES_PER_SECOND = 1_000;
    private static final int WATCH_BURST = 50;

    private final OneType lists;
    private final OneType watches;

    AttemptQueues(Timekeeper timekeeper) {
        // in any second, at most the burst and the rate together
        this.lists = new OneType(new TokenBucket(Recovery.LISTS_PER_SECOND - LIST_BURST, LIST_BURST, timekeeper));
        this.watches = new OneType(new TokenBucket(WATCHES_PER_SECOND - WATCH_BURST, WATCH_BURST, timekeeper));
    }

    /**
     * One reflector of a {@link Recovery}, and its next attempt, if one is pending. Guarded by the Recovery; only {@link
     * Recovery#served} looks at {@code waitsForOutage} without the lock first.
     */
    static final class NextAttempt {

        private static final Comparator<NextAttempt> ORDER =
                (a, b) -> a.due == b.due ? Integer.compare(a.number, b.number) : Long.signum(a.due - b.due);

        final Reflector<?> reflector;

        /** Breaks ties in sorted sets. */
        int number;

        /** The index in the list of open reflectors; negative while it is not there. */
        int place = -1;

        /** Whether the reflector is closed. */
        boolean closed;

        /** The step of the reflector that makes the attempt; null if none is pending. */
        @Nullable
        Runnable task;

        /** The step that is being made; used by the thread that makes due attempts only. */
        @Nullable
        Runnable taken;

        /** Whether the attempt is a list; otherwise it is a watch. */
        boolean isList;

        /** Whether a get waits for the object: the attempt goes before others and is not spread. */
        boolean isUrgent;

        /** Whether the attempt waits for the end of an outage, and not for a pause of its own. */
        boolean waitsForOutage;

        /** When the attempt became pending: the end of the attempt before it. */
        long since;

        /** The earliest time of the attempt: the end of the pause after a failure. */
        long earliest;

        /** The time of the attempt: {@link #earliest} plus the delay that spreads reflectors that failed together. */
        long due;

        NextAttempt(Reflector<?> reflector) {
            this.reflector = reflector;
        }
    }

    /** The pending attempts of one type, and their rate limit. */
    private static final class OneType {

        private final TreeSet<NextAttempt> urgent = new TreeSet<>(NextAttempt.ORDER);
        private final TreeSet<NextAttempt> others = new TreeSet<>(NextAttempt.ORDER);
        private final List<TreeSet<NextAttempt>> urgentFirst = List.of(urgent, others);
        private final TokenBucket tokens;

        OneType(TokenBucket tokens) {
            this.tokens = tokens;
        }

        Set<NextAttempt> ofUrgency(boolean urgentOnes) {
            return urgentOnes ? urgent : others;
        }

        @Nullable
        NextAttempt take(long now) {
            for (TreeSet<NextAttempt> attempts : urgentFirst) {
                if (!attempts.isEmpty() && attempts.first().due - now <= 0) {
                    return tokens.take(Duration.ZERO).isPresent() ? attempts.pollFirst() : null;
                }
            }
            return null;
        }

        @Nullable
        Duration untilNext(long now) {
            Duration soonest = null;
            for (TreeSet<NextAttempt> attempts : urgentFirst) {
                if (!attempts.isEmpty()) {
                    long left = attempts.first().due - now;
                    Duration until = left > 0 ? Duration.ofNanos(left) : tokens.untilNext();
                    soonest = soonest == null || until.compareTo(soonest) < 0 ? until : soonest;
                }
            }
            return soonest;
        }

        @Nullable
        NextAttempt probe(long now, boolean urgentOnes) {
            for (NextAttempt attempt : ofUrgency(urgentOnes)) {
                // otherwise the pause must end first: the server may have asked for it
                if (attempt.waitsForOutage || attempt.earliest - now <= 0) {
                    return attempt;
                }
            }
            return null;
        }

        Stream<NextAttempt> all() {
            return urgentFirst.stream().flatMap(TreeSet::stream);
        }
    }

    void add(NextAttempt attempt) {
        type(attempt).ofUrgency(attempt.isUrgent).add(attempt);
    }

    void remove(NextAttempt attempt) {
        type(attempt).ofUrgency(attempt.isUrgent).remove(attempt);
    }

    private OneType type(NextAttempt attempt) {
        return attempt.isList ? lists : watches;
    }

    /** Removes and returns the attempt to make now; null if none is due or no token is available. */
    @Nullable
    NextAttempt take(long now) {
        NextAttempt watch = watches.take(now);
        return watch == null ? lists.take(now) : watch;
    }

    /** Returns the attempt that is to probe the server, urgent ones first; null if there is none. */
    @Nullable
    NextAttempt probe(long now) {
        NextAttempt found = null;
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
    List<NextAttempt> waitingForOutage() {
        return Stream.concat(watches.all(), lists.all())
                .filter(attempt -> attempt.waitsForOutage)
                .toList();
    }
}
