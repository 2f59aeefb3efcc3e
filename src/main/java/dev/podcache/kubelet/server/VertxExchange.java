package dev.podcache.kubelet.server;

import com.google.common.base.Strings;
import com.google.common.base.Suppliers;
import com.google.common.collect.ForwardingMap;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.io.IOException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A request and its response. Its fields are used by the event loop only, except those that are thread-safe; the methods
 * of {@link ResponseStream} and {@link #onLoop} may be called by any thread.
 */
final class VertxExchange implements ResponseStream {

    private static final Logger log = LoggerFactory.getLogger(HttpListener.class);

    private static final String SNIFFING = "X-Content-Type-Options";
    private static final String FORWARDED = "X-Forwarded-For";
    private static final String SUBPROTOCOL = "Sec-WebSocket-Protocol";

    private static final String CONNECTION = "Connection";
    private static final String CLOSE = "close";

    /** The codes of answers to clients that are not authenticated. */
    private static final Set<Integer> UNKNOWN = Set.of(400, 401, 429);

    private static final int MOST_SUBPROTOCOLS = 32;

    private final HttpServerRequest http;
    private final HttpServerResponse response;
    private final Context eventLoop;
    private final HttpListener.Transfers transfers;
    private final ConnectionGate gate;
    private final CompletableFuture<Object> closed = new CompletableFuture<>();
    private boolean webSocket;
    private boolean upgraded;
    private boolean ended;
    private long received;

    VertxExchange(HttpServerRequest http, Context eventLoop, HttpListener.Transfers transfers) {
        this.http = http;
        this.response = http.response();
        this.eventLoop = eventLoop;
        this.transfers = transfers;
        this.gate = ConnectionGate.of(HttpListener.channelOf(http.connection()));
    }

    /** Prepares the exchange, and returns the request. */
    KubeletRequest begin() {
        response.closeHandler(gone -> finishResponse());
        response.endHandler(sent -> finishResponse());
        response.exceptionHandler(failed -> finishResponse());
        http.exceptionHandler(failed -> finishResponse());
        @Nullable String upgrade = http.getHeader("Upgrade");
        webSocket = "websocket".equalsIgnoreCase(upgrade);
        if (webSocket) {
            http.pause();
        } else {
            http.handler(this::received);
        }
        return new KubeletRequest(
                http.method().name(),
                http.path() == null ? "/" : http.path(),
                query(http.query()),
                http.getHeader("Authorization"),
                Strings.nullToEmpty(http.getHeader("Host")),
                certificates(),
                upgrade == null ? "" : upgrade.toLowerCase(Locale.ROOT),
                subprotocols(),
                String.join(",", http.headers().getAll("Accept")),
                origin(),
                gate.source());
    }

    /** An API server passes on the Origin of its own client, and adds a header that a page cannot add. */
    private String origin() {
        return http.headers().contains(FORWARDED)
                ? ""
                : String.join(",", http.headers().getAll("Origin"));
    }

    private void received(Buffer part) {
        received += part.length();
        if (received > RequestHead.LONGEST_BODY) {
            gate.abort();
        }
    }

    /** Decoded at its first use, when the client is known: in memory, it is many times as large as on the wire. */
    private static Map<String, List<String>> query(@Nullable String encoded) {
        Supplier<Map<String, List<String>>> decoded = Suppliers.memoize(() -> decoded(Strings.nullToEmpty(encoded)));
        return new ForwardingMap<>() {
            @Override
            protected Map<String, List<String>> delegate() {
                return decoded.get();
            }
        };
    }

    private static Map<String, List<String>> decoded(String query) {
        try {
            return new QueryStringDecoder(query, false).parameters();
        } catch (IllegalArgumentException e) {
            throw new RefusedException(400, "the request cannot be read: the query is not correctly percent-encoded");
        }
    }

    private List<X509Certificate> certificates() {
        if (!http.isSSL()) {
            return List.of();
        }
        try {
            return http.connection().peerCertificates().stream()
                    .filter(X509Certificate.class::isInstance)
                    .map(X509Certificate.class::cast)
                    .toList();
        } catch (SSLPeerUnverifiedException none) {
            return List.of();
        }
    }

    private List<String> subprotocols() {
        List<String> names = new ArrayList<>();
        for (String header : http.headers().getAll(SUBPROTOCOL)) {
            for (String name : header.split(",", MOST_SUBPROTOCOLS)) {
                names.add(name.strip());
            }
        }
        return names;
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
                response.setStatusCode(200)
                        .putHeader("Content-Type", "text/plain")
                        .putHeader(SNIFFING, "nosniff")
                        .setChunked(true);
                // the first line may come much later
                response.writeHead();
            }
            transfers.send(source, this);
        } else if (answer instanceof KubeletResponse.Upgrade upgrade) {
            upgrade(upgrade);
        }
    }

    private static boolean isForUnknown(KubeletResponse answer) {
        return answer instanceof KubeletResponse.Content content && UNKNOWN.contains(content.code());
    }

    private void send(KubeletResponse.Content content) {
        if (closed.isDone()) {
            return;
        }
        if (webSocket) {
            http.resume();
        }
        if (gate.isLast()) {
            response.putHeader(CONNECTION, CLOSE);
        } else if (CLOSE.equals(content.headers().get(CONNECTION))) {
            gate.endWithAnswer();
        }
        gate.answering(content.body().length);
        content.headers().forEach(response::putHeader);
        response.setStatusCode(content.code())
                .putHeader("Content-Type", content.mediaType())
                .putHeader(SNIFFING, "nosniff")
                .end(Buffer.buffer(content.body()));
    }

    private void upgrade(KubeletResponse.Upgrade upgrade) {
        if (closed.isDone()) {
            upgrade.release().run();
            return;
        }
        upgraded = true;
        String subprotocol = upgrade.call().subprotocol();
        if (!subprotocol.isEmpty()) {
            // otherwise the handshake could choose one that another endpoint has
            http.headers().set(SUBPROTOCOL, subprotocol);
        }
        boolean text = subprotocol.equals(ChannelFrames.V4_BASE64);
        http.toWebSocket()
                .onSuccess(socket ->
                        transfers.run(upgrade, new VertxWebSocket(socket, eventLoop, gate, text, this::finish)))
                .onFailure(e -> {
                    log.debug("the handshake of a WebSocket failed: {}", e.getMessage());
                    upgrade.release().run();
                    finish();
                });
    }

    /** After the upgrade, the WebSocket says when it is closed. */
    private void finishResponse() {
        if (!upgraded) {
            finish();
        }
    }

    private void finish() {
        closed.complete(this);
    }

    @Override
    public CompletableFuture<?> write(byte[] bytes) {
        CompletableFuture<Object> written = new CompletableFuture<>();
        onLoop(() -> {
            if (closed.isDone()) {
                written.completeExceptionally(new IOException("the client has closed the connection"));
                return;
            }
            response.write(Buffer.buffer(bytes)).onComplete(done -> {
                if (done.succeeded()) {
                    written.complete(this);
                } else {
                    written.completeExceptionally(done.cause());
                }
            });
        });
        return written;
    }

    @Override
    public void end() {
        onLoop(() -> {
            if (!ended && !closed.isDone()) {
                ended = true;
                response.end();
            }
        });
    }

    @Override
    public void abort() {
        onLoop(() -> {
            if (!ended) {
                ended = true;
                gate.abort();
            }
        });
    }

    @Override
    public CompletableFuture<?> closed() {
        return closed;
    }

    /** Runs a task on the event loop; a task that throws ends the connection. */
    void onLoop(Runnable task) {
        eventLoop.runOnContext(nothing -> {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                log.error("a response failed; closing the connection", e);
                gate.abort();
            }
        });
    }
}
