package dev.podcache.kubelet.server;

import com.google.common.base.Strings;
import com.google.common.base.Suppliers;
import com.google.common.collect.ForwardingMap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.handler.codec.http.websocketx.WebSocketDecoderConfig;
import io.netty.handler.codec.http.websocketx.WebSocketServerHandshaker13;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A request and its response. Its fields are used by the event loop only, except those that are thread-safe; the methods
 * of {@link ResponseStream} and {@link #answerSoon} may be called by any thread.
 */
final class HttpExchange implements ResponseStream {

    private static final Logger log = LoggerFactory.getLogger(HttpListener.class);

    private static final String SNIFFING = "X-Content-Type-Options";
    private static final String FORWARDED = "X-Forwarded-For";
    private static final String SUBPROTOCOL = "Sec-WebSocket-Protocol";

    private static final String CONNECTION = "Connection";
    private static final String CLOSE = "close";

    /** The codes of answers to clients that are not authenticated. */
    private static final Set<Integer> UNKNOWN = Set.of(400, 401, 429);

    private static final int MOST_SUBPROTOCOLS = 32;

    /** More than that would be many times as large in memory as the longest URL. */
    private static final int MOST_PARAMETERS = 10_000;

    private final HttpRequest http;
    private final HttpHeaders headers;
    private final Channel channel;
    private final HttpListener.Transfers transfers;
    private final ConnectionGate gate;
    private final CompletableFuture<Object> closed = new CompletableFuture<>();
    private boolean upgraded;
    private boolean ended;
    private long received;

    HttpExchange(HttpRequest http, Channel channel, ConnectionGate gate, HttpListener.Transfers transfers) {
        this.http = http;
        this.headers = http.headers();
        this.channel = channel;
        this.transfers = transfers;
        this.gate = gate;
    }

    /**
     * Returns the request.
     *
     * @throws RuntimeException if it cannot be read
     */
    KubeletRequest begin() {
        if (http.decoderResult().isFailure()) {
            throw new IllegalArgumentException("not HTTP");
        }
        String upgrade = Strings.nullToEmpty(headers.get(HttpHeaderNames.UPGRADE));
        String uri = http.uri();
        int query = uri.indexOf('?');
        return new KubeletRequest(
                http.method().name(),
                path(query < 0 ? uri : uri.substring(0, query)),
                query(query < 0 ? "" : uri.substring(query + 1)),
                headers.get(HttpHeaderNames.AUTHORIZATION),
                Strings.nullToEmpty(headers.get(HttpHeaderNames.HOST)),
                certificates(),
                upgrade.toLowerCase(Locale.ROOT),
                subprotocols(),
                origin(),
                gate.source());
    }

    /** Returns the path of a target, which may be a whole URL. */
    private static String path(String target) {
        int scheme = target.startsWith("/") ? -1 : target.indexOf("://");
        int begin = scheme < 0 ? 0 : target.indexOf('/', scheme + 3);
        return begin < 0 || target.isEmpty() ? "/" : target.substring(begin);
    }

    /** An API server passes on the Origin of its own client, and adds a header that a page cannot add. */
    private String origin() {
        return headers.contains(FORWARDED) ? "" : String.join(",", headers.getAll(HttpHeaderNames.ORIGIN));
    }

    /** A part of the body has arrived, which no endpoint needs. */
    void received(HttpContent part) {
        received += part.content().readableBytes();
        if (received > RequestHead.LONGEST_BODY || part.decoderResult().isFailure()) {
            gate.abort();
        }
    }

    /** Decoded at its first use, when the client is known: in memory, it is many times as large as on the wire. */
    private static Map<String, List<String>> query(String encoded) {
        Supplier<Map<String, List<String>>> decoded = Suppliers.memoize(() -> decoded(encoded));
        return new ForwardingMap<>() {
            @Override
            protected Map<String, List<String>> delegate() {
                return decoded.get();
            }
        };
    }

    private static Map<String, List<String>> decoded(String query) {
        Map<String, List<String>> parameters;
        try {
            // one more than are taken, so that it shows: Netty leaves out the rest without a word, by default after
            // 1,024
            parameters = new QueryStringDecoder(query, StandardCharsets.UTF_8, false, MOST_PARAMETERS + 1).parameters();
        } catch (IllegalArgumentException e) {
            throw new RefusedException(400, "the request cannot be read: the query is not correctly percent-encoded");
        }
        // a command that lacks its last arguments would do something else than it says
        if (parameters.values().stream().mapToInt(List::size).sum() > MOST_PARAMETERS) {
            throw new RefusedException(
                    400, "the request cannot be read: the query has more than " + MOST_PARAMETERS + " parameters");
        }
        return parameters;
    }

    private List<X509Certificate> certificates() {
        SslHandler tls = channel.pipeline().get(SslHandler.class);
        if (tls == null) {
            return List.of();
        }
        try {
            return Stream.of(tls.engine().getSession().getPeerCertificates())
                    .filter(X509Certificate.class::isInstance)
                    .map(X509Certificate.class::cast)
                    .toList();
        } catch (SSLPeerUnverifiedException none) {
            return List.of();
        }
    }

    private List<String> subprotocols() {
        List<String> names = new ArrayList<>();
        for (String header : headers.getAll(SUBPROTOCOL)) {
            for (String name : header.split(",", MOST_SUBPROTOCOLS)) {
                names.add(name.strip());
            }
        }
        return names;
    }

    /** Sends a response on the event loop. Releases what it holds if the client has gone. May be called by any thread. */
    void answerSoon(KubeletResponse answer) {
        onLoop(() -> answer(answer), () -> release(answer));
    }

    /** Sends a response. Releases what it holds if the client has gone. */
    void answer(KubeletResponse answer) {
        if (transfers.authenticates() && !isForUnknown(answer)) {
            gate.authenticated();
        }
        if (answer instanceof KubeletResponse.Content content) {
            send(content);
        } else if (answer instanceof KubeletResponse.Streamed source) {
            if (!closed.isDone()) {
                beginStream();
            }
            transfers.send(source, this);
        } else if (answer instanceof KubeletResponse.Upgrade upgrade) {
            upgrade(upgrade);
        }
    }

    private static void release(KubeletResponse answer) {
        if (answer instanceof KubeletResponse.Streamed source) {
            source.release().run();
        } else if (answer instanceof KubeletResponse.Upgrade upgrade) {
            upgrade.release().run();
        }
    }

    private static boolean isForUnknown(KubeletResponse answer) {
        return answer instanceof KubeletResponse.Content content && UNKNOWN.contains(content.code());
    }

    private void send(KubeletResponse.Content content) {
        if (closed.isDone()) {
            return;
        }
        DefaultFullHttpResponse response = new DefaultFullHttpResponse(
                http.protocolVersion(),
                HttpResponseStatus.valueOf(content.code()),
                isHead() ? Unpooled.EMPTY_BUFFER : Unpooled.wrappedBuffer(content.body()));
        if (!gate.isLast() && CLOSE.equals(content.headers().get(CONNECTION))) {
            gate.endWithAnswer();
        }
        prepare(response);
        content.headers().forEach(response.headers()::set);
        response.headers()
                .set(HttpHeaderNames.CONTENT_TYPE, content.mediaType())
                .set(HttpHeaderNames.CONTENT_LENGTH, content.body().length);
        gate.answering(content.body().length);
        end(response);
    }

    private boolean isHead() {
        return http.method().equals(HttpMethod.HEAD);
    }

    private boolean isHttp10() {
        return http.protocolVersion().equals(HttpVersion.HTTP_1_0);
    }

    private void prepare(HttpResponse response) {
        response.headers().set(SNIFFING, "nosniff");
        if (gate.isLast()) {
            response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        } else if (isHttp10()) {
            response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE);
        }
    }

    /** The first line may come much later. */
    private void beginStream() {
        HttpResponse response = new DefaultHttpResponse(http.protocolVersion(), HttpResponseStatus.OK);
        if (isHttp10() || isHead()) {
            // its end is that of the connection
            gate.endWithAnswer();
        } else {
            response.headers().set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
        }
        prepare(response);
        response.headers().set(HttpHeaderNames.CONTENT_TYPE, "text/plain");
        channel.writeAndFlush(response);
    }

    /** Sends the last part of the response. */
    private void end(LastHttpContent last) {
        ended = true;
        channel.writeAndFlush(last).addListener(sent -> {
            if (!upgraded) {
                finish();
            }
        });
    }

    private void upgrade(KubeletResponse.Upgrade upgrade) {
        if (closed.isDone()) {
            upgrade.release().run();
            return;
        }
        if (!isHandshake()) {
            upgrade.release().run();
            send(KubeletResponse.text(
                    400,
                    "the handshake of the WebSocket must be a GET of version 13 with a key and `Connection: Upgrade`"));
            return;
        }
        upgraded = true;
        String subprotocol = upgrade.call().subprotocol();
        FullHttpRequest handshake = new DefaultFullHttpRequest(
                http.protocolVersion(),
                http.method(),
                http.uri(),
                Unpooled.EMPTY_BUFFER,
                headers,
                EmptyHttpHeaders.INSTANCE);
        if (!subprotocol.isEmpty()) {
            // otherwise it could choose one that another endpoint has
            headers.set(SUBPROTOCOL, subprotocol);
        }
        WebSocketServerHandshaker13 handshaker = new WebSocketServerHandshaker13(
                http.uri(),
                subprotocol.isEmpty() ? null : subprotocol,
                WebSocketDecoderConfig.newBuilder()
                        .allowExtensions(false)
                        .maxFramePayloadLength(NettyWebSocket.LONGEST_MESSAGE)
                        .build());
        boolean text = subprotocol.equals(ChannelFrames.V4_BASE64);
        ChannelPromise done = channel.newPromise();
        done.addListener(result -> {
            if (result.isSuccess()) {
                transfers.run(upgrade, new NettyWebSocket(channel, gate, text, this::finish));
            } else {
                log.debug(
                        "the handshake of a WebSocket failed: {}",
                        result.cause().getClass());
                upgrade.release().run();
                finish();
                gate.abort();
            }
        });
        try {
            handshaker.handshake(channel, handshake, null, done);
        } catch (RuntimeException e) {
            // nothing was written
            done.tryFailure(e);
        }
    }

    private boolean isHandshake() {
        return http.method().equals(HttpMethod.GET)
                && "13".equals(headers.get(HttpHeaderNames.SEC_WEBSOCKET_VERSION))
                && !Strings.isNullOrEmpty(headers.get(HttpHeaderNames.SEC_WEBSOCKET_KEY))
                && headers.containsValue(HttpHeaderNames.CONNECTION, HttpHeaderValues.UPGRADE, true);
    }

    /** The connection has ended. */
    void disconnected() {
        if (!upgraded) {
            finish(); // otherwise the WebSocket says when it is closed
        }
    }

    private void finish() {
        closed.complete(this);
    }

    @Override
    public CompletableFuture<?> write(byte[] bytes) {
        CompletableFuture<Object> written = new CompletableFuture<>();
        onLoop(
                () -> {
                    if (closed.isDone() || ended) {
                        written.completeExceptionally(gone());
                        return;
                    }
                    if (isHead()) {
                        written.complete(this);
                        return;
                    }
                    channel.writeAndFlush(new DefaultHttpContent(Unpooled.wrappedBuffer(bytes)))
                            .addListener(done -> {
                                if (done.isSuccess()) {
                                    written.complete(this);
                                } else {
                                    written.completeExceptionally(done.cause());
                                }
                            });
                },
                () -> written.completeExceptionally(gone()));
        return written;
    }

    private static IOException gone() {
        return new IOException("the client has closed the connection");
    }

    @Override
    public void end() {
        onLoop(
                () -> {
                    if (!ended && !closed.isDone()) {
                        end(LastHttpContent.EMPTY_LAST_CONTENT);
                    }
                },
                this::finish);
    }

    @Override
    public void abort() {
        onLoop(
                () -> {
                    if (!ended) {
                        ended = true;
                        gate.abort();
                    }
                },
                this::finish);
    }

    @Override
    public CompletableFuture<?> closed() {
        return closed;
    }

    /**
     * Runs a task on the event loop; a task that throws ends the connection.
     *
     * @param ifClosed runs instead once the event loop is closed, which closed the connection
     */
    private void onLoop(Runnable task, Runnable ifClosed) {
        try {
            channel.eventLoop().execute(() -> {
                try {
                    task.run();
                } catch (RuntimeException | Error e) {
                    log.error("a response failed; closing the connection", e);
                    gate.abort();
                }
            });
        } catch (RejectedExecutionException loopEnded) {
            ifClosed.run();
        }
    }
}
