package dev.podcache.apiserver.http;

import static dev.podcache.apiserver.http.RawServer.ACK;
import static dev.podcache.apiserver.http.RawServer.DATA;
import static dev.podcache.apiserver.http.RawServer.END_STREAM;
import static dev.podcache.apiserver.http.RawServer.HEADERS;
import static dev.podcache.apiserver.http.RawServer.PING;
import static dev.podcache.apiserver.http.RawServer.RST_STREAM;
import static dev.podcache.apiserver.http.RawServer.SETTINGS;
import static dev.podcache.apiserver.http.RawServer.WINDOW_UPDATE;
import static dev.podcache.apiserver.http.RawServer.frame;
import static dev.podcache.apiserver.http.RawServer.goAway;
import static dev.podcache.apiserver.http.RawServer.head;
import static dev.podcache.apiserver.http.RawServer.limit;
import static dev.podcache.apiserver.http.RawServer.number;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.podcache.apiserver.http.RawServer.Peer;
import dev.podcache.testing.NettyLog;
import dev.podcache.testing.NoLeaks;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** HTTP/2, frame by frame. */
@NullUnmarked
class Http2StreamsTest extends RawWireFixture {

    private static final int REFUSED = 7;
    private static final int CANCEL = 8;
    private static final int FRAME = 16_384;
    private static final int STREAM_WINDOW = Http2Streams.STREAM_WINDOW;

    private Wire wire;
    private Peer peer;

    @BeforeEach
    void connect() throws Exception {
        wire = open(plain(true));
        peer = server.acceptHttp2(100);
        expect("opened h2 100");
    }

    @AfterEach
    void disconnect() throws IOException {
        peer.close();
    }

    @Test
    void streams_areNumberedFromOne() throws Exception {
        send(wire, "a");
        send(wire, "b");

        assertThat(peer.next(HEADERS).stream()).isEqualTo(1);
        assertThat(peer.next(HEADERS).stream()).isEqualTo(3);
    }

    @Test
    void lastNumberOfAStream_isUsedAndRetiresTheConnection() throws Exception {
        onLoop(() -> setNextStream(Integer.MAX_VALUE));

        send(wire, "last");
        expect("retired");
        send(wire, "late");
        expect("late broken ClosedChannelException: null, unprocessed");

        assertThat(peer.next(HEADERS).stream()).isEqualTo(Integer.MAX_VALUE);
        peer.write(head(Integer.MAX_VALUE, true, 200));
        expect("last 200", "last end");
    }

    private void setNextStream(int number) {
        try {
            Field protocol = NettyWire.class.getDeclaredField("protocol");
            Field next = Http2Streams.class.getDeclaredField("nextStream");
            protocol.setAccessible(true);
            next.setAccessible(true);
            next.setInt(protocol.get(wire), number);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("a field has another name", e);
        }
    }

    @Test
    void answer_headBodyAndTrailers_arriveInOrder() throws Exception {
        send(wire, "a");
        peer.next(HEADERS);

        peer.write(
                head(1, false, 429, "retry-after", "12"), frame(DATA, 0, 1, new byte[5]), head(1, true, 0, "x", "y"));

        expect("a 429 2", "a +5", "a end");
    }

    /** A15: 102 ended the request. */
    @Test
    void informational_isIgnored() throws Exception {
        send(wire, "a");
        peer.next(HEADERS);

        peer.write(head(1, false, 102), head(1, false, 103), head(1, false, 200), frame(DATA, END_STREAM, 1));

        expect("a 200", "a end");
    }

    @Test
    void informationalThatEndsTheStream_isBroken() throws Exception {
        send(wire, "a");
        peer.next(HEADERS);

        peer.write(head(1, true, 102));

        expect("a broken IOException: the server sent an answer without a status");
    }

    @Test
    void bodyBeforeHead_isBrokenAndReset() throws Exception {
        send(wire, "a");
        send(wire, "b");

        peer.write(frame(DATA, 0, 1, new byte[3]), head(3, true, 200));

        expect("a broken IOException: the server sent the body of an answer before its head", "b 200", "b end");
        assertThat(peer.next(RST_STREAM).stream()).isEqualTo(1);
    }

    @Test
    void bodyAfterAWordInAdvanceOnly_isBroken() throws Exception {
        send(wire, "a");

        peer.write(head(1, false, 102), frame(DATA, 0, 1, new byte[3]));

        expect("a broken IOException: the server sent the body of an answer before its head");
    }

    @Test
    void headWithoutStatus_isBroken() throws Exception {
        send(wire, "a");

        peer.write(head(1, false, 0, "x", NoLeaks.CANARY));

        expect("a broken IOException: the server sent an answer without a status");
    }

    @Test
    void longerBodyThanAnnounced_isBrokenAlone() throws Exception {
        send(wire, "a");
        send(wire, "b");

        peer.write(head(1, false, 200, "content-length", "2"), frame(DATA, 0, 1, new byte[3]), head(3, true, 200));

        expect("a 200", "a broken IOException: HTTP/2 PROTOCOL_ERROR", "b 200", "b end");
    }

    @Test
    void goAway_excludedStreamIsUnprocessed_theOtherIsAnswered() throws Exception {
        send(wire, "a");
        send(wire, "b");

        peer.write(goAway(1));
        expect("retired", "b broken ClosedChannelException: null, unprocessed");
        send(wire, "c");
        expect("c broken ClosedChannelException: null, unprocessed");
        peer.write(head(1, true, 200));

        expect("a 200", "a end");
    }

    @Test
    void goAwayThatCoversAStream_connectionEnds_isNotUnprocessed() throws Exception {
        send(wire, "a");
        peer.next(HEADERS);

        peer.write(goAway(1));
        peer.close();

        expect("retired", "a broken ClosedChannelException: null", "closed");
    }

    /** A server that closes an idle connection and a request may meet. */
    @Test
    void requestThatCannotBeWritten_becauseTheConnectionCloses_isUnprocessed() throws Exception {
        onLoop(() -> {
            ((NettyWire) wire).cut();
            wire.send(GET, Map.of(), new AnswerLog("a"));
        });

        expect("a broken ClosedChannelException: null, unprocessed", "closed ClosedChannelException: null");
    }

    /** H13: only GOAWAY retires a connection. */
    @Test
    void refusedStream_isUnprocessedAndRetiresNothing() throws Exception {
        send(wire, "a");
        send(wire, "b");

        peer.write(frame(RST_STREAM, 0, 1, number(REFUSED)), head(3, true, 200));

        expect("a broken ResetException: reset the stream before the answer was complete (HTTP/2 error 7),"
                + " unprocessed");
        expect("b 200", "b end");
    }

    @Test
    void resetStream_isNotUnprocessed() throws Exception {
        send(wire, "a");

        peer.write(head(1, false, 200), frame(RST_STREAM, 0, 1, number(2)));

        expect(
                "a 200",
                "a broken ResetException: reset the stream before the answer was complete" + " (HTTP/2 error 2)");
    }

    @Test
    void limit_isLoweredBelowUseToNothingAndBack() throws Exception {
        send(wire, "a");
        send(wire, "b");

        peer.write(frame(SETTINGS, 0, 0, limit(1)));
        expect("limited 1");
        send(wire, "c");
        expect(
                "c broken ResetException: reset the stream before the answer was complete (HTTP/2 error 7), unprocessed");
        peer.write(frame(SETTINGS, 0, 0, limit(0)), head(1, true, 200), head(3, true, 200));
        expect("limited 0", "a 200", "a end", "b 200", "b end");
        send(wire, "d");
        expect(
                "d broken ResetException: reset the stream before the answer was complete (HTTP/2 error 7), unprocessed");
        peer.write(frame(SETTINGS, 0, 0), frame(SETTINGS, 0, 0, limit(5000)));
        expect("limited 1000");
        send(wire, "e");

        assertThat(peer.next(HEADERS).stream()).isEqualTo(1);
        assertThat(peer.next(HEADERS).stream()).isEqualTo(3);
        assertThat(peer.next(HEADERS).stream()).isEqualTo(5);
    }

    @Test
    void ping_isAnsweredOnce_andAnAnswerToNoneIsIgnored() throws Exception {
        peer.write(frame(PING, RawServer.ACK, 0, new byte[8]), frame(PING, 0, 0, new byte[8]));
        peer.next(PING);
        onLoop(() -> wire.ping(() -> events.add("pong")));
        RawServer.Frame ping = peer.next(PING);
        expectNothing();

        peer.write(
                frame(PING, RawServer.ACK, 0, ping.payload()),
                frame(PING, RawServer.ACK, 0, ping.payload()),
                frame(PING, 0, 0, new byte[8]));

        expect("pong");
        assertThat(peer.next(PING).flags()).isEqualTo(RawServer.ACK);
        expectNothing();
    }

    @Test
    void longHead_isRead() throws Exception {
        send(wire, "a");

        peer.write(head(1, true, 200, "retry-after", "x".repeat(60_000)));

        expect("a 200 60000", "a end");
    }

    @Test
    void tooLongHead_isBroken() throws Exception {
        send(wire, "a");

        peer.write(head(1, true, 200, "retry-after", "x".repeat(70_000)));

        assertThat(next()).startsWith("a broken IOException: HTTP/2 ");
    }

    @Test
    void compressedAnswer_isInflatedInBoundedParts() throws Exception {
        send(wire, "a");
        byte[] body = gzip(8 << 20);
        peer.write(head(1, false, 200, "content-encoding", "gzip"));
        for (int at = 0; at < body.length; at += FRAME) {
            byte[] part = Arrays.copyOfRange(body, at, Math.min(body.length, at + FRAME));
            peer.write(frame(DATA, at + FRAME >= body.length ? END_STREAM : 0, 1, part));
        }

        expect("a 200");
        int sum = 0;
        String event = next();
        while (!event.equals("a end")) {
            int length = Integer.parseInt(event.substring("a +".length()));
            assertThat(length).isLessThanOrEqualTo(256 << 10);
            sum += length;
            event = next();
        }
        assertThat(sum).isEqualTo(8 << 20);
    }

    @Test
    void answerThatIsNotCompressedAsItSays_isBrokenAlone() throws Exception {
        send(wire, "a");
        send(wire, "b");

        peer.write(
                head(1, false, 200, "content-encoding", "gzip"),
                frame(DATA, END_STREAM, 1, NoLeaks.CANARY.getBytes(UTF_8)),
                head(3, true, 200));

        expect("a 200", "a broken IOException: HTTP/2 INTERNAL_ERROR", "b 200", "b end");
    }

    private static byte[] gzip(int length) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
            out.write(new byte[length]);
        }
        return bytes.toByteArray();
    }

    /** The reset in the middle of a frame must not take away what inflates the rest of it. */
    @Test
    void reset_whileAFrameIsInflated_leavesTheConnectionUsable(NoLeaks leaks) throws Exception {
        Wire.Stream[] stream = new Wire.Stream[1];
        resetOn = "a";
        stream[0] = send(wire, "a");
        toReset = stream[0];
        peer.write(head(1, false, 200, "content-encoding", "gzip"), frame(DATA, 0, 1, gzip(4 << 20)));
        expect("a 200");

        assertThat(peer.next(RST_STREAM).number()).isEqualTo(CANCEL);
        send(wire, "b");
        peer.write(head(3, true, 200));
        expect("b 200", "b end");
        assertThat(leaks.warnings()).isEmpty();
    }

    private String resetOn = "";
    private Wire.Stream toReset;

    @Override
    boolean received(String name, byte[] bytes) {
        if (name.equals(resetOn)) {
            toReset.reset();
            return true;
        }
        return super.received(name, bytes) && !name.equals("held");
    }

    @Test
    void windows_comeBackAsTheBodyIsRead() throws Exception {
        send(wire, "a");
        peer.write(head(1, false, 200));
        long sent = 0;
        long window = STREAM_WINDOW;
        while (sent < 4L * STREAM_WINDOW) {
            if (window >= FRAME) {
                peer.write(frame(DATA, 0, 1, new byte[FRAME]));
                sent += FRAME;
                window -= FRAME;
            } else {
                RawServer.Frame update = peer.next(WINDOW_UPDATE);
                window += update.stream() == 1 ? update.number() : 0;
            }
        }
        peer.write(frame(DATA, END_STREAM, 1));

        long received = 0;
        expect("a 200");
        String event = next();
        while (!event.equals("a end")) {
            received += Integer.parseInt(event.substring("a +".length()));
            event = next();
        }
        assertThat(received).isEqualTo(sent);
    }

    /** Trap: with the window of the connection, an answer that is not read would keep all others waiting. */
    @Test
    void answerThatIsNotRead_getsOneWindow_andHoldsUpNoOther() throws Exception {
        // from now on the client expects the window that it has announced
        peer.write(frame(SETTINGS, ACK, 0));
        Wire.Stream held = send(wire, "held");
        send(wire, "b");
        peer.write(head(1, false, 200));
        for (int sent = 0; sent < STREAM_WINDOW; sent += FRAME) {
            peer.write(frame(DATA, 0, 1, new byte[FRAME]));
        }
        peer.write(head(3, false, 200));
        long ofConnection = (16L << 20) - STREAM_WINDOW;
        long ofStream = STREAM_WINDOW;
        int heldUpdates = 0;
        for (int sent = 0; sent < 40 << 20; ) {
            if (Math.min(ofConnection, ofStream) >= FRAME) {
                peer.write(frame(DATA, 0, 3, new byte[FRAME]));
                sent += FRAME;
                ofConnection -= FRAME;
                ofStream -= FRAME;
            } else {
                RawServer.Frame update = peer.next(WINDOW_UPDATE);
                ofConnection += update.stream() == 0 ? update.number() : 0;
                ofStream += update.stream() == 3 ? update.number() : 0;
                heldUpdates += update.stream() == 1 ? 1 : 0;
            }
        }
        peer.write(frame(DATA, END_STREAM, 3));
        long received = 0;
        String event = next();
        while (!event.equals("b end")) {
            received += event.startsWith("held +") ? Integer.parseInt(event.substring("held +".length())) : 0;
            event = next();
        }
        assertThat(received).isEqualTo(STREAM_WINDOW);
        assertThat(heldUpdates).isZero();

        onLoop(held::goOn);

        RawServer.Frame update = peer.next(WINDOW_UPDATE);
        while (update.stream() != 1) {
            update = peer.next(WINDOW_UPDATE);
        }
        assertThat(update.number()).isEqualTo(STREAM_WINDOW);
        peer.write(frame(DATA, END_STREAM, 1));
        expect("held end");
    }

    /** What arrives after a reset counts for the window of the connection, which must come back. */
    @Test
    void resetStreams_giveTheWindowOfTheConnectionBack_andNettyLogsNothing() throws Exception {
        try (NettyLog log = new NettyLog()) {
            int rounds = (20 << 20) / STREAM_WINDOW;
            long updated = 0;
            for (int i = 0; i < rounds; i++) {
                int number = 2 * i + 1;
                Wire.Stream stream = send(wire, "a");
                peer.write(head(number, false, 200));
                expect("a 200");
                onLoop(stream::reset);
                for (int frame = 0; frame < STREAM_WINDOW / FRAME; frame++) {
                    peer.write(frame(DATA, 0, number, new byte[FRAME]));
                }
                RawServer.Frame frame = peer.frame();
                while (frame.type() != RST_STREAM) {
                    updated += frame.type() == WINDOW_UPDATE && frame.stream() == 0 ? frame.number() : 0;
                    frame = peer.frame();
                }
                assertThat(frame.stream()).isEqualTo(number);
            }
            send(wire, "b");
            int last = 2 * rounds + 1;
            peer.write(head(last, true, 200), frame(PING, 0, 0, new byte[8]));
            expect("b 200", "b end");
            List<Integer> resets = new ArrayList<>();
            RawServer.Frame frame = peer.frame();
            while (frame.type() != PING) {
                if (frame.type() == WINDOW_UPDATE && frame.stream() == 0) {
                    updated += frame.number();
                } else if (frame.type() == RST_STREAM) {
                    resets.add(frame.stream());
                }
                frame = peer.frame();
            }
            assertThat(resets).as("one reset for each stream").isEmpty();
            assertThat(updated).isGreaterThan(16 << 20);
            assertThat(log.lines()).isEmpty();
        }
    }

    /** A server that asks without reading the answers would fill the memory. */
    @Test
    void floodOfPings_closesTheConnection_andNettyLogsNothing() throws Exception {
        try (NettyLog log = new NettyLog()) {
            byte[] ping = frame(PING, 0, 0, new byte[8]);
            ByteArrayOutputStream pings = new ByteArrayOutputStream();
            for (int i = 0; i < 1000; i++) {
                pings.writeBytes(ping);
            }
            String event = null;
            while (event == null) {
                try {
                    peer.write(pings.toByteArray());
                } catch (IOException closed) {
                    event = next();
                }
                event = event == null ? events.poll() : event;
            }

            assertThat(event).isEqualTo("closed IOException: the server sends more than it reads");
            assertThat(log.lines()).isEmpty();
        }
    }

    @Test
    void frameThatBreaksTheRules_closesTheConnection_andNettyLogsNothing() throws Exception {
        try (NettyLog log = new NettyLog()) {
            send(wire, "a");

            peer.write(
                    frame(SETTINGS, 0, 1, NoLeaks.CANARY.getBytes(UTF_8)),
                    head(2, false, 200),
                    frame(DATA, 0, 2, new byte[10]));

            expect("a broken IOException: HTTP/2 PROTOCOL_ERROR", "closed IOException: HTTP/2 PROTOCOL_ERROR");
            peer.awaitEnd();
            assertThat(log.lines()).isEmpty();
        }
    }

    @Test
    void streamOfTheServer_isRefused() throws Exception {
        send(wire, "a");

        peer.write(head(2, false, 200), frame(DATA, 0, 2, new byte[10]), head(1, true, 200));

        assertThat(next()).isIn("a 200", "a broken IOException: HTTP/2 PROTOCOL_ERROR");
    }

    @Test
    void answerBeforeTheEndOfTheRequest_freesTheStream() throws Exception {
        String json = "x".repeat(200_000); // more than the window that the server gives
        send(
                wire,
                "a",
                ServerRequest.of("PATCH test", "PATCH", "/p", new ServerRequest.Body("application/json", json)),
                Map.of());
        peer.next(HEADERS);

        peer.write(head(1, true, 413));

        expect("a 413", "a end");
        assertThat(peer.next(RST_STREAM).stream()).isEqualTo(1);
    }

    @Test
    void close_openStream_breaksItAndSaysNoMore() throws Exception {
        send(wire, "a");
        peer.next(HEADERS);

        onLoop(wire::close);

        peer.awaitEnd();
        expect("a broken ClosedChannelException: null");
        expectNothing();
    }

    @Test
    void headerWithALineBreak_isRefusedWithoutAQuote() throws Exception {
        send(wire, "a", GET, Map.of("Authorization", List.of(NoLeaks.CANARY + "\n")));

        expect("a broken IllegalArgumentException: a part of the request is not legal in HTTP");
        send(wire, "b");
        assertThat(peer.next(HEADERS).stream()).isEqualTo(1);
    }

    @Test
    void readerThatThrows_endsItsRequestOnly(NoLeaks leaks) throws Exception {
        leaks.allowWarnings("the reader of an answer failed");
        onLoop(() -> wire.send(GET, Map.of(), new Wire.Response() {
            @Override
            public void head(int status, Function<String, String> headers) {
                throw new IllegalStateException("broken reader");
            }

            @Override
            public boolean chunk(byte[] bytes) {
                return true;
            }

            @Override
            public void end() {}

            @Override
            public void broken(Throwable cause, boolean unprocessed) {
                events.add("broken " + unprocessed);
            }
        }));
        send(wire, "b");
        peer.write(head(1, false, 200), head(3, true, 200));

        expect("broken false", "b 200", "b end");
        assertThat(peer.next(RST_STREAM).stream()).isEqualTo(1);
    }
}
