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
 * Stands between a client and a server on loopback and does what networks do: it freezes, delays, throttles,
 * cuts, resets and refuses connections, one of them or all. Left alone it forwards bytes, and the end of
 * either direction, as they come. Thread-safe; no method but {@link #close} blocks. Four daemon threads for each connection,
 * which end soon after {@link #close}.
 */
public final class TcpProxy implements AutoCloseable {

    // lock: connections, closed and what new connections begin with, so that a condition reaches each connection, be it
    // open or just coming. A connection's own locks are taken under it; sockets are connected and closed outside it.

    /** Which way bytes go. */
    public enum Direction {
        /** What the client sends. */
        TO_SERVER,
        /** What the server sends. */
        TO_CLIENT
    }

    /** One client's connection through the proxy. What is asked of one that is no longer open has no effect. */
    public interface Connection {

        /** Stops bytes of one direction, and its end, on their way until {@link #thaw}; nobody is told. */
        void freeze(Direction direction);

        /** Ends its freezing in both directions; what waited arrives now. */
        void thaw();

        /** Resets it (TCP RST) to both sides, at once. */
        void reset();

        /** Has each chunk of either direction, its end too, arrive so much later than it was sent; zero ends it. */
        void delay(Duration perChunk);

        /** Lets no more than so many bytes a second pass in each direction; 0 ends it. */
        void throttle(int bytesPerSecond);

        /**
         * Resets it once so many more bytes have been sent to the client, 0: in place of the next; negative ends it.
         */
        void cutAfter(long bytes);

        /** Whether it still stands, as far as the proxy knows: a frozen side's end is not seen before it thaws. */
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
    private long emptySince = System.nanoTime(); // guarded by lock, means something without connections
    private final AtomicInteger accepted = new AtomicInteger();
    private volatile int target;
    private volatile boolean refuses;

    private TcpProxy(ServerSocket listening, int target) {
        this.listening = listening;
        this.target = target;
        accepting = new Thread(this::accept, "tcp-proxy-accept");
        accepting.setDaemon(true);
    }

    /** One in front of a port of this machine. */
    public static TcpProxy to(int port) {
        return at(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), port);
    }

    /**
     * One in front of a port of this machine that listens where it is told to, such as at another loopback
     * address: for servers that move.
     *
     * @throws UncheckedIOException if that is not possible, because somebody listens there for example
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

    /** Where it listens. */
    public int port() {
        return listening.getLocalPort();
    }

    /** Has connections that come from now on lead to another port of this machine. */
    public void leadTo(int port) {
        target = port;
    }

    /** How many connections have come so far, the refused ones included. */
    public int accepted() {
        return accepted.get();
    }

    /** The connections that are open now, oldest first; a copy. */
    public List<Connection> connections() {
        synchronized (lock) {
            return List.copyOf(connections);
        }
    }

    /** How long no connection has been open; zero while one is, even if it is frozen. */
    public Duration emptyFor() {
        synchronized (lock) {
            return connections.isEmpty() ? Duration.ofNanos(System.nanoTime() - emptySince) : Duration.ZERO;
        }
    }

    /** Freezes the connections that are open now, in both directions; new ones work. */
    public void freeze() {
        for (Direction direction : Direction.values()) {
            freeze(direction);
        }
    }

    /** Freezes one direction of the connections that are open now, which leaves them half open; new ones work. */
    public void freeze(Direction direction) {
        connections().forEach(connection -> connection.freeze(direction));
    }

    /** Has connections that come from now on begin frozen, in both directions. */
    public void freezeNew() {
        synchronized (lock) {
            freezesNew = true;
        }
    }

    /** Ends every freezing. */
    public void thaw() {
        synchronized (lock) {
            freezesNew = false;
            connections.forEach(Connection::thaw);
        }
    }

    /** Resets (TCP RST) the connections that are open now, to both sides. */
    public void reset() {
        connections().forEach(Connection::reset);
    }

    /**
     * Has each chunk arrive so much later, in both directions of every connection that is open or comes; zero ends it.
     */
    public void delay(Duration perChunk) {
        synchronized (lock) {
            delay = perChunk;
            connections.forEach(connection -> connection.delay(perChunk));
        }
    }

    /** Throttles each direction of every connection that is open or comes; 0 ends it. */
    public void throttle(int bytesPerSecond) {
        synchronized (lock) {
            this.bytesPerSecond = bytesPerSecond;
            connections.forEach(connection -> connection.throttle(bytesPerSecond));
        }
    }

    /** Resets each connection that is open or comes after so many bytes more to its client; negative ends it. */
    public void cutAfter(long bytes) {
        synchronized (lock) {
            cutAfter = bytes;
            connections.forEach(connection -> connection.cutAfter(bytes));
        }
    }

    /** Resets, or no longer resets, new connections as soon as they are there; those that are open stay. */
    public void refuse(boolean on) {
        refuses = on;
    }

    /** Ends all of it: refusing, delay, throttling, cutting and every freezing. Open connections stay. */
    public void calm() {
        refuse(false);
        delay(Duration.ZERO);
        throttle(0);
        cutAfter(-1);
        thaw();
    }

    /** Listens no more, so that its port is free, and resets every connection. */
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
        // the kernel keeps the port for a thread that is still in accept()
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
