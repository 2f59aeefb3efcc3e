package dev.podcache.apiserver.http;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The connections of a {@link ConnectionPool} that are not closed, and their streams. Guarded by the pool. */
final class ConnectionTable {

    /*
     * An exchange gets a stream of the fullest connection that has one free, so that the other connections drain as
     * watches end. An unused connection is closed after a while. A spare connection is opened when at most a tenth of
     * the streams of one connection is free, so that an exchange rarely waits for a TLS handshake. It is closed only
     * when a fifth is free on the others, so that it is not opened and closed repeatedly.
     */

    private static final int SCARCE = 10;
    private static final int PLENTY = 5;

    private final List<Connection> connections = new ArrayList<>();
    private int latestNumber;
    private int latestLimit; // the stream limit that the server sent last; 0 before the first

    /** Returns how many connections carry {@code streams} streams of watches, the spare one included. */
    static int connectionsFor(int streams, int limit) {
        int full = (streams + limit - 1) / limit;
        boolean scarce = limit >= SCARCE && streams > 0 && full * limit - streams <= limit / SCARCE;
        return scarce ? full + 1 : full;
    }

    /** Returns a copy of the list of connections. */
    List<Connection> all() {
        return List.copyOf(connections);
    }

    int size() {
        return connections.size();
    }

    /** Adds a connection that no exchange has used yet, and numbers it. */
    void add(Connection connection) {
        connection.number = ++latestNumber;
        connections.add(connection);
    }

    void remove(Connection connection) {
        connections.remove(connection);
    }

    /** Sets the stream limit of {@code connection}, which is also the expected limit of connections that open later. */
    void limit(Connection connection, int limit) {
        connection.limit = limit;
        latestLimit = limit;
    }

    /** Returns {@code preferred} if it has a free stream, else the fullest connection that has one, or null. */
    @Nullable
    Connection withFreeStream(@Nullable Connection preferred) {
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

    /** Returns how many free streams to expect without a new connection. */
    long expectedStreams() {
        long streams = 0;
        for (Connection each : connections) {
            if (each.stage == ConnectionStage.OPENING) {
                streams += latestLimit == 0 ? Integer.MAX_VALUE : latestLimit;
            } else if (each.stage == ConnectionStage.OPEN && each.limit == 0) {
                // a server that allows no streams at the moment would not allow any on another connection either
                streams += Integer.MAX_VALUE;
            }
        }
        return streams;
    }

    /** Returns whether to open a spare connection. */
    boolean needsSpare() {
        return latestLimit >= SCARCE && expectedStreams() == 0 && isUsed() && free() <= latestLimit / SCARCE;
    }

    /** Returns whether to keep {@code spare}, which is unused. */
    boolean needsToKeep(Connection spare) {
        return latestLimit >= SCARCE && isUsed() && free() - spare.freeLocked() < latestLimit / PLENTY;
    }

    private boolean isUsed() {
        return connections.stream().anyMatch(each -> each.taken > 0);
    }

    private int free() {
        return connections.stream().mapToInt(Connection::freeLocked).sum();
    }
}
