package dev.podcache.kubelet.server;

import com.google.common.collect.HashMultiset;
import com.google.common.collect.Multiset;
import com.google.common.collect.Multisets;
import dev.podcache.time.Timekeeper;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Limits the connections of clients: their number, and how long one may be open without a request. When there are too many,
 * one without a request gives way: first of those on which no client was authenticated, then of those that have not taken an
 * answer yet, then of the others. Of these, the network with the most gives way, with the connection that has been so for
 * longest: a client that opens thousands closes its own. Thread-safe.
 */
final class OpenConnections {

    static final Duration IDLE = Duration.ofSeconds(90);

    private final int most;
    private final Timekeeper timekeeper;

    // the sets are guarded by this, and in the order in which their connections came to it
    private final Set<OpenConnection> busy = new LinkedHashSet<>();
    private final Set<OpenConnection> unread = new LinkedHashSet<>();
    private final Set<OpenConnection> idleUnknown = new LinkedHashSet<>();
    private final Set<OpenConnection> idleKnown = new LinkedHashSet<>();

    OpenConnections(int most, Timekeeper timekeeper) {
        this.most = most;
        this.timekeeper = timekeeper;
    }

    /** One connection. Closed with {@link #closed}, which has no effect the second time. */
    final class OpenConnection {

        private final String network;
        private final Runnable close;
        private boolean known; // these fields are guarded by OpenConnections.this
        private boolean gone;
        private Timekeeper.Scheduled timer = () -> {};

        private OpenConnection(ClientSource source, Runnable close) {
            this.network = source.network();
            this.close = close;
        }

        /** The TLS handshake has ended, which has a limit of its own. The time without a request begins. */
        void established() {
            synchronized (OpenConnections.this) {
                if (!gone && idleUnknown.contains(this)) {
                    await(this);
                }
            }
        }

        /** A request has begun. */
        void requestBegan() {
            synchronized (OpenConnections.this) {
                if (!gone) {
                    remove(this);
                    busy.add(this);
                }
            }
        }

        /** The request has an answer, which the client has not taken yet. */
        void answerUnread() {
            synchronized (OpenConnections.this) {
                if (busy.remove(this)) {
                    unread.add(this);
                }
            }
        }

        /** The request has been answered. */
        void requestEnded() {
            synchronized (OpenConnections.this) {
                if (!gone) {
                    remove(this);
                    idle(this);
                }
            }
        }

        /** The client of the request was authenticated. */
        void authenticated() {
            synchronized (OpenConnections.this) {
                known = true;
            }
        }

        void closed() {
            synchronized (OpenConnections.this) {
                gone = true;
                remove(this);
            }
        }
    }

    /**
     * Adds a connection, which has no request yet.
     *
     * @param close closes it; called by any thread, must neither block nor throw
     * @return empty if there are too many that have requests
     */
    Optional<OpenConnection> opened(ClientSource source, Runnable close) {
        OpenConnection added = new OpenConnection(source, close);
        Optional<OpenConnection> gives = Optional.empty();
        synchronized (this) {
            if (size() >= most) {
                gives = Stream.of(idleUnknown, unread, idleKnown)
                        .filter(idle -> !idle.isEmpty())
                        .findFirst()
                        .map(OpenConnections::oldestOfLargest);
                if (gives.isEmpty()) {
                    return Optional.empty();
                }
                gives.get().gone = true;
                remove(gives.get());
            }
            idleUnknown.add(added);
        }
        gives.ifPresent(connection -> connection.close.run());
        return Optional.of(added);
    }

    private static OpenConnection oldestOfLargest(Set<OpenConnection> idle) {
        Multiset<String> sizes = HashMultiset.create();
        idle.forEach(connection -> sizes.add(connection.network));
        String largest = Multisets.copyHighestCountFirst(sizes).iterator().next();
        return idle.stream()
                .filter(connection -> connection.network.equals(largest))
                .findFirst()
                .orElseThrow();
    }

    synchronized int size() {
        return busy.size() + unread.size() + idleUnknown.size() + idleKnown.size();
    }

    /** The caller holds the lock. */
    private void remove(OpenConnection connection) {
        connection.timer.cancel();
        busy.remove(connection);
        unread.remove(connection);
        idleUnknown.remove(connection);
        idleKnown.remove(connection);
    }

    /** The caller holds the lock. */
    private void idle(OpenConnection connection) {
        (connection.known ? idleKnown : idleUnknown).add(connection);
        await(connection);
    }

    /** The caller holds the lock. */
    private void await(OpenConnection connection) {
        connection.timer = timekeeper.schedule(IDLE, () -> expired(connection));
    }

    private void expired(OpenConnection connection) {
        synchronized (this) {
            // a request may have begun while the timer fired
            if (!idleUnknown.contains(connection) && !idleKnown.contains(connection)) {
                return;
            }
        }
        connection.close.run();
    }
}
