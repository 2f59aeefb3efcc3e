package dev.podcache.kubelet.server;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Limits what all connections together hold in memory. When that is too much, the connection that holds the most is
 * closed: an attacker's, because usual requests are small. Thread-safe.
 */
final class HeldBytes {

    /** What the endpoints of this process received from clients that they do not know yet: a 16th of the heap, at most 8 MiB. */
    static final HeldBytes RECEIVED =
            new HeldBytes(Math.min(8L << 20, Runtime.getRuntime().maxMemory() / 16));

    /** Answers that clients have not read yet: a 16th of the heap. One answer may be larger. */
    static final HeldBytes UNSENT = new HeldBytes(Runtime.getRuntime().maxMemory() / 16);

    private static final Comparator<HeldShare> BY_SIZE = Comparator.comparingLong(share -> share.bytes);

    private final long most;
    private final Set<HeldShare> shares = new HashSet<>(); // those of some bytes; guarded by this
    private long total; // guarded by this

    HeldBytes(long most) {
        this.most = most;
    }

    /** What one connection holds. Its method may be called by any thread. */
    final class HeldShare {

        private final Runnable giveWay;
        private long bytes; // guarded by HeldBytes.this

        private HeldShare(Runnable giveWay) {
            this.giveWay = giveWay;
        }

        /** Sets how many bytes are held now; 0 for none. May have a connection give way, also this one. */
        void set(long now) {
            replace(this, now).forEach(share -> share.giveWay.run());
        }
    }

    /** @param giveWay drops what is held soon; called by any thread, under no lock of this object; must neither block nor throw */
    HeldShare holding(Runnable giveWay) {
        return new HeldShare(giveWay);
    }

    /** Returns what all connections hold: no more than the limit, unless one alone holds more. */
    synchronized long total() {
        return total;
    }

    /** Returns those that must give way now. They count no more. */
    private synchronized List<HeldShare> replace(HeldShare share, long now) {
        boolean grows = now > share.bytes;
        count(share, now);
        List<HeldShare> giveWay = new ArrayList<>(0);
        // one alone may exceed the limit, because each has a limit of its own
        while (grows && total > most && shares.size() > 1) {
            HeldShare largest = Collections.max(shares, BY_SIZE);
            count(largest, 0);
            giveWay.add(largest);
        }
        return giveWay;
    }

    /** The caller holds the lock. */
    private void count(HeldShare share, long now) {
        total += now - share.bytes;
        share.bytes = now;
        if (now == 0) {
            shares.remove(share);
        } else {
            shares.add(share);
        }
    }
}
