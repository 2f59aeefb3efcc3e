package dev.podcache.kubelet.process;

import dev.podcache.kubelet.runtime.PodPortForward.PortConnection;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A connection to a port of this machine, at its loopback address. Thread-safe. */
public final class LoopbackConnection implements PortConnection {

    private static final Logger log = LoggerFactory.getLogger(LoopbackConnection.class);

    /** A program that accepts no connections has a full backlog; the system then answers nothing. */
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    private final Socket socket;
    private final InputStream input;
    private final OutputStream output;

    private LoopbackConnection(Socket socket) throws IOException {
        this.socket = socket;
        socket.setTcpNoDelay(true);
        this.input = socket.getInputStream();
        this.output = socket.getOutputStream();
    }

    /**
     * Connects to a port: of 127.0.0.1, or of ::1 if nothing listens there. Blocks at most 10 s for each.
     *
     * @throws IOException if neither accepts
     */
    public static LoopbackConnection to(int port) throws IOException {
        try {
            return to("127.0.0.1", port);
        } catch (ConnectException refused) {
            try {
                return to("::1", port);
            } catch (IOException alsoRefused) {
                throw new IOException("nothing listens on port " + port + " of 127.0.0.1 or ::1", refused);
            }
        }
    }

    private static LoopbackConnection to(String address, int port) throws IOException {
        Socket socket = new Socket();
        try {
            socket.connect(new InetSocketAddress(address, port), Math.toIntExact(TIMEOUT.toMillis()));
            return new LoopbackConnection(socket);
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    @Override
    public InputStream input() {
        return input;
    }

    @Override
    public OutputStream output() {
        return output;
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            log.debug("a connection was not closed completely", e);
        }
    }
}
