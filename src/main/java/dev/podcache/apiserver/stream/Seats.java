package dev.podcache.apiserver.stream;

import java.util.HashSet;
import java.util.Iterator;
import java.util.Set;

/**
 * The books of one connection: how many streams it may carry, how many are taken or kept. Guarded by the lock
 * of the {@link ConnectionPool}.
 */
final class Seats {

    private final Set<Seat> kept = new HashSet<>();
    private int limit = 1;
    private int taken;

    /** How many streams the server allows; may turn out to be fewer than are taken. */
    void limitTo(int streams) {
        limit = streams;
    }

    int limit() {
        return limit;
    }

    int free() {
        return Math.max(0, limit - taken);
    }

    boolean unused() {
        return taken == 0;
    }

    Seat take(PooledConnection connection) {
        taken++;
        return new Seat(connection);
    }

    void giveBack() {
        taken--;
    }

    /** A taken seat that is free for whoever has it in hand. */
    void keep(Seat seat) {
        kept.add(seat);
    }

    /** Makes a kept seat a taken one. */
    boolean reclaim(Seat seat) {
        return kept.remove(seat);
    }

    /** Gives back what was kept for too long: whoever had it will not come. */
    void tick() {
        for (Iterator<Seat> each = kept.iterator(); each.hasNext(); ) {
            if (each.next().keptTooLongLocked()) {
                each.remove();
                taken--;
            }
        }
    }
}
