package dev.podcache.apiserver.http;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpContentDecompressor;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The requests of one HTTP/1.1 connection, one after another. Confined to the event loop of the connection. */
final class Http1Exchanges extends ChannelInboundHandlerAdapter implements NettyWire.Protocol {

    /*
     * current  over   what
     * null     false  idle; the server may close the connection, and has nothing to say
     * set      false  a request was sent, and its answer is awaited or arrives
     * any      true   no request is sent any more, and what still arrives is skipped
     *
     * The request in flight breaks before the end of the connection is reported.
     */

    private static final int LONGEST_STATUS_LINE = 4096;
    private static final int LONGEST_HEADERS = 64 << 10;
    private static final int LONGEST_CHUNK = 8192;

    private final NettyWire wire;
    private @Nullable ChannelHandlerContext context;
    private @Nullable Http1Call current;
    private @Nullable Throwable failure;
    private boolean used; // whether a request was answered
    private boolean ignoring; // inside an answer of 1xx
    private boolean over;

    private Http1Exchanges(NettyWire wire) {
        this.wire = wire;
    }

    /** Adds what reads and writes HTTP/1.1 to the pipeline of a connection, which is open then. */
    static Http1Exchanges added(ChannelPipeline pipeline, NettyWire wire) {
        Http1Exchanges exchanges = new Http1Exchanges(wire);
        pipeline.addLast(new HttpClientCodec(LONGEST_STATUS_LINE, LONGEST_HEADERS, LONGEST_CHUNK));
        if (wire.compression()) {
            pipeline.addLast(new BodyInflater());
        }
        pipeline.addLast(exchanges);
        return exchanges;
    }

    /** Inflates the answers that are compressed as we asked. */
    private static final class BodyInflater extends HttpContentDecompressor {

        BodyInflater() {
            // without a limit to one buffer, it is passed on whenever it is full
            super(false, 0);
        }

        @Override
        protected @Nullable EmbeddedChannel newContentDecoder(String encoding) throws Exception {
            return HttpHeaderValues.GZIP.contentEqualsIgnoreCase(encoding) ? super.newContentDecoder(encoding) : null;
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    @Override
    public Wire.Stream send(ServerRequest request, Map<String, List<String>> headers, Wire.Response response) {
        Http1Call call = new Http1Call(request.method(), response);
        ChannelHandlerContext open = context;
        if (open == null || over || current != null) {
            call.broken(new ClosedChannelException(), true);
            return call;
        }
        FullHttpRequest made;
        try {
            made = message(request, headers);
        } catch (IllegalArgumentException e) {
            call.broken(NettyWire.refused(), false);
            return call;
        }
        current = call;
        open.writeAndFlush(made).addListener((ChannelFutureListener) written -> {
            Throwable cause = written.cause();
            if (cause != null) {
                fail(NettyWire.translated(cause), true);
            }
        });
        return call;
    }

    private FullHttpRequest message(ServerRequest request, Map<String, List<String>> headers) {
        ServerRequest.Body body = request.body();
        ByteBuf content = body == null
                ? Unpooled.EMPTY_BUFFER
                : Unpooled.wrappedBuffer(body.json().getBytes(UTF_8));
        FullHttpRequest made = new DefaultFullHttpRequest(
                HttpVersion.HTTP_1_1, HttpMethod.valueOf(request.method()), wire.uri(request), content);
        HttpHeaders head = made.headers();
        head.set(HttpHeaderNames.HOST, wire.authority());
        wire.headers(request, headers, head::add);
        if (body != null) {
            head.set(HttpHeaderNames.CONTENT_LENGTH, content.readableBytes());
        }
        return made;
    }

    /** Does nothing: HTTP/1.1 has no pings. */
    @Override
    public void ping(Runnable answered) {}

    @Override
    public void channelRead(ChannelHandlerContext from, Object message) {
        try {
            if (!over && message instanceof HttpObject part) {
                read(part);
            }
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void read(HttpObject part) {
        if (part.decoderResult().isFailure()) {
            // the cause quotes what was received
            fail(new IllegalArgumentException("the answer is not legal in HTTP: "
                    + part.decoderResult().cause().getClass().getName()));
            return;
        }
        if (part instanceof HttpResponse response) {
            head(response);
        }
        if (part instanceof HttpContent content && !over) {
            content(content);
        }
    }

    private void head(HttpResponse response) {
        int status = response.status().code();
        Http1Call call = current;
        if (call == null) {
            fail(new IOException("the server sent an answer to no request"));
        } else if (status == 101) {
            fail(new IOException("the server switched to a protocol that nobody asked for"));
        } else if (status / 100 == 1) {
            ignoring = true;
        } else {
            call.answering = true;
            call.last = !HttpUtil.isKeepAlive(response);
            call.head(status, response.headers()::get);
        }
    }

    private void content(HttpContent content) {
        Http1Call call = current;
        if (call != null && !ignoring) {
            read(call.chunk(content.content()));
        }
        if (content instanceof LastHttpContent) {
            if (call != null && !ignoring && !over) {
                used = true;
                current = null;
                read(true);
                if (call.last) {
                    over = true;
                    wire.retired();
                }
                call.end();
                if (call.last) {
                    wire.shut();
                }
            }
            ignoring = false;
        }
    }

    /** Reads from the server or not. While it does not, the end of the connection is not seen. */
    private void read(boolean on) {
        ChannelHandlerContext open = context;
        if (open != null) {
            open.channel().config().setAutoRead(on);
        }
    }

    /** Ends the connection, because what arrived is no answer. */
    private void fail(Throwable cause) {
        fail(cause, false);
    }

    private void fail(Throwable cause, boolean lost) {
        if (!over) {
            over = true;
            failure = cause;
            breakCurrent(cause, lost);
            wire.cut();
        }
    }

    private void breakCurrent(Throwable cause, boolean lost) {
        Http1Call call = current;
        current = null;
        if (call != null) {
            // the server may have closed the idle connection just before it got the request
            call.broken(cause, lost && used && !call.answering && call.method.equals("GET"));
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext from, Throwable cause) {
        fail(NettyWire.translated(cause), cause instanceof IOException);
    }

    @Override
    public void channelInactive(ChannelHandlerContext from) {
        over = true;
        breakCurrent(new ClosedChannelException(), true);
        wire.ended(failure);
    }

    private final class Http1Call extends WireCall {

        private final String method;
        private boolean answering;
        private boolean last; // whether the connection ends with the answer

        Http1Call(String method, Wire.Response response) {
            super(response);
            this.method = method;
        }

        @Override
        public void goOn() {
            read(true);
        }

        @Override
        void stop() {
            over = true;
            wire.cut();
        }
    }
}
