package dev.podcache.testing;

import dev.podcache.testing.TcpProxy.Direction;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A connection of {@link TcpProxy}: two sockets, with a {@link Pump} for each direction. Thread-safe. */
final class ProxiedConnection implements TcpProxy.ProxyConnection {

    private final Socket client;
    private final Socket server;
    private final Pump toServer;
    private final Pump toClient;
    private final Consumer<ProxiedConnection> whenEnded;
    private final AtomicInteger directionsLeft = new AtomicInteger(2);
    private final AtomicBoolean open = new AtomicBoolean(true);

    /** Creates a connection between two sockets, which it closes. Calls {@code whenEnded} once, at its end. */
    ProxiedConnection(Socket client, Socket server, Consumer<ProxiedConnection> whenEnded) {
        this.client = client;
        this.server = server;
        this.whenEnded = whenEnded;
        toServer = new Pump(this, client, server);
        toClient = new Pump(this, server, client);
    }

    /** Starts forwarding. */
    void start() {
        for (Pump pump : List.of(toServer, toClient)) {
            String way = pump == toServer ? "up" : "down";
            startThread(way + "-in", pump::read);
            startThread(way + "-out", pump::write);
        }
    }

    /** Runs a task on a new daemon thread. */
    static void startThread(String name, Runnable task) {
        Thread thread = new Thread(task, "tcp-proxy-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void freeze(Direction direction) {
        (direction == Direction.TO_SERVER ? toServer : toClient).freeze(true);
    }

    @Override
    public void thaw() {
        toServer.freeze(false);
        toClient.freeze(false);
    }

    @Override
    public void delay(Duration perChunk) {
        toServer.delay(perChunk);
        toClient.delay(perChunk);
    }

    @Override
    public void throttle(int bytesPerSecond) {
        toServer.throttle(bytesPerSecond);
        toClient.throttle(bytesPerSecond);
    }

    @Override
    public void cutAfter(long bytes) {
        toClient.cutAfter(bytes);
    }

    @Override
    public boolean isOpen() {
        return open.get();
    }

    @Override
    public void reset() {
        for (Socket socket : List.of(client, server)) {
            try {
                socket.setSoLinger(true, 0);
            } catch (SocketException closedAlready) {
                // then there is nobody to tell
            }
        }
        end();
    }

    /** Records the end of one direction. The connection ends after both. */
    void directionEnded() {
        if (directionsLeft.decrementAndGet() == 0) {
            end();
        }
    }

    private void end() {
        if (!open.compareAndSet(true, false)) {
            return;
        }
        toServer.stop();
        toClient.stop();
        for (Socket socket : List.of(client, server)) {
            try {
                socket.close();
            } catch (IOException closedAlready) {
                // so be it
            }
        }
        whenEnded.accept(this);
    }
}
