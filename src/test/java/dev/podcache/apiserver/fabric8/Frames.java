package dev.podcache.apiserver.fabric8;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;

/** HTTP/2 frames of a server, in the order in which they are added. */
final class Frames {

    static final int NO_ERROR = 0;
    static final int REFUSED_STREAM = 7;
    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int RST_STREAM = 3;
    private static final int SETTINGS = 4;
    private static final int GOAWAY = 7;
    private static final int MAX_CONCURRENT_STREAMS = 3;
    private static final int INITIAL_WINDOW_SIZE = 4;
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;

    /** {@code :status: 200} of the static table of HPACK (RFC 7541). */
    private static final byte STATUS_200 = (byte) 0x88;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    /** SETTINGS with MAX_CONCURRENT_STREAMS only. */
    Frames settingsWithLimit(int streams) {
        return setting(MAX_CONCURRENT_STREAMS, streams);
    }

    /** SETTINGS with INITIAL_WINDOW_SIZE only. */
    Frames settingsWithWindow(int window) {
        return setting(INITIAL_WINDOW_SIZE, window);
    }

    /** A whole answer with status 200. */
    Frames answer(int stream, String body) {
        return headers(stream).frame(DATA, END_STREAM, stream, body.getBytes(UTF_8));
    }

    /** The beginning of an answer with status 200. */
    Frames headers(int stream) {
        return frame(HEADERS, END_HEADERS, stream, STATUS_200);
    }

    /** A part of the body of an answer. */
    Frames data(int stream, String body) {
        return frame(DATA, 0, stream, body.getBytes(UTF_8));
    }

    /** GOAWAY without an error. */
    Frames goAway(int lastStream) {
        return frame(
                GOAWAY,
                0,
                0,
                ByteBuffer.allocate(2 * Integer.BYTES)
                        .putInt(lastStream)
                        .putInt(NO_ERROR)
                        .array());
    }

    /** RST_STREAM. */
    Frames reset(int stream, int code) {
        return frame(
                RST_STREAM,
                0,
                stream,
                ByteBuffer.allocate(Integer.BYTES).putInt(code).array());
    }

    /** Any frame. */
    Frames frame(int type, int flags, int stream, byte... payload) {
        ByteBuffer head = ByteBuffer.allocate(9);
        head.put((byte) (payload.length >> 16)).putShort((short) payload.length);
        head.put((byte) type).put((byte) flags).putInt(stream);
        bytes.writeBytes(head.array());
        bytes.writeBytes(payload);
        return this;
    }

    byte[] bytes() {
        return bytes.toByteArray();
    }

    private Frames setting(int id, int value) {
        return frame(
                SETTINGS,
                0,
                0,
                ByteBuffer.allocate(Short.BYTES + Integer.BYTES)
                        .putShort((short) id)
                        .putInt(value)
                        .array());
    }
}
