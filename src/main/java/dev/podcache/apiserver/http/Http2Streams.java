package dev.podcache.apiserver.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http2.AbstractHttp2ConnectionHandlerBuilder;
import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2LocalFlowController;
import io.netty.handler.codec.http2.DefaultHttp2RemoteFlowController;
import io.netty.handler.codec.http2.DelegatingDecompressorFrameListener;
import io.netty.handler.codec.http2.Http2Connection;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2EventAdapter;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameListener;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.handler.codec.http2.UniformStreamByteDistributor;
import io.netty.util.AsciiString;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The streams of one HTTP/2 connection. An idle watch is kept as Netty's stream and one {@link Http2Call}, which together
 * take about 500 bytes. Confined to the event loop of the connection.
 */
final class Http2Streams extends Http2ConnectionHandler implements NettyWire.Protocol {

    /*
     * opened  retired  over   what
     * false   false    false  the server has not sent its SETTINGS, or allows no stream yet
     * true    false    false  requests are sent
     * true    true     false  GOAWAY, or no number is left for a stream: streams end, none begins
     * any     any      true   failed or closing: what still arrives is skipped
     *
     * A call ends at the end of its answer, with RST_STREAM, or when Netty closes the stream, which it does after a
     * GOAWAY that excludes it and at the end of the connection. The end of the connection is reported after that.
     */

    /** The highest stream limit that is used: all streams are lost with their connection. */
    private static final int MOST_STREAMS = 1000;

    /**
     * How much a server may send of one answer that is not read. The window of the connection comes back at once, so that such
     * an answer does not block others.
     */
    static final int STREAM_WINDOW = 128 << 10;

    /** The window of an answer that may be very large. There are few. */
    private static final int LARGE_WINDOW = 1 << 20;

    private static final int CONNECTION_WINDOW = 16 << 20;
    private static final int WINDOW_AT_FIRST = 65_535; // RFC 9113, section 6.9.2

    private static final int LONGEST_HEADERS = 64 << 10;

    /** The number of answers to PING and SETTINGS that may wait for a server that does not read. */
    private static final int MOST_UNSENT = 10_000;

    private final NettyWire wire;
    private final Http2Connection.PropertyKey ofCall;
    private final Queue<Runnable> pings = new ArrayDeque<>(2); // what waits for an answer
    private final List<Http2Stream> toReset = new ArrayList<>(2); // when the frame that is read has been processed
    private @Nullable ChannelHandlerContext context;
    private @Nullable Throwable failure;
    private int nextStream = 1;
    private int lastStream = Integer.MAX_VALUE; // the last stream that the server processes after a GOAWAY
    private int unsent;
    private boolean opened;
    private boolean retired;
    private boolean over;
    private boolean reading;
    private boolean flushing;

    private Http2Streams(
            NettyWire wire, Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings settings) {
        super(decoder, encoder, settings, false, false);
        this.wire = wire;
        ofCall = connection().newKey();
        FrameEvents events = new FrameEvents();
        connection().addListener(events);
        connection().remote().maxActiveStreams(0);
        decoder.frameListener(wire.compression() ? new DataInflater(connection(), events) : events);
    }

    /** Adds the streams of a connection to its pipeline, which sends the preface. */
    static Http2Streams added(ChannelPipeline pipeline, NettyWire wire) {
        Http2Streams streams = new Builder(wire).build();
        pipeline.addLast(streams);
        return streams;
    }

    /** Builds the streams through the class of Netty that alone sets the limits of its frame reader. */
    private static final class Builder extends AbstractHttp2ConnectionHandlerBuilder<Http2Streams, Builder> {

        private final NettyWire wire;

        Builder(NettyWire wire) {
            this.wire = wire;
            DefaultHttp2Connection connection = new DefaultHttp2Connection(false);
            connection
                    .remote()
                    .flowController(new DefaultHttp2RemoteFlowController(
                            connection, new UniformStreamByteDistributor(connection)));
            connection
                    .local()
                    .flowController(new DefaultHttp2LocalFlowController(
                            connection, DefaultHttp2LocalFlowController.DEFAULT_WINDOW_UPDATE_RATIO, true));
            connection(connection);
            initialSettings(new Http2Settings()
                    .pushEnabled(false)
                    .initialWindowSize(STREAM_WINDOW)
                    .maxHeaderListSize(LONGEST_HEADERS));
            // Netty would log it at INFO
            encoderEnforceMaxQueuedControlFrames(0);
            gracefulShutdownTimeoutMillis(0);
        }

        @Override
        protected Http2Streams build() {
            return super.build();
        }

        @Override
        protected Http2Streams build(
                Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings settings) {
            return new Http2Streams(wire, decoder, encoder, settings);
        }
    }

    /** Inflates the answers that are compressed as we asked. */
    private static final class DataInflater extends DelegatingDecompressorFrameListener {

        DataInflater(Http2Connection connection, Http2FrameListener listener) {
            // without a limit to one buffer, it is passed on whenever it is full
            super(connection, listener, false, 0);
        }

        @Override
        protected @Nullable EmbeddedChannel newContentDecompressor(ChannelHandlerContext context, CharSequence encoding)
                throws Http2Exception {
            EmbeddedChannel inflater = HttpHeaderValues.GZIP.contentEqualsIgnoreCase(encoding)
                    ? super.newContentDecompressor(context, encoding)
                    : null;
            if (inflater != null) {
                inflater.pipeline().addLast(new FirstFailure());
            }
            return inflater;
        }
    }

    /**
     * Passes on the first failure only. When a stream ends, Netty closes its decoder, which then fails once more. Netty would
     * log that as an error.
     */
    private static final class FirstFailure extends ChannelInboundHandlerAdapter {

        private boolean failed;

        @Override
        public void exceptionCaught(ChannelHandlerContext inflater, Throwable cause) {
            if (!failed) {
                failed = true;
                inflater.fireExceptionCaught(cause);
            }
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) throws Exception {
        context = added;
        super.handlerAdded(added);
        connection()
                .local()
                .flowController()
                .incrementWindowSize(connection().connectionStream(), CONNECTION_WINDOW - WINDOW_AT_FIRST);
        added.flush();
    }

    @Override
    public Wire.Stream send(ServerRequest request, Map<String, List<String>> headers, Wire.Response response) {
        Http2Call call = new Http2Call(response);
        ChannelHandlerContext open = context;
        if (open == null || over || retired) {
            call.broken(new ClosedChannelException(), true);
            return call;
        }
        if (!connection().local().canOpenStream()) {
            // the server has just lowered its limit, and would refuse it; the connection goes on
            call.broken(new Wire.ResetException(Http2Error.REFUSED_STREAM.code()), true);
            return call;
        }
        try {
            Http2Headers head = head(request, headers);
            int number = nextStream;
            Http2Stream stream = connection().local().createStream(number, false);
            nextStream += 2;
            stream.setProperty(ofCall, call);
            call.stream = stream;
            write(open, number, head, request.body()).addListener(written -> {
                if (!written.isSuccess()) {
                    // the server closes the connection: it has not got the whole head
                    call.broken(NettyWire.translated(written.cause()), true);
                }
            });
            if (response.isLarge() && stream.state() != Http2Stream.State.CLOSED) {
                connection().local().flowController().incrementWindowSize(stream, LARGE_WINDOW - STREAM_WINDOW);
            }
        } catch (IllegalArgumentException e) {
            call.broken(NettyWire.refused(), false);
        } catch (Http2Exception e) {
            call.broken(broken(e), true);
        }
        if (nextStream < 0) {
            // no number is left
            retire();
        }
        return call;
    }

    private Http2Headers head(ServerRequest request, Map<String, List<String>> headers) {
        Http2Headers head = new DefaultHttp2Headers(false)
                .method(request.method())
                .scheme(wire.scheme())
                .authority(wire.authority())
                .path(wire.uri(request));
        wire.headers(request, headers, (name, value) -> head.add(lower(name), new AsciiString(value)));
        return head;
    }

    private static AsciiString lower(String name) {
        return new AsciiString(name).toLowerCase();
    }

    /** Returns when the head is written. */
    private ChannelFuture write(
            ChannelHandlerContext open, int number, Http2Headers head, ServerRequest.@Nullable Body body) {
        ChannelPromise written = open.newPromise();
        if (body == null) {
            encoder().writeHeaders(open, number, head, 0, true, written);
        } else {
            byte[] json = body.json().getBytes(UTF_8);
            head.addInt("content-length", json.length);
            encoder().writeHeaders(open, number, head, 0, false, written);
            encoder().writeData(open, number, Unpooled.wrappedBuffer(json), 0, true, open.newPromise());
        }
        flushSoon(open);
        return written;
    }

    @Override
    public void ping(Runnable answered) {
        ChannelHandlerContext open = context;
        if (open != null && !over) {
            pings.add(answered);
            encoder().writePing(open, false, 0, open.newPromise());
            flushSoon(open);
        }
    }

    /** Flushes once for all that is sent by the tasks that are waiting. */
    private void flushSoon(ChannelHandlerContext open) {
        if (!flushing) {
            flushing = true;
            open.executor().execute(() -> {
                flushing = false;
                flush(open);
            });
        }
    }

    private void retire() {
        if (!retired) {
            retired = true;
            wire.retired();
        }
    }

    private @Nullable Http2Call call(@Nullable Http2Stream stream) {
        return stream == null ? null : stream.getProperty(ofCall);
    }

    @Override
    protected void decode(ChannelHandlerContext from, ByteBuf in, List<Object> out) throws Exception {
        if (over) {
            in.skipBytes(in.readableBytes());
            return;
        }
        reading = true;
        try {
            super.decode(from, in, out);
        } finally {
            reading = false;
            toReset.forEach(this::resetNow);
            toReset.clear();
        }
    }

    /** Resets a stream, after the frame that is being read, because Netty still inflates it. */
    private void reset(Http2Stream stream) {
        if (reading) {
            toReset.add(stream);
        } else {
            resetNow(stream);
        }
    }

    private void resetNow(Http2Stream stream) {
        ChannelHandlerContext open = context;
        if (open != null && stream.state() != Http2Stream.State.CLOSED) {
            resetStream(open, stream.id(), Http2Error.CANCEL.code(), open.newPromise());
            // not when the frame is written: until then Netty would log at INFO what still arrives
            stream.close();
            flushSoon(open);
        }
    }

    @Override
    protected void onStreamError(
            ChannelHandlerContext from, boolean outbound, Throwable cause, Http2Exception.StreamException error) {
        Http2Stream stream = connection().stream(error.streamId());
        Http2Call call = call(stream);
        if (call != null) {
            call.broken(broken(error), false);
        }
        if (stream != null) {
            reset(stream);
        }
        // otherwise a frame that was under way when the stream was closed
    }

    @Override
    protected void onConnectionError(
            ChannelHandlerContext from, boolean outbound, Throwable cause, @Nullable Http2Exception error) {
        if (!over) {
            over = true;
            failure = error == null ? NettyWire.translated(cause) : broken(error);
            Http2Error code = error == null ? Http2Error.INTERNAL_ERROR : error.error();
            // goes to the server, so it quotes nothing
            Http2Exception told = new Http2Exception(code, "the connection cannot be used any more");
            super.onConnectionError(from, outbound, told, told);
            wire.shut();
        }
    }

    private static IOException broken(Http2Exception error) {
        return new IOException("HTTP/2 " + error.error());
    }

    private void fail(Throwable cause) {
        if (!over) {
            over = true;
            failure = cause;
            wire.shut();
        }
    }

    /** Other exceptions than those of HTTP/2 end the connection. */
    @Override
    public void exceptionCaught(ChannelHandlerContext from, Throwable cause) {
        fail(NettyWire.translated(cause));
    }

    @Override
    protected boolean isGracefulShutdownComplete() {
        return true;
    }

    @Override
    public void channelInactive(ChannelHandlerContext from) throws Exception {
        over = true;
        try {
            super.channelInactive(from);
        } finally {
            wire.ended(failure);
        }
    }

    /** What Netty reports of the connection and its streams. */
    private final class FrameEvents extends Http2EventAdapter {

        @Override
        public void onSettingsRead(ChannelHandlerContext from, Http2Settings settings) {
            Long allowed = settings.maxConcurrentStreams();
            int limit = (int) Math.min(MOST_STREAMS, allowed == null ? MOST_STREAMS : allowed);
            if (opened) {
                if (allowed != null) {
                    wire.limited(limit);
                }
            } else if (limit > 0) {
                opened = true;
                wire.opened(true, limit);
            }
            answered(from);
        }

        @Override
        public void onPingRead(ChannelHandlerContext from, long data) {
            answered(from);
        }

        /** Netty has written an answer, which waits if the server does not read. */
        private void answered(ChannelHandlerContext from) {
            unsent = from.channel().isWritable() ? 0 : unsent + 1;
            if (unsent > MOST_UNSENT) {
                fail(new IOException("the server sends more than it reads"));
            }
        }

        @Override
        public void onPingAckRead(ChannelHandlerContext from, long data) {
            Runnable answered = pings.poll();
            if (answered != null) {
                answered.run();
            }
        }

        @Override
        public void onGoAwayRead(ChannelHandlerContext from, int last, long code, ByteBuf text) {
            lastStream = last;
            if (opened) {
                retire();
            } else {
                fail(new ClosedChannelException());
            }
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext from,
                int number,
                Http2Headers headers,
                int dependency,
                short weight,
                boolean exclusive,
                int padding,
                boolean last) {
            onHeadersRead(from, number, headers, padding, last);
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext from, int number, Http2Headers headers, int padding, boolean last) {
            Http2Stream stream = connection().stream(number);
            Http2Call call = call(stream);
            if (stream == null || call == null) {
                return;
            }
            if (stream.isTrailersReceived()) {
                call.complete();
                return;
            }
            int status = status(headers.status());
            if (status / 100 == 1 && !last) {
                return; // a word in advance
            }
            if (status < 200 || !stream.isHeadersReceived()) {
                call.invalid("an answer without a status");
                return;
            }
            call.head(status, name -> {
                CharSequence value = headers.get(lower(name));
                return value == null ? null : value.toString();
            });
            if (last) {
                call.complete();
            }
        }

        private int status(@Nullable CharSequence text) {
            if (text == null || text.length() != 3) {
                return 0;
            }
            return text.chars().allMatch(each -> each >= '0' && each <= '9') ? Integer.parseInt(text.toString()) : 0;
        }

        @Override
        public int onDataRead(ChannelHandlerContext from, int number, ByteBuf data, int padding, boolean last) {
            int size = data.readableBytes() + padding;
            Http2Stream stream = connection().stream(number);
            Http2Call call = call(stream);
            if (stream == null || call == null) {
                return size;
            }
            if (!stream.isHeadersReceived()) {
                call.invalid("the body of an answer before its head");
            } else {
                boolean more = call.chunk(data);
                if (last) {
                    call.complete();
                } else if (more) {
                    call.goOn();
                } else {
                    // given back to the window when the reader goes on
                    call.unread += size;
                    return 0;
                }
            }
            return size;
        }

        @Override
        public void onRstStreamRead(ChannelHandlerContext from, int number, long code) {
            Http2Call call = call(connection().stream(number));
            if (call != null) {
                call.broken(new Wire.ResetException(code), code == Http2Error.REFUSED_STREAM.code());
            }
        }

        @Override
        public void onStreamClosed(Http2Stream stream) {
            Http2Call call = call(stream);
            if (call != null) {
                Throwable cause = failure;
                call.broken(cause == null ? new ClosedChannelException() : cause, stream.id() > lastStream);
            }
        }
    }

    private final class Http2Call extends WireCall {

        private @Nullable Http2Stream stream; // null unless sent
        private int unread; // bytes whose window has not been given back

        Http2Call(Wire.Response response) {
            super(response);
        }

        /** Ends the request, whose answer is complete. */
        void complete() {
            Http2Stream sent = stream;
            // otherwise the answer came before the end of the request
            boolean both = sent == null || !sent.state().localSideOpen();
            if (end() && !both) {
                stop();
            }
        }

        /** Ends the request, whose answer violates HTTP. */
        void invalid(String what) {
            broken(new IOException("the server sent " + what), false);
            stop();
        }

        @Override
        public void goOn() {
            Http2Stream sent = stream;
            ChannelHandlerContext open = context;
            int size = unread;
            unread = 0;
            if (size > 0 && sent != null && open != null && sent.state() != Http2Stream.State.CLOSED) {
                try {
                    connection().local().flowController().consumeBytes(sent, size);
                    flushSoon(open);
                } catch (Http2Exception e) {
                    onError(open, false, e);
                }
            }
        }

        @Override
        void stop() {
            Http2Stream sent = stream;
            if (sent != null) {
                Http2Streams.this.reset(sent);
            }
        }
    }
}
