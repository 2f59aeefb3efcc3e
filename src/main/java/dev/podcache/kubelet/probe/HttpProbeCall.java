package dev.podcache.kubelet.probe;

import com.google.common.net.InetAddresses;
import dev.podcache.kubelet.probe.HttpCheck.HttpProbeResponse;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultHttpHeadersFactory;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.NotSslRecordException;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;

/**
 * The request and the response of one HTTP probe, on a connection of its own, which is closed before the result is known.
 * Confined to the event loop of the connection.
 */
final class HttpProbeCall extends ChannelInboundHandlerAdapter {

    /*
     * No result, no head: connecting, shaking hands, or waiting for the answer; answers of 1xx are skipped.
     * No result, a head: the body arrives. If it breaks off, the result is a response that says so.
     * A result: what still arrives is dropped.
     */

    /**
     * The longest headers of a response, with its status line. Go's client would take ten times as much, which a container
     * could use up the heap of a small agent with.
     */
    static final int LONGEST_HEADERS = 1 << 20;

    /** The longest body that is read. */
    static final int LONGEST_BODY = 10 << 10;

    private static final int LONGEST_CHUNK = 8192;
    private static final long LEAST_HANDSHAKE_MILLIS = 10_000;

    /** The most lines of an answer: a header of four bytes needs more than 130 of heap. */
    private static final int MOST_LINES = 32 << 10;

    /** Less than half of {@link #MOST_LINES}, so that the body that is read never has too many. */
    private static final int LARGEST_READ = 16 << 10;

    private static final int SMALLEST_READ = 64;
    private static final int FIRST_READ = 2048;

    /** What HTTP sets itself. Go does not send those of a probe either. */
    private static final Set<String> NOT_SENT = Set.of("connection", "content-length", "transfer-encoding", "trailer");

    private static final String TOKEN_MARKS = "!#$%&'*+-.^_`|~";

    private final HttpProbeRequest request;
    private final CompletableFuture<HttpProbeResponse> result;
    private final ByteArrayOutputStream body = new ByteArrayOutputStream(0);
    private @Nullable HttpResponse head;

    /** Accepts every certificate, as the kubelet does. */
    private static final class UnverifiedTls {
        static final SSLContext CONTEXT = context();

        private static SSLContext context() {
            try {
                SSLContext made = SSLContext.getInstance("TLS");
                made.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
                return made;
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException("this Java runtime has no TLS", e);
            }
        }
    }

    private HttpProbeCall(HttpProbeRequest request, CompletableFuture<HttpProbeResponse> result) {
        this.request = request;
        this.result = result;
    }

    /**
     * Adds a request to the pipeline of a connection that is not open yet.
     *
     * @param timeout of the TLS handshake, which has 10 s at least, because the caller limits the whole
     */
    static void add(
            ChannelPipeline pipeline,
            HttpProbeRequest request,
            Duration timeout,
            CompletableFuture<HttpProbeResponse> result) {
        pipeline.channel()
                .config()
                .setRecvByteBufAllocator(new AdaptiveRecvByteBufAllocator(SMALLEST_READ, FIRST_READ, LARGEST_READ));
        if (request.tls()) {
            pipeline.addLast(tls(request.address().host(), timeout));
        }
        pipeline.addLast(new LineLimit())
                .addLast(new HttpClientCodec(LONGEST_HEADERS, LONGEST_HEADERS, LONGEST_CHUNK))
                .addLast(new HttpProbeCall(request, result));
    }

    private static SslHandler tls(String host, Duration timeout) {
        // without the address, so that no session is kept for it
        SSLEngine engine = UnverifiedTls.CONTEXT.createSSLEngine();
        engine.setUseClientMode(true);
        if (!InetAddresses.isInetAddress(host)) {
            SSLParameters parameters = engine.getSSLParameters();
            try {
                parameters.setServerNames(List.of(new SNIHostName(host)));
                engine.setSSLParameters(parameters);
            } catch (IllegalArgumentException e) {
                // such as a name with _, which the JDK cannot send
            }
        }
        SslHandler handler = new SslHandler(engine);
        handler.setHandshakeTimeoutMillis(Math.max(LEAST_HANDSHAKE_MILLIS, timeout.toMillis()));
        // after its timeout Netty would log a warning; the connection is closed at the end of the check
        handler.setCloseNotifyFlushTimeoutMillis(0);
        return handler;
    }

    /** Ends a check whose answer has too many lines. */
    private static final class LineLimit extends ChannelInboundHandlerAdapter {

        private int lines;

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            if (message instanceof ByteBuf bytes) {
                bytes.forEachByte(each -> {
                    lines += each == '\n' ? 1 : 0;
                    return true;
                });
            }
            if (lines > MOST_LINES) {
                ReferenceCountUtil.release(message);
                context.fireExceptionCaught(new IOException("the response has more than " + MOST_LINES + " lines"));
            } else {
                context.fireChannelRead(message);
            }
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
        if (!request.tls()) {
            send(context);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof SslHandshakeCompletionEvent handshake) {
            if (handshake.isSuccess()) {
                send(context);
            } else {
                fail(context, handshake.cause());
            }
        }
    }

    private void send(ChannelHandlerContext context) {
        try {
            context.writeAndFlush(message()).addListener(written -> {
                if (!written.isSuccess()) {
                    fail(context, written.cause());
                }
            });
        } catch (IOException illegal) {
            fail(context, illegal);
        }
    }

    private FullHttpRequest message() throws IOException {
        HttpHeaders headers =
                DefaultHttpHeadersFactory.headersFactory().withValidation(false).newHeaders();
        for (var header : request.headers().entries()) {
            String name = header.getKey();
            // a value may be a credential, so no message has it
            if (!isToken(name)) {
                throw new IOException("net/http: invalid header field name \"" + name + "\"");
            }
            if (!header.getValue().chars().allMatch(each -> each == '\t' || (each >= ' ' && each != 0x7f))) {
                throw new IOException("net/http: invalid header field value for \"" + name + "\"");
            }
            if (!NOT_SENT.contains(name)) {
                // one byte in each character
                byte[] value = header.getValue().getBytes(StandardCharsets.UTF_8);
                headers.add(name, new String(value, StandardCharsets.ISO_8859_1));
            }
        }
        headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        return new DefaultFullHttpRequest(
                HttpVersion.HTTP_1_1,
                HttpMethod.GET,
                request.target(),
                Unpooled.EMPTY_BUFFER,
                headers,
                DefaultHttpHeadersFactory.headersFactory().withValidation(false).newHeaders());
    }

    private static boolean isToken(String text) {
        return !text.isEmpty()
                && text.chars()
                        .allMatch(each -> (each >= '0' && each <= '9')
                                || (each >= 'a' && each <= 'z')
                                || (each >= 'A' && each <= 'Z')
                                || TOKEN_MARKS.indexOf(each) >= 0);
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        try {
            if (message instanceof HttpObject part && !result.isDone()) {
                read(context, part);
            }
        } finally {
            ReferenceCountUtil.release(message);
        }
    }

    private void read(ChannelHandlerContext context, HttpObject part) {
        if (part.decoderResult().isFailure()) {
            // its message quotes what was received
            boolean tooLong = part.decoderResult().cause() instanceof TooLongFrameException;
            fail(
                    context,
                    new IOException(
                            tooLong
                                    ? "net/http: server response headers exceeded " + LONGEST_HEADERS + " bytes"
                                    : "net/http: malformed HTTP response"));
            return;
        }
        if (part instanceof HttpResponse response && (response.status().code() / 100 != 1 || isSwitch(response))) {
            head = response;
            if (isSwitch(response)) {
                complete(context, response);
            }
        }
        HttpResponse known = head;
        if (part instanceof HttpContent content && known != null && !result.isDone()) {
            ByteBuf bytes = content.content();
            byte[] read = new byte[Math.min(bytes.readableBytes(), LONGEST_BODY - body.size())];
            bytes.readBytes(read);
            body.writeBytes(read);
            if (content instanceof LastHttpContent || body.size() == LONGEST_BODY) {
                complete(context, known);
            }
        }
    }

    /** Returns whether the answer is 101, which is the last one. */
    private static boolean isSwitch(HttpResponse response) {
        return response.status().code() == 101;
    }

    private void complete(ChannelHandlerContext context, HttpResponse response) {
        HttpProbeResponse complete = taken(response, null);
        // first, because at the end of the check the connection is cut without a word to the server
        context.close();
        result.complete(complete);
    }

    /** Returns what has arrived, with what broke it off. */
    private HttpProbeResponse taken(HttpResponse response, @Nullable IOException broken) {
        return new HttpProbeResponse(
                response.status().code(),
                response.headers().get(HttpHeaderNames.LOCATION),
                body.toString(StandardCharsets.UTF_8),
                broken);
    }

    private void fail(ChannelHandlerContext context, Throwable cause) {
        IOException failure = cause instanceof NotSslRecordException
                ? new IOException("tls: first record does not look like a TLS handshake")
                : ProbeNetwork.readable(cause);
        if (result.isDone()) {
            return;
        }
        HttpResponse known = head;
        context.close();
        if (known == null) {
            result.completeExceptionally(failure);
        } else {
            result.complete(taken(known, failure));
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
        Throwable root = cause.getCause() instanceof IOException known ? known : cause;
        fail(context, root);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
        fail(context, new IOException(head == null ? "EOF" : "unexpected EOF"));
    }
}
