package dev.podcache.controlplane.nodelifecycle;

import dev.podcache.time.Timekeeper;
import dev.podcache.time.TokenBucket;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The nodes of one zone that are to get a NoExecute taint, in the order in which they are due, with a limit of nodes per
 * second. A node that was added is known until it is removed, even when it has been taken, so it is tainted once. Used
 * by tasks of one loop only.
 */
final class TaintQueue {

    // After scheduler/rate_limited_queue.go. A node that is not due yet uses no token here.

    private static final int BURST = 1;

    private final Timekeeper timekeeper;
    private final Map<String, QueuedNode> known = new HashMap<>();
    private final TreeSet<QueuedNode> waiting = new TreeSet<>(
            Comparator.<QueuedNode>comparingLong(entry -> entry.dueAt).thenComparingLong(entry -> entry.number));
    private double rate;
    private @Nullable TokenBucket tokens;
    private long entries;

    /** A node that was added. */
    static final class QueuedNode {

        final String node;
        private final long number;
        private long dueAt;

        private QueuedNode(String node, long number, long dueAt) {
            this.node = node;
            this.number = number;
            this.dueAt = dueAt;
        }
    }

    /**
     * Creates an empty queue.
     *
     * @param rate nodes per second; 0 for none
     */
    TaintQueue(double rate, Timekeeper timekeeper) {
        this.timekeeper = timekeeper;
        this.rate = rate;
        this.tokens = bucket(rate);
    }

    /** Adds a node, which is due at once. Returns false if it is known. */
    boolean add(String node) {
        if (known.containsKey(node)) {
            return false;
        }
        QueuedNode entry = new QueuedNode(node, entries++, timekeeper.nanoTime());
        known.put(node, entry);
        waiting.add(entry);
        return true;
    }

    /** Forgets a node. Returns false if it was not known. */
    boolean remove(String node) {
        // mostly empty, and asked for each node in each pass
        QueuedNode entry = known.isEmpty() ? null : known.remove(node);
        if (entry != null) {
            waiting.remove(entry);
        }
        return entry != null;
    }

    /** Returns whether the node was added, and neither taken nor removed since. */
    boolean isWaiting(String node) {
        QueuedNode entry = known.get(node);
        return entry != null && waiting.contains(entry);
    }

    /** Returns whether any node waits. */
    boolean isEmpty() {
        return waiting.isEmpty();
    }

    /** Takes the next node that is due, with a token; null if there is none, or no token. */
    @Nullable
    QueuedNode take() {
        QueuedNode first = waiting.isEmpty() ? null : waiting.first();
        if (first == null || first.dueAt > timekeeper.nanoTime() || !takeToken()) {
            return null;
        }
        waiting.remove(first);
        return first;
    }

    /** Returns a node that was taken, to be taken again after {@code pause}. Does nothing if it was removed since. */
    void putBack(QueuedNode taken, Duration pause) {
        if (known.get(taken.node) == taken) {
            taken.dueAt = timekeeper.nanoTime() + pause.toNanos();
            waiting.add(taken);
        }
    }

    /** Changes the rate. If the queue waits for a token now, it waits for one at the new rate. */
    void setRate(double newRate) {
        if (newRate != rate) {
            TokenBucket next = bucket(newRate);
            if (!takeToken() && next != null) {
                next.take(Duration.ZERO);
            }
            rate = newRate;
            tokens = next;
        }
    }

    double rate() {
        return rate;
    }

    private boolean takeToken() {
        return tokens != null && tokens.take(Duration.ZERO).isPresent();
    }

    private @Nullable TokenBucket bucket(double perSecond) {
        return perSecond > 0 ? new TokenBucket(perSecond, BURST, timekeeper) : null;
    }
}
