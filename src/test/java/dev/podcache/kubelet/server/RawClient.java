package dev.podcache.kubelet.server;

import dev.podcache.testing.NewThread;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;

/** A client that sends whatever bytes a test wants, and reads answers with a Content-Length. */
final class RawClient implements AutoCloseable {

    private static final int READ_TIMEOUT_MILLIS = 60_000;

    private final Socket socket;
    private final InputStream input;

    private RawClient(Socket socket) throws IOException {
        this.socket = socket;
        socket.setSoTimeout(READ_TIMEOUT_MILLIS);
        this.input = new BufferedInputStream(socket.getInputStream());
    }

    static RawClient plain(int port) throws IOException {
        return plain("127.0.0.1", port);
    }

    static RawClient plain(String address, int port) throws IOException {
        return new RawClient(new Socket(address, port));
    }

    /** Connects by TLS, and waits for the end of the handshake. */
    static RawClient tls(SSLContext tls, int port) throws IOException {
        return of((SSLSocket) tls.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port));
    }

    /** Waits for the end of the handshake. */
    static RawClient of(SSLSocket socket) throws IOException {
        socket.startHandshake();
        return new RawClient(socket);
    }

    RawClient send(String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.ISO_8859_1));
        socket.getOutputStream().flush();
        return this;
    }

    /** Sends a text again and again, until the connection ends; returns how many bytes were taken so far. */
    AtomicLong sendAgain(String text, CompletableFuture<Object> end) {
        AtomicLong sent = new AtomicLong();
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        CompletableFuture.runAsync(
                () -> {
                    try {
                        while (true) {
                            socket.getOutputStream().write(bytes);
                            sent.addAndGet(bytes.length);
                        }
                    } catch (IOException e) {
                        end.complete(e);
                    }
                },
                NewThread.EACH);
        return sent;
    }

    /** Returns the next answer: its head and its body; "" if the connection has ended. */
    String answer() throws IOException {
        String head = head();
        return head + new String(input.readNBytes(length(head)), StandardCharsets.UTF_8);
    }

    /** Returns the head of the next answer; "" if the connection has ended. */
    String head() throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        while (!head.toString(StandardCharsets.ISO_8859_1).endsWith("\r\n\r\n")) {
            int next = read();
            if (next < 0) {
                return head.toString(StandardCharsets.ISO_8859_1);
            }
            head.write(next);
        }
        return head.toString(StandardCharsets.ISO_8859_1);
    }

    private static int length(String head) {
        return head.lines()
                .filter(line -> line.toLowerCase(Locale.ROOT).startsWith("content-length:"))
                .mapToInt(line ->
                        Integer.parseInt(line.substring(line.indexOf(':') + 1).strip()))
                .findFirst()
                .orElse(0);
    }

    /** Returns the next bytes, each as a character; fewer if the connection ends before. */
    String next(int bytes) throws IOException {
        return new String(input.readNBytes(bytes), StandardCharsets.ISO_8859_1);
    }

    /** Reads all that comes until the server ends the connection. */
    String rest() {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        try {
            for (int next = read(); next >= 0; next = read()) {
                all.write(next);
            }
        } catch (IOException reset) {
            // as good as an end
        }
        return all.toString(StandardCharsets.ISO_8859_1);
    }

    /** Returns whether the server has ended the connection; waits at most {@code millis}. */
    boolean isEnded(int millis) throws IOException {
        socket.setSoTimeout(millis);
        try {
            return read() < 0;
        } catch (SocketTimeoutException open) {
            return false;
        } catch (IOException reset) {
            return true;
        } finally {
            socket.setSoTimeout(READ_TIMEOUT_MILLIS);
        }
    }

    private int read() throws IOException {
        return input.read();
    }

    Socket socket() {
        return socket;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
