package dev.podcache.apiserver.fabric8;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP/1.1 server that answers each request on loopback with the bytes that a test wrote down, right or wrong. Knows
 * of HTTP only where a request ends.
 */
final class ScriptedServer extends SocketServer {

    /** The beginning of an answer with status 200, whose body comes in chunks. */
    static final String CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

    private static final byte[] LINE_END = {'\r', '\n'};

    /** The heads of the requests, in order of arrival. */
    final List<String> requests = new CopyOnWriteArrayList<>();

    /** The body of the last request. */
    volatile String lastBody = "";

    private volatile Script script = connection -> {};

    /** What the server does for a request. Called by the thread that reads the connection. */
    @FunctionalInterface
    interface Script {
        void answer(ScriptedConnection connection) throws IOException;
    }

    /** The server's side of a connection. */
    static final class ScriptedConnection {

        private final Socket socket;

        private ScriptedConnection(Socket socket) {
            this.socket = socket;
        }

        void write(String text) throws IOException {
            write(text.getBytes(UTF_8));
        }

        /** Sends bytes. Blocks while the client does not read. */
        void write(byte[] bytes) throws IOException {
            socket.getOutputStream().write(bytes);
        }

        /** Sends one chunk of an answer that comes in chunks. */
        void chunk(String text) throws IOException {
            byte[] bytes = text.getBytes(UTF_8);
            chunk(bytes, 0, bytes.length);
        }

        /** Sends one chunk of an answer that comes in chunks. */
        void chunk(byte[] bytes, int offset, int length) throws IOException {
            ByteArrayOutputStream chunk = new ByteArrayOutputStream(length + 16);
            chunk.writeBytes((Integer.toHexString(length) + "\r\n").getBytes(UTF_8));
            chunk.write(bytes, offset, length);
            chunk.writeBytes(LINE_END);
            write(chunk.toByteArray());
        }

        void close() throws IOException {
            socket.close();
        }
    }

    ScriptedServer() {
        super(listen());
        start();
    }

    private static ServerSocket listen() {
        try {
            return new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    String url() {
        return "http://127.0.0.1:" + port();
    }

    /** Has this done for each request. */
    void onRequest(Script what) {
        script = what;
    }

    /** Has each request answered like this. */
    void answer(String statusAndHeaders, String body) {
        onRequest(answering(statusAndHeaders, body));
    }

    /** A whole answer. */
    static Script answering(String statusAndHeaders, String body) {
        return connection -> connection.write("HTTP/1.1 " + statusAndHeaders + "\r\nContent-Length: "
                + body.getBytes(UTF_8).length + "\r\n\r\n" + body);
    }

    /**
     * Has each request answered with 200 and these bytes in chunks of {@code size}, then with the end of the answer.
     */
    void stream(String body, int size) {
        onRequest(connection -> {
            connection.write(CHUNKED);
            byte[] bytes = body.getBytes(UTF_8);
            for (int at = 0; at < bytes.length; at += size) {
                connection.chunk(bytes, at, Math.min(bytes.length - at, size));
            }
            connection.write("0\r\n\r\n");
        });
    }

    @Override
    ConnectionReader accepted(Socket socket) {
        return () -> read(socket);
    }

    private void read(Socket socket) throws IOException {
        socket.setTcpNoDelay(true);
        InputStream in = new BufferedInputStream(socket.getInputStream());
        ScriptedConnection connection = new ScriptedConnection(socket);
        for (String head = head(in); head != null && !head.startsWith("PRI * HTTP/2.0"); head = head(in)) {
            lastBody = new String(in.readNBytes(bodyLength(head)), UTF_8);
            requests.add(head);
            script.answer(connection);
        }
        // the client has closed the connection, or tries HTTP/2 with prior knowledge
    }

    private static @Nullable String head(InputStream in) throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n", head.length() - 4) < 0) {
            int next = in.read();
            if (next < 0) {
                return null;
            }
            head.append((char) next);
        }
        return head.toString();
    }

    private static int bodyLength(String head) {
        return head.lines()
                .filter(line -> line.regionMatches(true, 0, "Content-Length:", 0, "Content-Length:".length()))
                .mapToInt(line -> Integer.parseInt(
                        line.substring("Content-Length:".length()).strip()))
                .findFirst()
                .orElse(0);
    }
}
