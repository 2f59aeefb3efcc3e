package dev.podcache.kubelet.probe;

import dev.podcache.kubelet.probe.GrpcCheck.GrpcResponse;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http2.AbstractHttp2ConnectionHandlerBuilder;
import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2EventAdapter;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The call of one gRPC probe, by HTTP/2 without TLS, on a connection of its own, which is closed before the result is known.
 * Confined to the event loop of the connection.
 */
final class GrpcProbeCall extends Http2ConnectionHandler {

    /*
     * No result, not sent: connecting, or waiting for the SETTINGS of the server.
     * No result, sent: the answer arrives; the second head is the trailers.
     * A result: what still arrives is dropped.
     */

    /** The specification of gRPC allows eight digits. */
    private static final long MOST_SECONDS = 99_999_999;

    private static final int STREAM = 1;
    private static final int UNKNOWN = 2; // of the status codes of gRPC

    private final ProbeAddress address;
    private final byte[] message;
    private final Duration timeout;
    private final String userAgent;
    private final CompletableFuture<GrpcResponse> result;
    private final ByteArrayOutputStream body = new ByteArrayOutputStream(0);
    private @Nullable Http2Headers head;
    private boolean sent;

    private GrpcProbeCall(
            Builder parts, Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings settings) {
        super(decoder, encoder, settings, false, true);
        this.address = parts.address;
        this.message = parts.message;
        this.timeout = parts.timeout;
        this.userAgent = parts.userAgent;
        this.result = parts.result;
        decoder.frameListener(new GrpcFrames());
    }

    /** Adds a call to the pipeline of a connection that is not open yet. The timeout is told to the server. */
    static void add(
            ChannelPipeline pipeline,
            ProbeAddress address,
            byte[] message,
            Duration timeout,
            String userAgent,
            CompletableFuture<GrpcResponse> result) {
        pipeline.addLast(new Builder(address, message, timeout, userAgent, result).build());
    }

    private static final class Builder extends AbstractHttp2ConnectionHandlerBuilder<GrpcProbeCall, Builder> {

        private final ProbeAddress address;
        private final byte[] message;
        private final Duration timeout;
        private final String userAgent;
        private final CompletableFuture<GrpcResponse> result;

        Builder(
                ProbeAddress address,
                byte[] message,
                Duration timeout,
                String userAgent,
                CompletableFuture<GrpcResponse> result) {
            this.address = address;
            this.message = message;
            this.timeout = timeout;
            this.userAgent = userAgent;
            this.result = result;
            connection(new DefaultHttp2Connection(false));
            initialSettings(new Http2Settings().pushEnabled(false).maxHeaderListSize(HttpProbeCall.LONGEST_HEADERS));
            // Netty would log it at INFO
            encoderEnforceMaxQueuedControlFrames(0);
            gracefulShutdownTimeoutMillis(0);
        }

        @Override
        protected GrpcProbeCall build() {
            return super.build();
        }

        @Override
        protected GrpcProbeCall build(
                Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings settings) {
            return new GrpcProbeCall(this, decoder, encoder, settings);
        }
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) throws Exception {
        if (result.isDone()) {
            // Netty would log at INFO what arrives for a stream that is over
            in.skipBytes(in.readableBytes());
        } else {
            super.decode(context, in, out);
        }
    }

    private void send(ChannelHandlerContext context) {
        Http2Headers headers = new DefaultHttp2Headers()
                .method("POST")
                .scheme("http")
                .authority(address.toString())
                .path("/grpc.health.v1.Health/Check")
                .add("content-type", "application/grpc")
                .add("te", "trailers")
                .add("user-agent", userAgent)
                .add("grpc-timeout", Math.min(MOST_SECONDS, timeout.toSeconds()) + "S");
        encoder().writeHeaders(context, STREAM, headers, 0, false, context.newPromise());
        encoder().writeData(context, STREAM, Unpooled.wrappedBuffer(message), 0, true, context.newPromise());
        context.flush();
    }

    private void complete(ChannelHandlerContext context, Http2Headers first, Http2Headers last) {
        String status = String.valueOf(first.status());
        if (!status.matches("\\d{3}")) {
            fail(context, new IOException("the server sent an answer without a status"));
            return;
        }
        // a server without a message sends the status of gRPC as a header
        Http2Headers trailers = last.contains("grpc-status") ? last : first;
        CharSequence text = trailers.get("grpc-message");
        GrpcResponse response = new GrpcResponse(
                Integer.parseInt(status),
                number(trailers.get("grpc-status")),
                text == null ? "" : text.toString(),
                body.toByteArray());
        // from the context of this handler, so that no frame delays it
        context.close();
        result.complete(response);
    }

    private static int number(@Nullable CharSequence code) {
        try {
            return code == null ? UNKNOWN : Integer.parseInt(code.toString());
        } catch (NumberFormatException invalid) {
            return UNKNOWN;
        }
    }

    private void fail(ChannelHandlerContext context, Throwable cause) {
        if (!result.isDone()) {
            context.close();
            result.completeExceptionally(ProbeNetwork.readable(cause));
        }
    }

    @Override
    protected void onConnectionError(
            ChannelHandlerContext context, boolean outbound, Throwable cause, @Nullable Http2Exception error) {
        fail(context, error == null ? cause : new IOException("HTTP/2 " + error.error()));
    }

    @Override
    protected void onStreamError(
            ChannelHandlerContext context, boolean outbound, Throwable cause, Http2Exception.StreamException error) {
        fail(context, new IOException("HTTP/2 " + error.error()));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        fail(context, cause);
    }

    @Override
    protected boolean isGracefulShutdownComplete() {
        return true;
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) throws Exception {
        try {
            super.channelInactive(context);
        } finally {
            fail(context, new IOException("EOF"));
        }
    }

    /** What Netty reports of the connection and its stream. */
    private final class GrpcFrames extends Http2EventAdapter {

        @Override
        public void onSettingsRead(ChannelHandlerContext context, Http2Settings settings) {
            if (!sent) {
                sent = true;
                send(context);
            }
            answered(context);
        }

        @Override
        public void onPingRead(ChannelHandlerContext context, long data) {
            answered(context);
        }

        /** Netty has written an answer, which waits if the server does not read. */
        private void answered(ChannelHandlerContext context) {
            if (!context.channel().isWritable()) {
                fail(context, new IOException("the server sends more than it reads"));
            }
        }

        @Override
        public void onGoAwayRead(ChannelHandlerContext context, int last, long code, ByteBuf text) {
            if (last < STREAM) {
                fail(context, new IOException("the server sent GOAWAY"));
            }
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext context,
                int stream,
                Http2Headers headers,
                int dependency,
                short weight,
                boolean exclusive,
                int padding,
                boolean last) {
            onHeadersRead(context, stream, headers, padding, last);
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext context, int stream, Http2Headers headers, int padding, boolean last) {
            CharSequence status = headers.status();
            if (!last && status != null && status.length() == 3 && status.charAt(0) == '1') {
                return; // a word in advance
            }
            if (head == null) {
                head = headers;
            }
            if (last) {
                complete(context, head, headers);
            }
        }

        @Override
        public int onDataRead(ChannelHandlerContext context, int stream, ByteBuf data, int padding, boolean last) {
            int size = data.readableBytes() + padding;
            byte[] read = new byte[Math.min(data.readableBytes(), HttpProbeCall.LONGEST_BODY - body.size())];
            data.readBytes(read);
            body.writeBytes(read);
            Http2Headers first = head;
            if (first == null) {
                fail(context, new IOException("the server sent the body of an answer before its head"));
            } else if (last || body.size() == HttpProbeCall.LONGEST_BODY) {
                complete(context, first, first);
            }
            return size;
        }

        @Override
        public void onRstStreamRead(ChannelHandlerContext context, int stream, long code) {
            Http2Error known = Http2Error.valueOf(code);
            fail(context, new IOException("the server reset the stream: " + (known == null ? code : known)));
        }
    }
}
