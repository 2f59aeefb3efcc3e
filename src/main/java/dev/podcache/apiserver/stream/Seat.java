package dev.podcache.apiserver.stream;

/** The right to one stream of one connection. Given out and taken back by the {@link ConnectionPool}. */
final class Seat {

    private final PooledConnection connection;
    private boolean outlivedATick; // guarded by the pool

    Seat(PooledConnection connection) {
        this.connection = connection;
    }

    PooledConnection connection() {
        return connection;
    }

    /** Whether this was asked before: a seat that is kept for two ticks is kept for nobody. */
    boolean keptTooLongLocked() {
        boolean before = outlivedATick;
        outlivedATick = true;
        return before;
    }
}
