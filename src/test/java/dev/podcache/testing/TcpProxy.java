package dev.podcache.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stands between a client and a server on loopback and does what networks do. Connections are forwarded until they are frozen:
 * then bytes are taken from neither side, and nobody is told. Thread-safe; a thread for each direction of each connection.
 */
public final class TcpProxy implements AutoCloseable {

    private static final int CHUNK = 16 * 1024;

    private final ServerSocket listening;
    private volatile int target;
    private final List<Link> links = new CopyOnWriteArrayList<>();
    private final AtomicInteger accepted = new AtomicInteger();
    private volatile boolean freezesNew;

    private TcpProxy(ServerSocket listening, int target) {
        this.listening = listening;
        this.target = target;
    }

    /** One in front of a port of this machine. */
    public static TcpProxy to(int port) {
        try {
            TcpProxy proxy = new TcpProxy(new ServerSocket(0, 100, InetAddress.getLoopbackAddress()), port);
            proxy.startThread("accept", proxy::accept);
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

    /** How many connections have come so far. */
    public int accepted() {
        return accepted.get();
    }

    /** Freezes the connections that are open now; new ones work. */
    public void freeze() {
        links.forEach(link -> link.freeze(true));
    }

    /** Has connections that come from now on begin frozen. */
    public void freezeNew() {
        freezesNew = true;
    }

    /** Ends every freezing. */
    public void thaw() {
        freezesNew = false;
        links.forEach(link -> link.freeze(false));
    }

    /** Resets (TCP RST) the connections that are open now, to both sides. */
    public void reset() {
        links.forEach(Link::reset);
    }

    @Override
    public void close() {
        try {
            listening.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            reset();
        }
    }

    private void accept() {
        while (!listening.isClosed()) {
            try {
                Socket client = listening.accept();
                accepted.incrementAndGet();
                Socket server = new Socket();
                server.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), target));
                Link link = new Link(client, server);
                link.freeze(freezesNew);
                links.add(link);
                startThread("up", () -> link.pump(client, server));
                startThread("down", () -> link.pump(server, client));
            } catch (IOException closed) {
                // the next round sees it, or the next connection is tried
            }
        }
    }

    private void startThread(String name, Runnable task) {
        Thread thread = new Thread(task, "tcp-proxy-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    private final class Link {

        private final Socket client;
        private final Socket server;
        private boolean frozen; // guarded by this

        Link(Socket client, Socket server) {
            this.client = client;
            this.server = server;
        }

        synchronized void freeze(boolean on) {
            frozen = on;
            notifyAll();
        }

        void reset() {
            for (Socket socket : List.of(client, server)) {
                try {
                    socket.setSoLinger(true, 0);
                } catch (SocketException closedAlready) {
                    // then there is nobody to tell
                }
            }
            end();
        }

        void pump(Socket from, Socket to) {
            byte[] chunk = new byte[CHUNK];
            try {
                InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream();
                for (int n = in.read(chunk); n >= 0; n = in.read(chunk)) {
                    awaitThaw();
                    out.write(chunk, 0, n);
                }
                awaitThaw();
            } catch (IOException | InterruptedException over) {
                // the other direction ends too
            } finally {
                end();
            }
        }

        private synchronized void awaitThaw() throws InterruptedException {
            while (frozen && links.contains(this)) {
                wait();
            }
        }

        private void end() {
            links.remove(this);
            freeze(false);
            for (Socket socket : List.of(client, server)) {
                try {
                    socket.close();
                } catch (IOException closedAlready) {
                    // so be it
                }
            }
        }
    }
}
