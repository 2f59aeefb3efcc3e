package dev.podcache.apiserver.http;

import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Limits the memory for what was received from one server and is not decoded, over all of its connections: the begun lines of
 * watches, incomplete bodies, and complete bodies that wait for a worker. Thread-safe.
 *
 * <p>While more than three eighths of the limit are in use, an answer of more than 64 KiB has to wait: its connection lets the
 * server send no more than one window ({@link Http2Streams}), and reads nothing more over HTTP/1.1. Small answers go on. One
 * waiting answer after the other, the longest waiting first, is favored: it may receive all the rest. So answers get complete
 * even if all of them together need more than the limit, such as 600 events of 4 MiB at once.
 *
 * <p>If the favored answer does not get on for 10 s, because the server stopped in the middle of it, its request fails, and
 * the next is favored. So a server that leaves all answers incomplete costs each request that waits 10 s, and blocks none
 * for ever; what incomplete answers hold stays in use meanwhile. An answer that would exceed the limit although others wait
 * fails at once: then more windows have been filled at a time than there is memory for (of 256 MiB, those of 800 answers, each
 * of which has 64 KiB and a window of 128 KiB; or of 150 lists, whose window is 1 MiB). Both are failures as of a connection
 * that was lost, after which watches and lists are tried again.
 */
final class ReceiveBudget {

    /*
     * The lock guards all fields that are not final, and those of the shares. Receivers are called outside of it.
     *
     * share    told      what
     * going    MORE      there is plenty, or it is small
     * favored  MORE      the only one that grows while memory is scarce; `favored`
     * waiting  LATER     in the set `waiting`, until it is promised a window, and is going, or is favored
     * over     MORE      counts nothing any more
     */

    /** An answer up to this size never waits. */
    static final int SMALL = 64 << 10;

    /** Up to this share of the limit, no answer waits, in eighths. */
    private static final int PLENTY = 3;

    private static final Duration STALLED_AFTER = Duration.ofSeconds(10);

    private final int most;
    private final long plenty;
    private final Timekeeper timekeeper;
    private final Set<Share> waiting = new LinkedHashSet<>();
    private @Nullable Share favored;
    private long held; // by all shares
    private long promised; // to shares that were let go on
    private long peak;

    /** What may follow. */
    enum Room {
        MORE,
        /** The receiver is told when to {@linkplain Receiver#goOn go on}. */
        LATER,
        /** The answer must fail. Nothing was counted. */
        NONE
    }

    /** One answer. Its methods must neither block nor throw; called by any thread. */
    interface Receiver {

        /** Lets the server send more. */
        void goOn();

        /** Fails the request, because the memory is used up. */
        void giveUp();
    }

    /**
     * Creates a budget that nothing has used.
     *
     * @param most the limit, in bytes
     */
    ReceiveBudget(int most, Timekeeper timekeeper) {
        this.most = most;
        this.plenty = (long) most * PLENTY / 8;
        this.timekeeper = timekeeper;
    }

    /** Returns the share of one answer, which must {@linkplain Share#end end}. */
    Share share(Receiver receiver) {
        return new Share(receiver);
    }

    /** Returns how many bytes are held. */
    synchronized long held() {
        return held;
    }

    /** Returns how many bytes were held at most at the same time. */
    synchronized long peak() {
        return peak;
    }

    /** What is held of one answer, or of one line of a watch. Thread-safe. */
    final class Share {

        private final Receiver receiver;
        private int size;
        private int promise;
        private boolean moved; // since the timer of the favored one started
        private boolean over;

        private Share(Receiver receiver) {
            this.receiver = receiver;
        }

        /**
         * Sets how much of this answer is held now. Less than before means that the rest was decoded.
         *
         * @return whether more may be received; MORE if the answer has ended
         */
        Room hold(int bytes) {
            Room[] room = new Room[1];
            act(steps -> room[0] = holdLocked(bytes, steps));
            return room[0];
        }

        private Room holdLocked(int bytes, List<Runnable> steps) {
            if (over) {
                return Room.MORE;
            }
            int more = bytes - size;
            if (more > 0 && held + more > most) {
                return Room.NONE;
            }
            setSizeLocked(bytes);
            if (more <= 0) {
                doneLocked(steps);
                return Room.MORE;
            }
            moved = true;
            int kept = Math.max(0, promise - more);
            promised -= promise - kept;
            promise = kept;
            if (bytes <= SMALL || held + promised <= plenty || favored == this) {
                return Room.MORE;
            }
            if (favored == null) {
                favorLocked(this, steps);
                return Room.MORE;
            }
            waiting.add(this);
            return Room.LATER;
        }

        /** Reports that the answer is complete, and held until it is decoded. */
        void complete() {
            act(this::doneLocked);
        }

        /** Gives everything back. Idempotent. */
        void end() {
            act(steps -> {
                over = true;
                setSizeLocked(0);
                doneLocked(steps);
            });
        }

        private void setSizeLocked(int bytes) {
            held += bytes - size;
            size = bytes;
            peak = Math.max(peak, held);
        }

        private void doneLocked(List<Runnable> steps) {
            promised -= promise;
            promise = 0;
            if (waiting.remove(this) && !over) {
                // all that it waited for has arrived
                steps.add(receiver::goOn);
            }
            if (favored == this) {
                favored = null;
            }
            letGoOnLocked(steps);
        }
    }

    private interface BudgetChange {
        void make(List<Runnable> steps);
    }

    private void act(BudgetChange decision) {
        List<Runnable> steps = new ArrayList<>(0);
        synchronized (this) {
            decision.make(steps);
        }
        steps.forEach(Runnable::run);
    }

    private void letGoOnLocked(List<Runnable> steps) {
        Iterator<Share> next = waiting.iterator();
        while (next.hasNext() && held + promised + Http2Streams.STREAM_WINDOW <= plenty) {
            Share share = next.next();
            next.remove();
            share.promise = Http2Streams.STREAM_WINDOW;
            promised += share.promise;
            steps.add(share.receiver::goOn);
        }
        if (favored == null && next.hasNext()) {
            Share share = next.next();
            next.remove();
            favorLocked(share, steps);
            steps.add(share.receiver::goOn);
        }
    }

    private void favorLocked(Share share, List<Runnable> steps) {
        favored = share;
        steps.add(() -> watchLater(share));
        share.moved = false;
    }

    private void watchLater(Share share) {
        timekeeper.schedule(STALLED_AFTER, () -> watch(share));
    }

    private void watch(Share share) {
        act(steps -> {
            if (favored != share) {
                return;
            }
            if (share.moved) {
                share.moved = false;
                steps.add(() -> watchLater(share));
            } else {
                favored = null;
                steps.add(share.receiver::giveUp);
                letGoOnLocked(steps);
            }
        });
    }
}
