package dev.podcache.apiserver.stream;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The connections there are, and what they have room for. Guarded by the lock of the {@link ConnectionPool}. */
final class Capacity {

    /*
     * A spare connection is made before the last seat is taken, so that hardly anybody waits for a TLS handshake:
     * when no more than a tenth of one connection is free. It is given back only when a fifth is free elsewhere,
     * so that it does not come and go.
     */
    private static final int SCARCE = 10;
    private static final int PLENTY = 5;

    private final List<PooledConnection> connections = new ArrayList<>(); // all but those that are gone
    private int expected; // the limit that the server last told, 0 before that

    void add(PooledConnection connection) {
        connections.add(connection);
    }

    void remove(PooledConnection connection) {
        connections.remove(connection);
    }

    /** All, which are forgotten here. */
    List<PooledConnection> takeAll() {
        List<PooledConnection> all = List.copyOf(connections);
        connections.clear();
        return all;
    }

    /** The server told its limit to {@code connection}; it will tell the next one the same. */
    void limited(PooledConnection connection, int limit) {
        expected = limit;
        connection.seats.limitTo(limit);
    }

    @Nullable
    PooledConnection fullestWithRoom() {
        PooledConnection best = null;
        for (PooledConnection each : connections) {
            int free = freeOn(each);
            if (free > 0 && (best == null || free < best.seats.free())) {
                best = each;
            }
        }
        return best;
    }

    /** How many seats are to be expected without another connection. */
    long coming() {
        long coming = 0;
        for (PooledConnection each : connections) {
            if (each.phase == PooledConnection.Phase.MAKING) {
                coming += expected == 0 ? Integer.MAX_VALUE : expected - 1;
            } else if (each.phase == PooledConnection.Phase.OPEN && each.seats.limit() == 0) {
                // a server that allows nothing for the moment would allow it on no other connection either
                coming += Integer.MAX_VALUE;
            }
        }
        return coming;
    }

    /** Whether it is time to make a connection that nobody needs yet. */
    boolean isScarce() {
        return expected >= SCARCE && coming() == 0 && inUse(null) && free(null) <= expected / SCARCE;
    }

    /** Whether {@code spare}, which carries nothing, is to be kept for who may come. */
    boolean isNeeded(PooledConnection spare) {
        return expected >= SCARCE && inUse(spare) && free(spare) < expected / PLENTY;
    }

    private boolean inUse(@Nullable PooledConnection but) {
        return connections.stream().anyMatch(each -> !each.equals(but) && !each.seats.unused());
    }

    private int free(@Nullable PooledConnection but) {
        return connections.stream()
                .filter(each -> !each.equals(but))
                .mapToInt(Capacity::freeOn)
                .sum();
    }

    private static int freeOn(PooledConnection connection) {
        return connection.phase == PooledConnection.Phase.OPEN ? connection.seats.free() : 0;
    }
}
