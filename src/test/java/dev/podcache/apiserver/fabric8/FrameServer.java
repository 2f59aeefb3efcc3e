package dev.podcache.apiserver.fabric8;

import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocket;

/**
 * An HTTP/2 server on 127.0.0.1 that is written frame by frame, so that a test decides which frames arrive together. It
 * answers pings and acknowledges SETTINGS by itself.
 */
final class FrameServer extends SocketServer {

    static final int HEADERS = 1;
    private static final int RST_STREAM = 3;
    private static final int SETTINGS = 4;
    private static final int PING = 6;
    private static final int ACK = 1;
    private static final int PREFACE_LENGTH = 24;

    /** The connections, in order of arrival. */
    final List<FrameConnection> connections = new CopyOnWriteArrayList<>();

    /** The paths of the requests, in order of arrival. */
    final List<String> paths = new CopyOnWriteArrayList<>();

    private final FrameScript script;

    /** What the server says. Called by the thread that reads the connection. */
    interface FrameScript {

        /** What it says first. */
        Frames greeting(FrameConnection connection);

        /** What it says to a request, or to the end of one. */
        Frames answer(FrameConnection connection, int stream, String path);

        /** A stream was reset by the client. */
        default void reset(FrameConnection connection, int stream) {}
    }

    FrameServer(FrameScript script) {
        super(listen());
        this.script = script;
        start();
    }

    private static SSLServerSocket listen() {
        try {
            SSLServerSocket listening = (SSLServerSocket) WireCertificates.serverTls()
                    .getServerSocketFactory()
                    .createServerSocket(0, 50, InetAddress.getLoopbackAddress());
            SSLParameters parameters = listening.getSSLParameters();
            parameters.setApplicationProtocols(new String[] {"h2"});
            listening.setSSLParameters(parameters);
            return listening;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    String url() {
        return "https://127.0.0.1:" + port();
    }

    @Override
    ConnectionReader accepted(Socket socket) {
        FrameConnection connection = new FrameConnection(socket, connections.size());
        connections.add(connection);
        return connection::read;
    }

    /** One connection. */
    final class FrameConnection {

        /** Its place in the order of arrival, from 0. */
        final int number;

        private final Socket socket;
        private final DefaultHttp2HeadersDecoder headers = new DefaultHttp2HeadersDecoder();

        FrameConnection(Socket socket, int number) {
            this.socket = socket;
            this.number = number;
        }

        /** Sends frames in one TLS record, as far as they fit. */
        synchronized void send(Frames frames) {
            try {
                OutputStream out = socket.getOutputStream();
                out.write(frames.bytes());
                out.flush();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private void read() throws IOException {
            DataInputStream in = new DataInputStream(socket.getInputStream());
            in.readFully(new byte[PREFACE_LENGTH]);
            try {
                send(script.greeting(this));
                while (true) {
                    frame(in);
                }
            } catch (UncheckedIOException closed) {
                throw closed.getCause();
            }
        }

        private void frame(DataInputStream in) throws IOException {
            int length = in.readUnsignedByte() << 16 | in.readUnsignedShort();
            int type = in.readUnsignedByte();
            int flags = in.readUnsignedByte();
            int stream = in.readInt();
            byte[] payload = new byte[length];
            in.readFully(payload);
            if (type == HEADERS) {
                String path = path(stream, flags, payload);
                paths.add(path);
                send(script.answer(this, stream, path));
            } else if (type == SETTINGS && flags != ACK) {
                send(new Frames().frame(SETTINGS, ACK, 0));
            } else if (type == PING && flags != ACK) {
                send(new Frames().frame(PING, ACK, 0, payload));
            } else if (type == RST_STREAM) {
                script.reset(this, stream);
            }
        }

        private String path(int stream, int flags, byte[] payload) throws IOException {
            boolean hasPriority = (flags & 0x20) != 0;
            int from = hasPriority ? 5 : 0;
            try {
                Http2Headers decoded =
                        headers.decodeHeaders(stream, Unpooled.wrappedBuffer(payload, from, payload.length - from));
                return decoded.path().toString();
            } catch (Http2Exception e) {
                throw new IOException(e);
            }
        }
    }
}
