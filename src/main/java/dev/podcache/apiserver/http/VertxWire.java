package dev.podcache.apiserver.http;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.http.impl.HttpClientConnection;
import io.vertx.core.net.SocketAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Implements {@link Wire} with a Vert.x client of one connection. Confined to one event loop. */
final class VertxWire implements Wire {

    /*
     * Vert.x opens a connection only for a request. So the wire creates a request without method and path, which
     * becomes the first one that is sent. The connect handler registers for SETTINGS and GOAWAY, because it runs before
     * other frames of the same read are processed.
     */

    private static final Logger log = LoggerFactory.getLogger(VertxWire.class);

    /** The highest stream limit that is used: all streams are lost with their connection. */
    private static final int MOST_STREAMS = 1000;

    static final long CANCEL = 8; // RFC 9113, section 7
    private static final long REFUSED_STREAM = 7;
    private static final Buffer PING = Buffer.buffer(new byte[Long.BYTES]);

    private final Target target;
    private final Listener listener;
    private final String prefix; // of the path of each request
    private final String authority;
    private @Nullable HttpClient client;
    private @Nullable HttpConnection connection;
    private @Nullable HttpClientRequest first; // not sent yet
    private @Nullable HttpClientConnection http2; // null unless streams can be used directly
    private int lastStream = Integer.MAX_VALUE; // the last stream that the server processes after a GOAWAY
    private boolean used;
    private boolean opened;
    private boolean retired;
    private boolean closed;

    VertxWire(Target target, Listener listener) {
        this.target = target;
        this.listener = listener;
        this.prefix = target.forwarded() ? target.server().toString() : target.path();
        this.authority = target.server().authority();
    }

    /** Opens the connection. */
    void open(HttpClient newClient) {
        client = newClient;
        newClient.request(options()).onComplete(created -> {
            if (closed) {
                if (created.succeeded()) {
                    // never sent; without a handler Vert.x would log its failure
                    created.result().exceptionHandler(ended -> {});
                }
            } else if (created.failed()) {
                ended(created.cause());
            } else {
                opened(created.result());
            }
        });
    }

    /** Registers the handlers of the connection, before the first request on it. */
    void connected(HttpConnection newConnection) {
        connection = newConnection;
        // without a handler Vert.x logs a lost connection as an error, and may quote received bytes of a payload
        newConnection.exceptionHandler(broken -> log.debug(
                "a connection to {} failed ({})",
                target.server(),
                broken.getClass().getName()));
        newConnection.closeHandler(closing -> ended(null));
        if (isHttp2(newConnection)) {
            newConnection.remoteSettingsHandler(settings -> {
                // Vert.x fills in a default if the frame has no limit; then the old limit stays
                if (opened && settings.getMaxConcurrentStreams() != Http2Settings.DEFAULT_MAX_CONCURRENT_STREAMS) {
                    listener.limited(limitOf(settings));
                }
            });
            newConnection.goAwayHandler(goAway -> {
                lastStream = goAway.getLastStreamId();
                retired = true;
                if (opened) {
                    listener.retired();
                }
            });
        }
    }

    @Override
    public Stream send(ServerRequest request, Map<String, List<String>> headers, Response response) {
        VertxCall call = new VertxCall(this, request, headers, response);
        HttpClientRequest unsent = first;
        HttpClient open = client;
        if (retired || open == null) {
            // Vert.x would open another connection for the request
            call.end(() -> response.broken(new ClosedChannelException(), true));
        } else if (http2 != null && request.body() == null) {
            return sendDirectly(http2, request, headers, response);
        } else if (unsent != null) {
            first = null;
            call.send(unsent);
        } else {
            open.request(options()).onComplete(created -> {
                if (created.succeeded()) {
                    call.send(created.result());
                } else {
                    // the request was never sent
                    call.end(() -> response.broken(translated(created.cause()), retired || closed));
                }
            });
        }
        return call;
    }

    /** Sends a request on a stream, while {@link #first} keeps the connection in the pool of Vert.x. */
    private Stream sendDirectly(
            HttpClientConnection open, ServerRequest request, Map<String, List<String>> headers, Response response) {
        VertxHttp2Call call = new VertxHttp2Call(this, response);
        try {
            call.send(open, request.method(), uriOf(request), new VertxHttp2Call.Headers(headers, authority));
            return call;
        } catch (IllegalArgumentException e) {
            call.refused(VertxCall.refused(e));
            return call;
        } catch (LinkageError otherVersion) {
            log.warn(
                    "this version of Vert.x is not known ({}); each watch needs 1 KB more memory",
                    otherVersion.toString());
            http2 = null;
            return send(request, headers, response);
        }
    }

    Target target() {
        return target;
    }

    /** Records that a request is sent on this connection. Returns whether one was sent before. */
    boolean use() {
        boolean before = used;
        used = true;
        return before;
    }

    /** Returns what stands in the request line for {@code request}. */
    String uriOf(ServerRequest request) {
        return prefix + request.path();
    }

    @Override
    public void ping(Runnable answered) {
        HttpConnection open = connection;
        if (open != null) {
            open.ping(PING).onSuccess(pong -> answered.run());
        }
    }

    @Override
    public void close() {
        closed = true;
        HttpClientRequest unsent = first;
        if (unsent != null) {
            first = null;
            unsent.exceptionHandler(ended -> {});
        }
        if (client != null) {
            client.close();
            client = null;
        }
    }

    private void opened(HttpClientRequest request) {
        first = request;
        request.exceptionHandler(unused -> {});
        HttpConnection made = request.connection();
        opened = true;
        boolean multiplexed = request.version() == HttpVersion.HTTP_2;
        http2 = multiplexed && made instanceof HttpClientConnection streams ? streams : null;
        listener.opened(multiplexed, multiplexed ? limitOf(made.remoteSettings()) : 1);
        if (retired && !closed) {
            listener.retired();
        }
    }

    private void ended(@Nullable Throwable cause) {
        if (!closed) {
            close();
            listener.closed(cause);
        }
    }

    private RequestOptions options() {
        String tlsName = target.settings().tlsServerName();
        RequestOptions options = new RequestOptions()
                .setSsl(target.secure())
                .setHost(tlsName == null ? target.host() : tlsName)
                .setPort(target.port())
                .setURI(target.forwarded() ? target.server() + "/" : "/");
        InetSocketAddress address = target.address();
        if (target.settings().proxy() == null) {
            options.setServer(SocketAddress.inetSocketAddress(address));
        } else if (tlsName != null) {
            options.setServer(SocketAddress.inetSocketAddress(target.port(), target.host()));
        }
        return options;
    }

    private static boolean isHttp2(HttpConnection connection) {
        try {
            return connection.remoteSettings() != null;
        } catch (UnsupportedOperationException http1) {
            return false;
        }
    }

    /** Returns the number of a stream; -1 if HTTP/2 refused it before it was started, for which Vert.x has no answer. */
    static int number(IntSupplier stream) {
        try {
            return stream.getAsInt();
        } catch (NullPointerException refused) {
            return -1;
        }
    }

    static Throwable translated(Throwable cause) {
        if (cause instanceof io.vertx.core.http.StreamResetException reset) {
            return new StreamResetException(reset.getCode());
        }
        return cause instanceof HttpClosedException ? new ClosedChannelException() : cause;
    }

    /**
     * Returns whether the server certainly did not process a request that ended so.
     *
     * @param stream the number of the HTTP/2 stream; not positive if it was never started, and for HTTP/1.1
     */
    boolean isUnprocessed(Throwable cause, int stream) {
        return cause instanceof io.vertx.core.http.StreamResetException reset
                ? reset.getCode() == REFUSED_STREAM
                : stream > lastStream || (stream <= 0 && retired);
    }

    private static int limitOf(Http2Settings settings) {
        return (int) Math.min(MOST_STREAMS, settings.getMaxConcurrentStreams());
    }
}
