package dev.podcache.testing;

import static dev.podcache.testing.Patience.await;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** The base of the tests of {@link TcpProxy}: a proxy, a server, and both ends of each connection. */
abstract class TcpProxyFixture {

    static final int PATIENCE_MILLIS = 60_000;
    static final int QUIET_MILLIS = 150;

    final List<AutoCloseable> opened = new ArrayList<>();
    ServerSocket server;
    TcpProxy proxy;

    /** Both ends of a connection through the proxy. */
    record Ends(Socket client, Socket server) {}

    @BeforeEach
    void open() throws IOException {
        server = listen();
        proxy = TcpProxy.to(server.getLocalPort());
        opened.add(proxy);
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
    }

    Ends connect() throws IOException {
        int open = proxy.connections().size();
        Socket client = dial();
        Socket accepted = keep(server.accept());
        await().until(() -> proxy.connections().size() > open);
        return new Ends(client, accepted);
    }

    Socket dial() throws IOException {
        return keep(new Socket(InetAddress.getLoopbackAddress(), proxy.port()));
    }

    ServerSocket listen() throws IOException {
        ServerSocket listening = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        listening.setSoTimeout(PATIENCE_MILLIS);
        opened.add(listening);
        return listening;
    }

    Socket keep(Socket socket) throws IOException {
        socket.setSoTimeout(PATIENCE_MILLIS);
        opened.add(socket);
        return socket;
    }

    static void say(Socket socket, String words) throws IOException {
        socket.getOutputStream().write(words.getBytes(US_ASCII));
    }

    static String hear(Socket socket, int length) throws IOException {
        return new String(socket.getInputStream().readNBytes(length), US_ASCII);
    }

    static void assertQuiet(Socket socket) throws IOException {
        socket.setSoTimeout(QUIET_MILLIS);
        assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);
        socket.setSoTimeout(PATIENCE_MILLIS);
    }

    static void assertReset(Socket socket) {
        assertReset(() -> socket.getInputStream().read());
    }

    /** Asserts that a new connection is reset: while it is opened, or at the first read. */
    void assertDialIsReset() {
        assertReset(() -> dial().getInputStream().read());
    }

    private static void assertReset(ThrowingCallable read) {
        assertThatThrownBy(read).isInstanceOf(IOException.class).isNotInstanceOf(SocketTimeoutException.class);
    }

    static Duration since(long begun) {
        return Duration.ofNanos(System.nanoTime() - begun);
    }
}
