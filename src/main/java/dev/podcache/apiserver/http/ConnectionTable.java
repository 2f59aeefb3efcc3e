package dev.podcache.apiserver.http;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The connections of a {@link ConnectionPool} that are not gone, and their streams. Guarded by the pool. */
final class ConnectionTable {

    /*
     * An exchange goes over the fullest connection that has room, so that connections empty out as watches end. One
     * that carries nothing is closed after a while. A spare one is opened before the last stream is taken, so that
     * hardly any exchange waits for a TLS handshake: when no more than a tenth of one connection is free; it is closed
     * only when a fifth is free elsewhere, so that it does not come and go.
     */

    private static final int SCARCE = 10;
    private static final int PLENTY = 5;

    private final List<Connection> connections = new ArrayList<>();
    private int expected; // the limit that the server last told, 0 before that

    /** Returns a copy of the list of all. */
    List<Connection> all() {
        return List.copyOf(connections);
    }

    int size() {
        return connections.size();
    }

    void add(Connection connection) {
        connections.add(connection);
    }

    void remove(Connection connection) {
        connections.remove(connection);
    }

    /** Sets how many streams {@code connection} may carry, which is expected of those that will be opened too. */
    void limit(Connection connection, int limit) {
        connection.limit = limit;
        expected = limit;
    }

    /** Returns {@code preferred} if it has a stream free, else the fullest connection that has one, or null. */
    @Nullable
    Connection withRoom(@Nullable Connection preferred) {
        if (preferred != null && preferred.freeLocked() > 0) {
            return preferred;
        }
        Connection best = null;
        for (Connection each : connections) {
            int free = each.freeLocked();
            if (free > 0 && (best == null || free < best.freeLocked())) {
                best = each;
            }
        }
        return best;
    }

    /** Returns how many streams are to be expected without another connection. */
    long coming() {
        long coming = 0;
        for (Connection each : connections) {
            if (each.stage == Connection.Stage.OPENING) {
                coming += expected == 0 ? Integer.MAX_VALUE : expected;
            } else if (each.stage == Connection.Stage.OPEN && each.limit == 0) {
                // a server that allows nothing for the moment would allow it on no other connection either
                coming += Integer.MAX_VALUE;
            }
        }
        return coming;
    }

    /** Whether a spare connection is to be opened. */
    boolean isScarce() {
        return expected >= SCARCE && coming() == 0 && isUsed() && free() <= expected / SCARCE;
    }

    /** Whether {@code spare}, which carries nothing, is to be kept. */
    boolean needs(Connection spare) {
        return expected >= SCARCE && isUsed() && free() - spare.freeLocked() < expected / PLENTY;
    }

    private boolean isUsed() {
        return connections.stream().anyMatch(each -> each.taken > 0);
    }

    private int free() {
        return connections.stream().mapToInt(Connection::freeLocked).sum();
    }
}
