package dev.podcache.kubelet.server;

import dev.podcache.time.Timekeeper;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes one request of a connection at a time on to the decoder, once its head is complete and {@linkplain RequestHead
 * valid}: the next one after the answer was written to the network. What a client sends meanwhile waits, and when that is
 * much, the client is not read from, and closed after 10 s without progress. So a client that reads no answers has one
 * request in flight, whatever it sends.
 *
 * <p>What is held counts as {@link HeldBytes#RECEIVED} until the client is authenticated. A WebSocket passes, unless it is
 * {@linkplain #hold held up}. Its methods are called by the event loop.
 */
final class ConnectionGate extends ChannelInboundHandlerAdapter {

    /** How long a client may take for the head of a request. */
    static final Duration HEAD_TIMEOUT = Duration.ofSeconds(10);

    /** How long a client may neither take an answer nor be sent a next one, while it sends more. */
    static final Duration QUEUE_TIMEOUT = Duration.ofSeconds(10);

    /** How long a client may take nothing of an answer that is complete. */
    static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(30);

    /** How long a client that was refused may still send, so that it reads why. */
    static final Duration LINGER = Duration.ofSeconds(1);

    static final int LONGEST_HEADERS = 64 << 10;

    private static final Logger log = LoggerFactory.getLogger(HttpListener.class);

    /** Beyond, a client that waits for an answer is not read from. */
    private static final int MOST_WAITING = 16 << 10;

    /** The decoder keeps the space for the longest line until the connection ends. */
    private static final int KEPT_ALIVE = 32 << 10;

    private final Channel channel;
    private final Timekeeper timekeeper;
    private final OpenConnections.OpenConnection connection;
    private final ClientSource source;
    private final HeldBytes.HeldShare received;
    private final HeldBytes.HeldShare unsent;
    private final int longestLine;

    /** Closes the connection at once, whatever was written. */
    private final Runnable cut;

    private @Nullable ChannelHandlerContext context; // null before it is in the pipeline
    private GateMode mode = GateMode.REQUESTS;
    private ByteBuf waiting = Unpooled.EMPTY_BUFFER; // received, and not passed on
    private boolean advancing;

    // of the head that is being received, which begins with the first byte that waits
    private int scanned;
    private int lines;
    private int lineStart;
    private int firstLine;

    // of the request that was passed on
    private boolean answering;
    private boolean chunked;
    private boolean last;
    private long bodyLeft;
    private int unknown; // bytes of its head while the client is not authenticated

    private boolean held; // by the WebSocket
    private Timekeeper.Scheduled headTimer = () -> {};
    private Timekeeper.Scheduled queueTimer = () -> {};
    private Timekeeper.Scheduled answerTimer = () -> {};
    private boolean headTimed;
    private boolean queueTimed;

    private enum GateMode {
        REQUESTS,
        WEB_SOCKET,
        CLOSING
    }

    /** What all gates of a listener share. */
    record GateParts(Timekeeper timekeeper, HeldBytes received, HeldBytes unsent, int longestLine) {}

    private ConnectionGate(
            Channel channel, OpenConnections.OpenConnection connection, ConnectionGuard guard, GateParts parts) {
        this.channel = channel;
        this.cut = guard::cut;
        this.connection = connection;
        this.source = guard.source();
        this.timekeeper = parts.timekeeper();
        this.longestLine = parts.longestLine();
        this.received = parts.received().holding(() -> giveUp("its requests use too much memory"));
        this.unsent = parts.unsent()
                .holding(() -> giveUp("its answer, which the client does not take, uses too much memory"));
    }

    private void giveUp(String why) {
        log.debug("closing a connection: {}", why);
        cut.run();
    }

    /** Closes the connection soon, after what was written if the client takes it within a second. */
    void abort() {
        if (channel.isActive()) {
            context().writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(written -> channel.close());
            later(LINGER, cut);
        }
    }

    /**
     * Ends a WebSocket once its last frame is written. Closes the connection if the client takes nothing for 30 s of what was
     * written.
     */
    void endWebSocket(ChannelFuture lastFrame) {
        answering = true;
        watchProgress(pending());
        lastFrame.addListener(written -> {
            answering = false;
            answerTimer.cancel();
            if (channel.isActive()) {
                end();
            }
        });
    }

    /** Puts a gate before the decoder of a connection that has just been established. */
    static ConnectionGate install(
            Channel channel, OpenConnections.OpenConnection connection, ConnectionGuard guard, GateParts parts) {
        ConnectionGate gate = new ConnectionGate(channel, connection, guard, parts);
        channel.pipeline().addBefore("httpDecoder", "gate", gate);
        channel.pipeline().addAfter("httpEncoder", "gate-answers", gate.new AnswerEnds());
        channel.closeFuture().addListener(closed -> gate.closed());
        return gate;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext added) {
        context = added;
    }

    private ChannelHandlerContext context() {
        return Objects.requireNonNull(context, "context");
    }

    ClientSource source() {
        return source;
    }

    /** Returns whether the connection ends with the answer to this request. */
    boolean isLast() {
        return last;
    }

    /** Ends the connection with the answer to this request. */
    void endWithAnswer() {
        last = true;
    }

    /** The client of the request in flight is authenticated: what it sent counts as its own. */
    void authenticated() {
        unknown = 0;
        connection.authenticated();
        count();
    }

    /** The answer to the request in flight has this body. */
    void answering(int length) {
        if (channel.isActive()) {
            unsent.set(length);
        }
    }

    /** Reads nothing of a WebSocket from now on, or reads again. */
    void hold(boolean hold) {
        held = hold;
        if (mode == GateMode.WEB_SOCKET) {
            passAll();
        }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (!(message instanceof ByteBuf bytes)) {
            ctx.fireChannelRead(message);
            return;
        }
        if (mode == GateMode.WEB_SOCKET && !held && !waiting.isReadable()) {
            ctx.fireChannelRead(message);
            return;
        }
        try {
            if (mode != GateMode.CLOSING) {
                keep(bytes);
            }
        } finally {
            ReferenceCountUtil.release(message);
        }
        if (mode == GateMode.REQUESTS) {
            advance();
        } else if (mode == GateMode.WEB_SOCKET) {
            passAll();
        }
    }

    /** Copied, because a buffer of the network is much larger than the few bytes that a client may send in it. */
    private void keep(ByteBuf bytes) {
        if (!waiting.isReadable()) {
            waiting = Unpooled.buffer(bytes.readableBytes());
        } else if (waiting.readerIndex() > waiting.readableBytes()) {
            waiting.discardReadBytes();
        }
        waiting.writeBytes(bytes);
    }

    private byte[] take(int length) {
        byte[] taken = new byte[length];
        waiting.readBytes(taken);
        if (!waiting.isReadable()) {
            waiting = Unpooled.EMPTY_BUFFER;
        }
        return taken;
    }

    private void pass(byte[] bytes) {
        context().fireChannelRead(Unpooled.wrappedBuffer(bytes));
        context().fireChannelReadComplete();
    }

    private void advance() {
        if (advancing) {
            return;
        }
        advancing = true;
        try {
            while (mode == GateMode.REQUESTS && channel.isActive() && step()) {
                // on to the next part
            }
        } finally {
            advancing = false;
        }
        count();
        limitWaiting();
        read();
    }

    /** Passes a part of what waits on. Returns whether there may be more to pass. */
    private boolean step() {
        if (!waiting.isReadable()) {
            return false;
        }
        if (bodyLeft > 0 || chunked) {
            int length = chunked ? waiting.readableBytes() : (int) Math.min(bodyLeft, waiting.readableBytes());
            bodyLeft -= chunked ? 0 : length;
            pass(take(length));
            return true;
        }
        if (answering || last) {
            return false;
        }
        return scan();
    }

    /** Looks for the end of a head, and passes it on. Returns whether it did, or dropped an empty line before it. */
    private boolean scan() {
        int length = waiting.readableBytes();
        while (scanned < length) {
            int end = waiting.indexOf(waiting.readerIndex() + scanned, waiting.readerIndex() + length, (byte) '\n');
            if (end < 0) {
                scanned = length;
                break;
            }
            scanned = end - waiting.readerIndex() + 1;
            boolean empty = scanned - lineStart <= 2;
            if (empty && lines == 0) {
                take(scanned);
                scanned = 0;
                return true;
            }
            lines++;
            firstLine = lines == 1 ? scanned : firstLine;
            lineStart = scanned;
            if (empty || isTooLong(scanned)) {
                return complete(empty);
            }
        }
        if (isTooLong(length)) {
            return complete(false);
        }
        awaitHead();
        return false;
    }

    private boolean isTooLong(int length) {
        return lines == 0
                ? length > longestLine
                : firstLine > longestLine || length - firstLine > LONGEST_HEADERS || lines > RequestHead.MOST_LINES;
    }

    private boolean complete(boolean whole) {
        endHead();
        if (isTooLong(scanned)) {
            boolean line = lines == 0 || firstLine > longestLine;
            refuse(
                    line ? HttpResponseStatus.REQUEST_URI_TOO_LONG : HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
                    line
                            ? "the request line is longer than " + longestLine + " bytes"
                            : "the request has more than " + LONGEST_HEADERS + " bytes or " + RequestHead.MOST_LINES
                                    + " lines of headers");
            return false;
        }
        if (!whole) {
            throw new IllegalStateException("the head is not complete");
        }
        byte[] bytes = take(scanned);
        lines = 0;
        scanned = 0;
        lineStart = 0;
        RequestHead head;
        try {
            head = RequestHead.parse(bytes);
        } catch (RefusedException e) {
            refuse(HttpResponseStatus.valueOf(e.code()), e.reason());
            return false;
        }
        answering = true;
        bodyLeft = head.contentLength();
        chunked = head.chunked();
        last = !head.keepsAlive() || head.chunked() || bytes.length > KEPT_ALIVE;
        unknown = bytes.length;
        count();
        connection.requestBegan();
        pass(bytes);
        return true;
    }

    private void awaitHead() {
        if (!headTimed) {
            headTimed = true;
            headTimer = later(HEAD_TIMEOUT, () -> {
                if (headTimed) {
                    giveUp("the head of a request is not complete");
                }
            });
        }
    }

    private void endHead() {
        headTimed = false;
        headTimer.cancel();
    }

    /** Answers a request that is not passed on, and ends the connection. */
    private void refuse(HttpResponseStatus status, String why) {
        byte[] body = why.getBytes(StandardCharsets.UTF_8);
        String head = "HTTP/1.1 " + status.code() + " " + status.reasonPhrase() + "\r\n"
                + "Content-Type: text/plain; charset=utf-8\r\n"
                + "X-Content-Type-Options: nosniff\r\n"
                + "Connection: close\r\n"
                + "Content-Length: " + body.length + "\r\n\r\n";
        context()
                .writeAndFlush(Unpooled.wrappedBuffer(head.getBytes(StandardCharsets.US_ASCII), body))
                .addListener(sent -> endOutput());
        drop();
    }

    /** Ends the connection after what was written. What the client sends is dropped, so that it can read the answer. */
    private void end() {
        drop();
        endOutput();
    }

    private void drop() {
        mode = GateMode.CLOSING;
        waiting = Unpooled.EMPTY_BUFFER;
        unknown = 0;
        count();
        read();
        later(LINGER, cut);
    }

    private void endOutput() {
        SslHandler tls = channel.pipeline().get(SslHandler.class);
        if (tls != null) {
            tls.closeOutbound();
        } else if (channel instanceof SocketChannel socket) {
            socket.shutdownOutput();
        }
    }

    private void count() {
        boolean counts = mode == GateMode.REQUESTS && channel.isActive();
        received.set(counts ? waiting.capacity() + unknown : 0);
    }

    /** Closes a connection whose client sends and sends while its answer makes no progress. */
    private void limitWaiting() {
        boolean full = isFull();
        if (full && !queueTimed) {
            queueTimed = true;
            queueTimer = later(QUEUE_TIMEOUT, () -> {
                if (queueTimed && isFull()) {
                    giveUp("the client sends requests and does not take the answers");
                }
            });
        } else if (!full && queueTimed) {
            queueTimed = false;
            queueTimer.cancel();
        }
    }

    private boolean isFull() {
        return mode == GateMode.REQUESTS && answering && waiting.readableBytes() >= MOST_WAITING;
    }

    private void read() {
        boolean reads = switch (mode) {
            case REQUESTS -> !isFull();
            case WEB_SOCKET -> !held && channel.isWritable() && !waiting.isReadable();
            case CLOSING -> true;
        };
        if (channel.config().isAutoRead() != reads) {
            channel.config().setAutoRead(reads);
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (mode == GateMode.WEB_SOCKET) {
            // it answers pings, which must not pile up
            passAll();
        }
        ctx.fireChannelWritabilityChanged();
    }

    private void passAll() {
        if (!held && waiting.isReadable()) {
            pass(take(waiting.readableBytes()));
        }
        read();
    }

    /** An answer was handed to the network as a whole. */
    private void written(ChannelPromise promise) {
        if (!promise.isDone()) {
            connection.answerUnread();
            watchProgress(pending());
        }
    }

    private long pending() {
        ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
        return buffer == null ? 0 : buffer.totalPendingWriteBytes();
    }

    private void watchProgress(long before) {
        answerTimer.cancel();
        answerTimer = later(ANSWER_TIMEOUT, () -> {
            if (answering) {
                long now = pending();
                if (now < before) {
                    watchProgress(now);
                } else {
                    giveUp("the client does not take an answer");
                }
            }
        });
    }

    private void answered(boolean toWebSocket) {
        answerTimer.cancel();
        answering = false;
        unknown = 0;
        unsent.set(0);
        queueTimed = false;
        queueTimer.cancel();
        if (toWebSocket) {
            mode = GateMode.WEB_SOCKET;
            count();
            // the decoder of frames takes its place after this
            soon(this::passAll);
            return;
        }
        connection.requestEnded();
        if (last) {
            end();
        } else {
            advance();
        }
    }

    private void closed() {
        headTimer.cancel();
        queueTimer.cancel();
        answerTimer.cancel();
        headTimed = false;
        queueTimed = false;
        waiting = Unpooled.EMPTY_BUFFER;
        received.set(0);
        unsent.set(0);
    }

    private Timekeeper.Scheduled later(Duration delay, Runnable task) {
        return timekeeper.schedule(delay, () -> soon(task));
    }

    private void soon(Runnable task) {
        try {
            channel.eventLoop().execute(task);
        } catch (RejectedExecutionException closing) {
            log.debug("a timer of a connection fired while the server was closing");
        }
    }

    /** Sees the ends of answers before the encoder turns them into bytes. */
    private final class AnswerEnds extends ChannelOutboundHandlerAdapter {

        @Override
        public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
            boolean interim = message instanceof HttpResponse response
                    && response.status().codeClass() == HttpStatusClass.INFORMATIONAL;
            boolean webSocket = message instanceof HttpResponse response
                    && response.status().code() == HttpResponseStatus.SWITCHING_PROTOCOLS.code();
            if (!(message instanceof LastHttpContent) || (interim && !webSocket)) {
                ctx.write(message, promise);
                return;
            }
            ChannelPromise end = promise.unvoid();
            end.addListener(done -> {
                if (done.isSuccess()) {
                    answered(webSocket);
                }
            });
            ctx.write(message, end);
            // after it was flushed, if the network takes it
            soon(() -> written(end));
        }
    }
}
