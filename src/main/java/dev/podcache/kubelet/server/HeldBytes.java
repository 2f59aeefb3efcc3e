package dev.podcache.kubelet.server;

import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits what all connections together hold in memory. When that is too much, the connection that holds the most gives
 * way, so a client of usual requests is never it. Thread-safe.
 */
final class HeldBytes {

    /** What the endpoints of this process received from clients that they do not know yet: a 16th of the heap, at most 8 MiB. */
    static final HeldBytes RECEIVED =
            new HeldBytes(Math.min(8L << 20, Runtime.getRuntime().maxMemory() / 16));

    /** Answers that clients have not read yet: an 8th of the heap. One answer may be larger. */
    static final HeldBytes UNSENT = new HeldBytes(Runtime.getRuntime().maxMemory() / 8);

    private static final Comparator<HeldShare> BY_SIZE = Comparator.comparingLong(holding -> holding.bytes);

    private final long most;
    private final AtomicLong total = new AtomicLong();
    private final Map<HeldShare, HeldShare> holdings = new ConcurrentHashMap<>();

    HeldBytes(long most) {
        this.most = most;
    }

    /** What one connection holds. Its methods are called by one thread at a time. */
    final class HeldShare {

        private final Runnable giveWay;
        private volatile long bytes;

        private HeldShare(Runnable giveWay) {
            this.giveWay = giveWay;
        }

        /** Sets how many bytes are held now; 0 for none. May have a connection give way, also this one. */
        void set(long now) {
            long before = replaced(now);
            if (now > before && total.get() > most) {
                reduce();
            }
        }

        private synchronized long replaced(long now) {
            long before = bytes;
            bytes = now;
            total.addAndGet(now - before);
            if (now == 0) {
                holdings.remove(this);
            } else if (before == 0) {
                holdings.put(this, this);
            }
            return before;
        }
    }

    /** @param giveWay drops what is held soon; called by any thread, must neither block nor throw */
    HeldShare holding(Runnable giveWay) {
        return new HeldShare(giveWay);
    }

    long total() {
        return total.get();
    }

    private void reduce() {
        // one holder alone may exceed the limit, because each has a limit of its own
        while (total.get() > most && holdings.size() > 1) {
            holdings.keySet().stream().max(BY_SIZE).ifPresent(largest -> {
                largest.replaced(0);
                largest.giveWay.run();
            });
        }
    }
}
