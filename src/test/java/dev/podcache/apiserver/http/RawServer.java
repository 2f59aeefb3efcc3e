package dev.podcache.apiserver.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import dev.podcache.testing.Patience;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import javax.net.ServerSocketFactory;

/** A server on the loopback address whose connections a test reads and writes byte by byte, in its own thread. */
final class RawServer implements AutoCloseable {

    static final int DATA = 0;
    static final int HEADERS = 1;
    static final int RST_STREAM = 3;
    static final int SETTINGS = 4;
    static final int PING = 6;
    static final int GOAWAY = 7;
    static final int WINDOW_UPDATE = 8;
    static final int CONTINUATION = 9;
    static final int END_STREAM = 1;
    static final int ACK = 1;
    static final int END_HEADERS = 4;

    private static final int MAX_CONCURRENT_STREAMS = 3;
    private static final int PREFACE_LENGTH = 24;

    private final ServerSocket listening;

    RawServer() throws IOException {
        this(ServerSocketFactory.getDefault());
    }

    /** Creates a server whose sockets are plain, or speak TLS. */
    RawServer(ServerSocketFactory sockets) throws IOException {
        listening = sockets.createServerSocket(0, 50, InetAddress.getLoopbackAddress());
    }

    InetSocketAddress address() {
        return (InetSocketAddress) listening.getLocalSocketAddress();
    }

    int port() {
        return listening.getLocalPort();
    }

    /** Waits for the next connection. */
    Peer accept() throws IOException {
        listening.setSoTimeout((int) (Patience.SECONDS * 1000));
        return new Peer(listening.accept());
    }

    /** Waits for the next connection, which speaks HTTP/2, and allows it that many streams. */
    Peer acceptHttp2(int limit) throws IOException {
        Peer peer = accept();
        peer.in.readFully(new byte[PREFACE_LENGTH]);
        peer.write(frame(SETTINGS, 0, 0, limit(limit)));
        return peer;
    }

    static byte[] limit(int streams) {
        return ByteBuffer.allocate(6)
                .putShort((short) MAX_CONCURRENT_STREAMS)
                .putInt(streams)
                .array();
    }

    static byte[] number(int value) {
        return ByteBuffer.allocate(4).putInt(value).array();
    }

    static byte[] goAway(int last) {
        return frame(GOAWAY, 0, 0, ByteBuffer.allocate(8).putInt(last).putInt(0).array());
    }

    /** A HEADERS frame with a status, whose other headers are literals without an index. */
    static byte[] head(int stream, boolean last, int status, String... namesAndValues) {
        ByteArrayOutputStream block = new ByteArrayOutputStream();
        if (status > 0) {
            literal(block, ":status", Integer.toString(status));
        }
        for (int i = 0; i < namesAndValues.length; i += 2) {
            literal(block, namesAndValues[i], namesAndValues[i + 1]);
        }
        int end = last ? END_STREAM : 0;
        byte[] bytes = block.toByteArray();
        int most = 16_384;
        if (bytes.length <= most) {
            return frame(HEADERS, END_HEADERS | end, stream, bytes);
        }
        ByteArrayOutputStream frames = new ByteArrayOutputStream();
        for (int at = 0; at < bytes.length; at += most) {
            byte[] part = Arrays.copyOfRange(bytes, at, Math.min(bytes.length, at + most));
            boolean whole = at + most >= bytes.length;
            frames.writeBytes(frame(
                    at == 0 ? HEADERS : CONTINUATION, (whole ? END_HEADERS : 0) | (at == 0 ? end : 0), stream, part));
        }
        return frames.toByteArray();
    }

    private static void literal(ByteArrayOutputStream block, String name, String value) {
        block.write(0);
        length(block, name.length());
        block.writeBytes(name.getBytes(ISO_8859_1));
        length(block, value.length());
        block.writeBytes(value.getBytes(ISO_8859_1));
    }

    /** RFC 7541, section 5.1, with a prefix of 7 bits. */
    private static void length(ByteArrayOutputStream block, int length) {
        if (length < 127) {
            block.write(length);
            return;
        }
        block.write(127);
        int rest = length - 127;
        while (rest >= 128) {
            block.write(rest % 128 + 128);
            rest /= 128;
        }
        block.write(rest);
    }

    static byte[] frame(int type, int flags, int stream, byte... payload) {
        ByteBuffer frame = ByteBuffer.allocate(9 + payload.length);
        frame.put((byte) (payload.length >> 16)).putShort((short) payload.length);
        frame.put((byte) type).put((byte) flags).putInt(stream).put(payload);
        return frame.array();
    }

    /** A frame that the client sent. */
    static final class Frame {

        private final int type;
        private final int flags;
        private final int stream;
        private final byte[] payload;

        Frame(int type, int flags, int stream, byte[] payload) {
            this.type = type;
            this.flags = flags;
            this.stream = stream;
            this.payload = payload;
        }

        int type() {
            return type;
        }

        int flags() {
            return flags;
        }

        int stream() {
            return stream;
        }

        byte[] payload() {
            return payload;
        }

        /** Returns what the payload begins with: a code or an increment. */
        int number() {
            return ByteBuffer.wrap(payload).getInt();
        }
    }

    /** The server's side of one connection. */
    static final class Peer implements AutoCloseable {

        final Socket socket;
        private final DataInputStream in;

        Peer(Socket socket) throws IOException {
            this.socket = socket;
            socket.setTcpNoDelay(true);
            socket.setSoTimeout((int) (Patience.SECONDS * 1000));
            in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        }

        void write(byte[]... parts) throws IOException {
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            for (byte[] part : parts) {
                all.writeBytes(part);
            }
            socket.getOutputStream().write(all.toByteArray());
        }

        void write(String text) throws IOException {
            write(text.getBytes(ISO_8859_1));
        }

        byte[] read(int length) throws IOException {
            byte[] bytes = new byte[length];
            in.readFully(bytes);
            return bytes;
        }

        /** Waits for the next head of a request over HTTP/1.1. */
        String head() throws IOException {
            StringBuilder head = new StringBuilder();
            while (head.indexOf("\r\n\r\n") < 0) {
                head.append((char) in.readUnsignedByte());
            }
            return head.toString();
        }

        Frame frame() throws IOException {
            int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
            int type = in.readUnsignedByte();
            int flags = in.readUnsignedByte();
            return new Frame(type, flags, in.readInt(), read(length));
        }

        /** Waits for the next frame of a type, and skips others. */
        Frame next(int type) throws IOException {
            Frame frame = frame();
            while (frame.type != type || (type == SETTINGS && frame.flags == ACK)) {
                frame = frame();
            }
            return frame;
        }

        /** Waits until the client has closed the connection. */
        void awaitEnd() throws IOException {
            try {
                while (true) {
                    in.readByte();
                }
            } catch (EOFException | SocketException closed) {
                // as expected
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    @Override
    public void close() throws IOException {
        listening.close();
    }
}
