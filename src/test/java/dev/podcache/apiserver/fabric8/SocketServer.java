package dev.podcache.apiserver.fabric8;

import com.google.common.util.concurrent.Uninterruptibles;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A server of plain sockets on the loopback address. One thread accepts, and one reads each connection, which ends with
 * it.
 */
abstract class SocketServer implements AutoCloseable {

    /** The number of connections that the client has not closed, as far as the server can tell. */
    final AtomicInteger openConnections = new AtomicInteger();

    private final ServerSocket listening;
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final List<Thread> threads = new CopyOnWriteArrayList<>();

    /** Reads a connection until its end. An exception ends it, too. */
    @FunctionalInterface
    interface ConnectionReader {
        void read() throws IOException;
    }

    SocketServer(ServerSocket listening) {
        this.listening = listening;
    }

    /** Accepts connections from now on. */
    final void start() {
        run("accept", this::accept);
    }

    /** Returns what reads a new connection, in a thread of its own. Called in the order of arrival. */
    abstract ConnectionReader accepted(Socket socket);

    final int port() {
        return listening.getLocalPort();
    }

    private void accept() {
        while (!listening.isClosed()) {
            try {
                Socket socket = listening.accept();
                sockets.add(socket);
                openConnections.incrementAndGet();
                ConnectionReader reader = accepted(socket);
                run("read", () -> readToTheEnd(socket, reader));
            } catch (IOException closed) {
                // the next round sees it
            }
        }
    }

    private void readToTheEnd(Socket socket, ConnectionReader reader) {
        try (socket) {
            reader.read();
        } catch (IOException closed) {
            // by the client, by the script or by close()
        } finally {
            openConnections.decrementAndGet();
        }
    }

    private void run(String name, Runnable task) {
        Thread thread = new Thread(task, "socket-server-" + name);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    /** Ends every connection and every thread. Idempotent. */
    @Override
    public final void close() {
        close(listening);
        // the first is the one that accepts, and may add another before it ends
        for (int i = 0; i < threads.size(); i++) {
            sockets.forEach(SocketServer::close);
            Uninterruptibles.joinUninterruptibly(threads.get(i));
        }
    }

    private static void close(AutoCloseable socket) {
        try {
            socket.close();
        } catch (Exception alreadyBroken) {
            // it is closed all the same
        }
    }
}
