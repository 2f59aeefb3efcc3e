package dev.podcache.testing;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A TCP proxy on the loopback address that simulates network faults: it freezes, delays, throttles, cuts, resets and
 * refuses connections, single or all. Without faults, it forwards bytes and the end of each direction. Thread-safe.
 * Only {@link #close} blocks. Uses four daemon threads per connection, which end soon after {@link #close}.
 */
public final class TcpProxy implements AutoCloseable {

    // The lock guards the connections, closed and the conditions of new connections, so that a condition reaches every
    // connection, including one that is being opened. The locks of a connection are taken inside it. Sockets are
    // connected and closed outside it.

    /** The direction of bytes. */
    public enum Direction {
        /** From the client to the server. */
        TO_SERVER,
        /** From the server to the client. */
        TO_CLIENT
    }

    /** A connection through the proxy. Methods have no effect on a closed connection. */
    public interface ProxyConnection {

        /** Holds back the bytes of one direction, and its end, until {@link #thaw}. Neither side is notified. */
        void freeze(Direction direction);

        /** Forwards what was held back and unfreezes both directions. */
        void thaw();

        /** Resets the connection (TCP RST) on both sides at once. */
        void reset();

        /** Delays each chunk of either direction, and its end; zero ends the delay. */
        void delay(Duration perChunk);

        /** Limits the throughput of each direction; 0 ends the limit. */
        void throttle(int bytesPerSecond);

        /**
         * Resets the connection after this number of further bytes to the client; 0 resets it instead of the next byte,
         * a negative number never.
         */
        void cutAfter(long bytes);

        /**
         * Returns whether the connection is open. The proxy does not see the end of a frozen direction before it thaws.
         */
        boolean isOpen();
    }

    private static final Duration CLOSED_WITHIN = Duration.ofSeconds(2);

    private final ServerSocket listening;
    private final Thread accepting;
    private final Object lock = new Object();
    private final List<ProxiedConnection> connections = new ArrayList<>(); // guarded by lock
    private boolean closed; // guarded by lock
    private boolean freezesNew; // guarded by lock
    private Duration delay = Duration.ZERO; // guarded by lock
    private int bytesPerSecond; // guarded by lock
    private long cutAfter = -1; // guarded by lock
    private long emptySince = System.nanoTime(); // guarded by lock; only valid without connections
    private final AtomicInteger accepted = new AtomicInteger();
    private volatile int target;
    private volatile boolean refuses;

    private TcpProxy(ServerSocket listening, int target) {
        this.listening = listening;
        this.target = target;
        accepting = new Thread(this::accept, "tcp-proxy-accept");
        accepting.setDaemon(true);
    }

    /** Starts a proxy to a local port. */
    public static TcpProxy to(int port) {
        return at(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), port);
    }

    /**
     * Starts a proxy to a local port that listens on a given address, such as another loopback address. For servers
     * that move.
     *
     * @throws UncheckedIOException if it cannot listen, for example because the address is in use
     */
    public static TcpProxy at(InetSocketAddress address, int port) {
        try {
            TcpProxy proxy = new TcpProxy(new ServerSocket(address.getPort(), 100, address.getAddress()), port);
            proxy.accepting.start();
            return proxy;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the port that the proxy listens on. */
    public int port() {
        return listening.getLocalPort();
    }

    /** Forwards new connections to another local port. */
    public void leadTo(int port) {
        target = port;
    }

    /** Returns the number of connections so far, including refused ones. */
    public int accepted() {
        return accepted.get();
    }

    /** Returns a copy of the list of open connections, oldest first. */
    public List<ProxyConnection> connections() {
        synchronized (lock) {
            return List.copyOf(connections);
        }
    }

    /** Returns for how long no connection has been open; zero while one is open, even if it is frozen. */
    public Duration emptyFor() {
        synchronized (lock) {
            return connections.isEmpty() ? Duration.ofNanos(System.nanoTime() - emptySince) : Duration.ZERO;
        }
    }

    /** Freezes both directions of the open connections. New connections are not affected. */
    public void freeze() {
        for (Direction direction : Direction.values()) {
            freeze(direction);
        }
    }

    /** Freezes one direction of the open connections, which leaves them half open. New connections are not affected. */
    public void freeze(Direction direction) {
        connections().forEach(connection -> connection.freeze(direction));
    }

    /** Freezes both directions of new connections. */
    public void freezeNew() {
        synchronized (lock) {
            freezesNew = true;
        }
    }

    /** Thaws all connections, and ends {@link #freezeNew}. */
    public void thaw() {
        synchronized (lock) {
            freezesNew = false;
            connections.forEach(ProxyConnection::thaw);
        }
    }

    /** Resets the open connections (TCP RST) on both sides. */
    public void reset() {
        connections().forEach(ProxyConnection::reset);
    }

    /** Delays each chunk in both directions of open and new connections; zero ends the delay. */
    public void delay(Duration perChunk) {
        synchronized (lock) {
            delay = perChunk;
            connections.forEach(connection -> connection.delay(perChunk));
        }
    }

    /** Limits the throughput of each direction of open and new connections, in bytes per second; 0 ends the limit. */
    public void throttle(int bytesPerSecond) {
        synchronized (lock) {
            this.bytesPerSecond = bytesPerSecond;
            connections.forEach(connection -> connection.throttle(bytesPerSecond));
        }
    }

    /**
     * Resets open and new connections after this number of further bytes to the client; a negative number ends this.
     */
    public void cutAfter(long bytes) {
        synchronized (lock) {
            cutAfter = bytes;
            connections.forEach(connection -> connection.cutAfter(bytes));
        }
    }

    /** Sets whether new connections are reset as soon as they are accepted. Open connections stay. */
    public void refuse(boolean on) {
        refuses = on;
    }

    /** Ends all faults. Open connections stay. */
    public void calm() {
        refuse(false);
        delay(Duration.ZERO);
        throttle(0);
        cutAfter(-1);
        thaw();
    }

    /** Stops listening, so that the port is free, and resets every connection. */
    @Override
    public void close() {
        synchronized (lock) {
            closed = true;
        }
        try {
            listening.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            reset();
        }
        // the kernel keeps the port while a thread is in accept()
        Uninterruptibles.joinUninterruptibly(accepting, CLOSED_WITHIN);
    }

    private void accept() {
        while (!listening.isClosed()) {
            try {
                Socket client = listening.accept();
                accepted.incrementAndGet();
                forward(client);
            } catch (IOException closed) {
                // the next round sees it, or the next connection is tried
            }
        }
    }

    private void forward(Socket client) throws IOException {
        Socket server = new Socket();
        ProxiedConnection connection = new ProxiedConnection(client, server, this::forget);
        try {
            if (refuses) {
                connection.reset();
                return;
            }
            server.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), target));
            client.setTcpNoDelay(true);
            server.setTcpNoDelay(true);
        } catch (IOException unreachable) {
            connection.reset();
            return;
        }
        if (begin(connection)) {
            connection.start();
        } else {
            connection.reset();
        }
    }

    private boolean begin(ProxiedConnection connection) {
        synchronized (lock) {
            if (closed) {
                return false;
            }
            connection.delay(delay);
            connection.throttle(bytesPerSecond);
            connection.cutAfter(cutAfter);
            if (freezesNew) {
                List.of(Direction.values()).forEach(connection::freeze);
            }
            return connections.add(connection);
        }
    }

    private void forget(ProxiedConnection ended) {
        synchronized (lock) {
            if (connections.remove(ended) && connections.isEmpty()) {
                emptySince = System.nanoTime();
            }
        }
    }
}
