package dev.podcache.apiserver.http;

import static dev.podcache.apiserver.http.RawServer.ACK;
import static dev.podcache.apiserver.http.RawServer.CONTINUATION;
import static dev.podcache.apiserver.http.RawServer.DATA;
import static dev.podcache.apiserver.http.RawServer.END_HEADERS;
import static dev.podcache.apiserver.http.RawServer.END_STREAM;
import static dev.podcache.apiserver.http.RawServer.GOAWAY;
import static dev.podcache.apiserver.http.RawServer.HEADERS;
import static dev.podcache.apiserver.http.RawServer.PING;
import static dev.podcache.apiserver.http.RawServer.RST_STREAM;
import static dev.podcache.apiserver.http.RawServer.SETTINGS;
import static dev.podcache.apiserver.http.RawServer.WINDOW_UPDATE;
import static dev.podcache.apiserver.http.RawServer.frame;
import static dev.podcache.apiserver.http.RawServer.head;
import static dev.podcache.apiserver.http.RawServer.number;
import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.http.RawServer.Peer;
import dev.podcache.testing.NettyLog;
import dev.podcache.testing.NoLeaks;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Servers that answer a request with frames that no server sends, and what becomes of it and of other connections. */
@NullUnmarked
class HostileHttp2ServersTest extends RawWireFixture {

    private static final int PRIORITY = 2;
    private static final int PUSH_PROMISE = 5;
    private static final int UNKNOWN = 77;
    private static final int PADDED = 8;
    private static final int WITH_PRIORITY = 32;
    private static final byte[] CANARY = NoLeaks.CANARY.getBytes(ISO_8859_1);
    private static final byte[] OK = head(1, false, 200);

    /** Each type of frame on each kind of stream, in lengths of which most are wrong for it. */
    static Stream<Arguments> frames() {
        List<Arguments> all = new ArrayList<>();
        for (int type : new int[] {
            DATA,
            HEADERS,
            PRIORITY,
            RST_STREAM,
            SETTINGS,
            PUSH_PROMISE,
            PING,
            GOAWAY,
            WINDOW_UPDATE,
            CONTINUATION,
            UNKNOWN
        }) {
            for (int stream : new int[] {0, 1, 2, 3, Integer.MAX_VALUE}) {
                for (int length : new int[] {0, 1, 7, CANARY.length}) {
                    for (boolean begun : new boolean[] {false, true}) {
                        byte[] odd = frame(type, 0xff, stream, Arrays.copyOf(CANARY, length));
                        all.add(Arguments.of(
                                "type " + type + ", stream " + stream + ", " + length + " bytes, " + begun,
                                begun ? joined(OK, odd) : odd));
                    }
                }
            }
        }
        return all.stream();
    }

    static Stream<Arguments> answers() {
        byte[] most = new byte[16_384];
        return Stream.of(
                // settings
                of("push allowed", setting(2, 1)),
                of("push of two", setting(2, 2)),
                of("window beyond 31 bits", setting(4, -1)),
                of("window of nothing", setting(4, 0), OK, frame(DATA, END_STREAM, 1, CANARY)),
                of("frames of nothing", setting(5, 0)),
                of("frames beyond 24 bits", setting(5, 1 << 24)),
                of("table of 4 GiB", setting(1, -1), OK),
                of("heads of nothing", setting(6, 0), OK),
                of("streams: none", setting(3, 0), OK),
                of("streams: 4 billion", setting(3, -1), OK),
                of("unknown setting", setting(0xffff, -1), OK),
                of("settings acknowledged unasked", times(20, frame(SETTINGS, ACK, 0))),
                of("settings acknowledged with content", frame(SETTINGS, ACK, 0, CANARY)),
                of("10,000 settings", times(10_000, setting(4, 65_535))),
                // heads
                of("no status", head(1, true, 0, "x", NoLeaks.CANARY)),
                of("status of letters", head(1, true, 0, ":status", "abc")),
                of("status of five digits", head(1, true, 20_000)),
                of("negative status", head(1, true, 0, ":status", "-200")),
                of("empty status", head(1, true, 0, ":status", "")),
                of("two states", head(1, true, 200, ":status", "500")),
                of("status after a header", head(1, true, 0, "x", NoLeaks.CANARY, ":status", "200")),
                of("pseudo-header of a request", head(1, true, 200, ":path", NoLeaks.CANARY)),
                of("unknown pseudo-header", head(1, true, 200, ":x", NoLeaks.CANARY)),
                of("name in capitals", head(1, true, 200, "X-Large", NoLeaks.CANARY)),
                of("name with a line break", head(1, true, 200, "x\r\ny", NoLeaks.CANARY)),
                of("empty name", head(1, true, 200, "", NoLeaks.CANARY)),
                of("value with a line break", head(1, true, 200, "x", NoLeaks.CANARY + "\r\ny: z")),
                of("value with a null", head(1, true, 200, "x", NoLeaks.CANARY + "\0")),
                of("connection", head(1, true, 200, "connection", "close")),
                of("transfer-encoding", head(1, true, 200, "transfer-encoding", "chunked")),
                of("te", head(1, true, 200, "te", "gzip")),
                of("length of letters", head(1, false, 200, "content-length", NoLeaks.CANARY)),
                of("negative length", head(1, false, 200, "content-length", "-1")),
                of("two lengths", head(1, false, 200, "content-length", "1", "content-length", "2")),
                of("length beyond 64 bits", head(1, false, 200, "content-length", "9".repeat(30))),
                of("less than its length", head(1, false, 200, "content-length", "9999"), data(END_STREAM)),
                of("more than its length", head(1, false, 200, "content-length", "1"), data(END_STREAM)),
                of("length without a body", head(1, true, 200, "content-length", "5")),
                of("unknown encoding", head(1, false, 200, "content-encoding", NoLeaks.CANARY), data(END_STREAM)),
                of("not what it is encoded as", head(1, false, 200, "content-encoding", "gzip"), data(END_STREAM)),
                of(
                        "not what it is encoded as, and more",
                        head(1, false, 200, "content-encoding", "gzip"),
                        data(0),
                        data(0)),
                of(
                        "not what it is encoded as, and reset",
                        head(1, false, 200, "content-encoding", "gzip"),
                        data(0),
                        reset(8)),
                of("encoded, reset at its begin", gzipped(1), reset(8)),
                of("encoded, reset in its head", gzipped(9), reset(8)),
                of("encoded, cut", gzipped(15)),
                of("encoded, cut in its head", gzipped(5)),
                of("encoded twice", head(1, false, 200, "content-encoding", "gzip, gzip"), data(END_STREAM)),
                of("a megabyte of head", head(1, true, 200, "x", NoLeaks.CANARY + "x".repeat(1 << 20))),
                of("10,000 headers", head(1, true, 200, headers(10_000))),
                of("101", head(1, false, 101), data(END_STREAM)),
                of("100 for ever", times(10_000, head(1, false, 100)), OK),
                of("100 that ends", head(1, true, 100)),
                of("two heads", OK, OK, data(END_STREAM)),
                of("trailers that do not end", OK, head(1, false, 0, "x", NoLeaks.CANARY), data(END_STREAM)),
                of("trailers with a status", OK, head(1, true, 200)),
                of("a head after the end", head(1, true, 200), head(1, true, 500, "x", NoLeaks.CANARY)),
                // what a head is compressed with
                of("index of nothing", block(0x80)),
                of("index beyond the table", block(0xff, 0x7f)),
                of("index that never ends", block(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)),
                of("table larger than allowed", block(0x3f, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x88)),
                of("table changed in the midst", block(0x88, 0x20)),
                of("name that is cut", block(0x88, 0x00, 0x05, 'a')),
                of("value that is cut", block(0x88, 0x00, 0x01, 'a', 0x7f)),
                of("name of 2 GiB", block(0x88, 0x00, 0x7f, 0x80, 0xff, 0xff, 0xff, 0x07, 'a')),
                of("wrong Huffman code", block(0x88, 0x00, 0x84, 0xff, 0xff, 0xff, 0xff, 0x01, 'a')),
                of("empty block", block()),
                // parts of heads
                of("head that does not end", frame(HEADERS, 0, 1, (byte) 0x88)),
                of("head that something interrupts", frame(HEADERS, 0, 1, (byte) 0x88), frame(PING, 0, 0, new byte[8])),
                of("head that another interrupts", frame(HEADERS, 0, 1, (byte) 0x88), head(3, true, 200)),
                of("end of another head", frame(HEADERS, 0, 1, (byte) 0x88), frame(CONTINUATION, END_HEADERS, 3)),
                of("10,000 empty parts", frame(HEADERS, 0, 1), times(10_000, frame(CONTINUATION, 0, 1))),
                of("10 MB of parts", frame(HEADERS, 0, 1), times(640, frame(CONTINUATION, 0, 1, most))),
                of("part without a head", OK, frame(CONTINUATION, END_HEADERS, 1, CANARY)),
                of("more padding than head", frame(HEADERS, END_HEADERS | PADDED, 1, (byte) 200, (byte) 0x88)),
                of("depends on itself", frame(HEADERS, END_HEADERS | WITH_PRIORITY, 1, bytes(0, 0, 0, 1, 0, 0x88))),
                // bodies
                of("more padding than body", OK, frame(DATA, PADDED, 1, (byte) 200, (byte) 1)),
                of("padding only", OK, times(2_000, frame(DATA, PADDED, 1, (byte) 3, (byte) 0, (byte) 0, (byte) 0))),
                of("10,000 empty parts of a body", OK, times(10_000, frame(DATA, 0, 1))),
                of("body that never ends", OK, data(0)),
                of("body beyond the window", OK, times(4_000, frame(DATA, 0, 1, most))),
                of("body after the end", head(1, true, 200), data(0)),
                of("body of a stream that never was", OK, frame(DATA, 0, 5, CANARY)),
                of("frame longer than allowed", OK, frame(DATA, 0, 1, new byte[20_000])),
                of("frame longer than it says", OK, frame(DATA, 0, 1, CANARY), CANARY),
                of("frame that is cut", OK, Arrays.copyOf(frame(DATA, 0, 1, most), 5_000)),
                of("head of a frame that is cut", OK, Arrays.copyOf(frame(DATA, 0, 1), 5)),
                // the connection
                of("reset with an unknown code", reset(-1)),
                of("reset after the end", head(1, true, 200), times(1_000, reset(8))),
                of("window of 0", frame(WINDOW_UPDATE, 0, 0, number(0))),
                of("window of 0 of the stream", frame(WINDOW_UPDATE, 0, 1, number(0)), OK),
                of("window that overflows", times(3, frame(WINDOW_UPDATE, 0, 0, number(Integer.MAX_VALUE)))),
                of("window of the stream overflows", times(3, frame(WINDOW_UPDATE, 0, 1, number(Integer.MAX_VALUE)))),
                of("10,000 pings", times(10_000, frame(PING, 0, 0, new byte[8]))),
                of("answers to no ping", times(10_000, frame(PING, ACK, 0, new byte[8])), OK),
                of("10,000 priorities", times(10_000, frame(PRIORITY, 0, 1, bytes(0, 0, 0, 3, 9))), OK),
                of("GOAWAY of more than was asked", goAway(99, 0), OK),
                of("GOAWAY of a stream of the server", goAway(2, 0)),
                of("GOAWAY that grows", goAway(0, 0), goAway(1, 0)),
                of("GOAWAY in anger", goAway(0, 11), OK),
                of("GOAWAY with a megabyte", largeGoAway()),
                of("1,000 GOAWAYs", times(1_000, goAway(1, 0))),
                of("promise", frame(PUSH_PROMISE, END_HEADERS, 1, bytes(0, 0, 0, 2, 0x88))),
                of("promise of nothing", frame(PUSH_PROMISE, END_HEADERS, 0, bytes(0, 0, 0, 2, 0x88))),
                of("stream of the server", head(2, true, 200), OK),
                of("stream that was not asked for", head(7, true, 200), OK),
                of("10,000 unknown frames", times(10_000, frame(UNKNOWN, 0xff, 9, CANARY)), OK),
                of("HTTP/1.1", ("HTTP/1.1 200 OK\r\nX: " + NoLeaks.CANARY + "\r\n\r\n").getBytes(ISO_8859_1)),
                of("preface of a client", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(ISO_8859_1)),
                of("nothing"));
    }

    private static Arguments of(String name, byte[]... parts) {
        return Arguments.of(name, joined(parts));
    }

    private static byte[] joined(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    private static byte[] times(int times, byte[] part) {
        byte[] all = new byte[times * part.length];
        for (int i = 0; i < times; i++) {
            System.arraycopy(part, 0, all, i * part.length, part.length);
        }
        return all;
    }

    private static byte[] bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return bytes;
    }

    private static byte[] block(int... values) {
        return frame(HEADERS, END_HEADERS | END_STREAM, 1, bytes(values));
    }

    private static byte[] data(int flags) {
        return frame(DATA, flags, 1, CANARY);
    }

    private static byte[] reset(int code) {
        return frame(RST_STREAM, 0, 1, number(code));
    }

    /** Returns an answer whose body begins as if it were compressed: with the head of a gzip file, and no block of it. */
    private static byte[] gzipped(int length) {
        byte[] begin = Arrays.copyOf(bytes(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 7, 7), length);
        return joined(head(1, false, 200, "content-encoding", "gzip"), frame(DATA, 0, 1, begin));
    }

    private static byte[] setting(int name, int value) {
        return frame(SETTINGS, 0, 0, joined(bytes(name >> 8, name), number(value)));
    }

    private static byte[] goAway(int last, int code) {
        return frame(GOAWAY, 0, 0, joined(number(last), number(code), CANARY));
    }

    private static byte[] largeGoAway() {
        return frame(GOAWAY, 0, 0, joined(number(1), number(0), times(1 << 14, CANARY)));
    }

    private static String[] headers(int count) {
        String[] headers = new String[2 * count];
        for (int i = 0; i < count; i++) {
            headers[2 * i] = "x" + i;
            headers[2 * i + 1] = NoLeaks.CANARY;
        }
        return headers;
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource({"frames", "answers"})
    void answer_endsItsRequestOnce_nothingIsQuoted_othersAreServed(String name, byte[] answer) throws Exception {
        try (NettyLog log = new NettyLog()) {
            Wire other = open(plain(true));
            Peer honest = server.acceptHttp2(100);
            expect("opened h2 100");
            Wire wire = open(plain(true));
            Peer peer = server.acceptHttp2(100);
            expect("opened h2 100");
            send(wire, "a");
            peer.next(HEADERS);
            try {
                peer.write(answer);
                peer.socket.shutdownOutput();
            } catch (IOException closed) {
                // the client has seen enough
            }

            List<String> seen = new ArrayList<>();
            while (seen.isEmpty() || !seen.get(seen.size() - 1).startsWith("closed")) {
                seen.add(next());
            }
            assertThat(seen)
                    .filteredOn(event -> event.equals("a end") || event.startsWith("a broken"))
                    .hasSize(1);
            peer.close();

            send(other, "b");
            honest.write(head(honest.next(HEADERS).stream(), true, 200));
            expect("b 200", "b end");
            expectNothing();
            honest.close();
            expect("closed");
            assertThat(log.lines()).isEmpty();
        }
    }
}
