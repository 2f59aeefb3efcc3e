package dev.podcache.apiserver.http;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.HostAndPort;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One request of a {@link VertxWire}: on HTTP/1.1, or with a body. After its end or reset, the response gets no more
 * calls. Confined to the event loop of the connection.
 */
final class VertxCall implements Wire.Stream {

    private final VertxWire wire;
    private final Target target;
    private final ServerRequest request;
    private final Map<String, List<String>> headers;
    private final Wire.Response response;
    private @Nullable HttpClientRequest sent;
    private boolean reused; // whether this is a later request on an HTTP/1.1 connection
    private boolean answering;
    private boolean over;

    VertxCall(VertxWire wire, ServerRequest request, Map<String, List<String>> headers, Wire.Response response) {
        this.wire = wire;
        this.target = wire.target();
        this.request = request;
        this.headers = headers;
        this.response = response;
    }

    void send(HttpClientRequest http) {
        sent = http;
        reused = wire.use() && http.version() != HttpVersion.HTTP_2;
        try {
            prepare(http);
        } catch (IllegalArgumentException e) {
            // thrown to Vert.x, it would be logged with the value that it quotes
            http.exceptionHandler(ended -> {});
            http.reset(VertxWire.CANCEL);
            end(() -> response.broken(refused(e), false));
            return;
        }
        http.exceptionHandler(this::broken);
        // sent even if already reset, because Vert.x does not free a stream that was never started
        ServerRequest.Body body = request.body();
        (body == null ? http.send() : http.send(Buffer.buffer(body.json())))
                .onSuccess(this::answered)
                .onFailure(this::broken);
        if (over) {
            http.reset(VertxWire.CANCEL);
        }
    }

    private void prepare(HttpClientRequest http) {
        http.setMethod(HttpMethod.valueOf(request.method())).setURI(wire.uriOf(request));
        if (target.settings().tlsServerName() != null) {
            http.authority(HostAndPort.create(target.host(), target.port()));
        }
        headers.forEach((name, values) -> http.putHeader(name, values));
        ServerRequest.Body body = request.body();
        if (body != null) {
            http.putHeader("Content-Type", body.mediaType());
        }
    }

    /** Returns what stands for an exception of a library that quotes what it refuses. */
    static IllegalArgumentException refused(IllegalArgumentException quoting) {
        return new IllegalArgumentException("a part of the request is not legal in HTTP: "
                + quoting.getClass().getName());
    }

    private void answered(HttpClientResponse answer) {
        answer.exceptionHandler(this::broken);
        if (over) {
            return;
        }
        answering = true;
        answer.handler(chunk -> {
            if (!over) {
                response.chunk(chunk.getBytes());
            }
        });
        answer.endHandler(complete -> end(response::end));
        response.head(answer.statusCode(), answer::getHeader);
        // Vert.x would keep both while the answer lasts
        answer.headers().clear();
        answer.request().headers().clear();
    }

    private void broken(Throwable cause) {
        // before the end, which forgets the stream
        boolean unprocessed = isUnprocessed(cause);
        end(() -> response.broken(VertxWire.translated(cause), unprocessed));
    }

    private boolean isUnprocessed(Throwable cause) {
        boolean unanswered = reused && !answering && cause instanceof HttpClosedException;
        if (unanswered && request.method().equals("GET")) {
            // the server may have closed the idle connection just before it got the request
            return true;
        }
        return wire.isUnprocessed(cause, stream());
    }

    private int stream() {
        return sent == null ? -1 : VertxWire.number(sent::streamId);
    }

    void end(Runnable last) {
        if (!over) {
            over = true;
            sent = null;
            last.run();
        }
    }

    @Override
    public void reset() {
        HttpClientRequest http = sent;
        end(() -> {
            if (http != null) {
                http.reset(VertxWire.CANCEL);
            }
        });
    }
}
