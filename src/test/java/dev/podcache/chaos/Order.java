package dev.podcache.chaos;

import dev.podcache.chaos.Claims.Epoch;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * P2: the one order of all answers of a cache. Within an epoch, a get that began after another had ended, on whatever
 * thread, must not be answered with an older state. Thread-safe.
 */
final class Order {

    private static final int KEPT = 500;

    private final Map<CachedObject, EpochAnswers> lines = new HashMap<>(); // guarded by this

    /** An answer: the get and how far in the history of the object it is. */
    private record TimedAnswer(long began, long ended, int index) {}

    /** The answers of one epoch. Those that are not kept any more count as ended when they were dropped. */
    private static final class EpochAnswers {
        private final Epoch epoch;
        private final Deque<TimedAnswer> answers = new ArrayDeque<>();
        private int floor;

        EpochAnswers(Epoch epoch) {
            this.epoch = epoch;
        }
    }

    /** The latest state that a get which began then must know of; 0 if none. */
    synchronized int floor(CachedObject subject, Epoch epoch, long began) {
        EpochAnswers line = line(subject, epoch);
        if (line == null) {
            return 0;
        }
        int floor = line.floor;
        for (TimedAnswer answer : line.answers) {
            if (answer.ended < began) {
                floor = Math.max(floor, answer.index);
            }
        }
        return floor;
    }

    /**
     * Takes an answer down.
     *
     * @return the oldest state that a get which began later was answered with, though its answer was taken down before;
     *     {@link Integer#MAX_VALUE} if there is none
     */
    synchronized int add(CachedObject subject, Epoch epoch, long began, long ended, int index) {
        EpochAnswers line = line(subject, epoch);
        if (line == null) {
            return Integer.MAX_VALUE;
        }
        int oldestLater = Integer.MAX_VALUE;
        for (TimedAnswer answer : line.answers) {
            if (answer.began > ended) {
                oldestLater = Math.min(oldestLater, answer.index);
            }
        }
        line.answers.addLast(new TimedAnswer(began, ended, index));
        if (line.answers.size() > KEPT) {
            line.floor = Math.max(line.floor, line.answers.removeFirst().index);
        }
        return oldestLater;
    }

    /** Null if the epoch is over. */
    private @Nullable EpochAnswers line(CachedObject subject, Epoch epoch) {
        EpochAnswers known = lines.get(subject);
        if (known == null || (known.epoch != epoch && known.epoch.began <= epoch.began)) {
            known = new EpochAnswers(epoch);
            lines.put(subject, known);
        }
        return known.epoch == epoch ? known : null;
    }
}
