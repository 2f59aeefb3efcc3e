package dev.podcache.apiserver.http;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.StreamPriority;
import io.vertx.core.http.StreamResetException;
import io.vertx.core.http.impl.HttpClientConnection;
import io.vertx.core.http.impl.HttpClientStream;
import io.vertx.core.http.impl.HttpRequestHead;
import io.vertx.core.http.impl.HttpResponseHead;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One request without a body on a stream of its own of an HTTP/2 connection. After its end or reset, the response gets
 * no more calls. Confined to the event loop of the connection.
 *
 * <p>Uses the stream of Vert.x without the request and the response that Vert.x would put around it, and without a
 * place in its pool, which has this one connection only. They take 1 KB for as long as the response lasts, which for a
 * watch is half an hour and more. The classes are internal to Vert.x: {@link VertxWire} does without this class if they
 * have changed.
 */
final class VertxHttp2Call implements Wire.Stream {

    private static final StreamPriority PRIORITY = new StreamPriority();

    private final VertxWire wire;
    private Wire.@Nullable Response response; // null once over
    private @Nullable HttpClientStream stream; // null unless sent

    VertxHttp2Call(VertxWire wire, Wire.Response response) {
        this.wire = wire;
        this.response = response;
    }

    /**
     * Sends the request.
     *
     * @throws LinkageError if Vert.x has other internal classes; then nothing was sent
     */
    void send(HttpClientConnection connection, String method, String uri, Headers headers) {
        HttpRequestHead head = new HttpRequestHead(
                HttpMethod.valueOf(method), uri, headers.toMultiMap(), headers.authority, null, null);
        connection.createStream(connection.getContext(), created -> {
            // called before createStream() returns, because this is the event loop of the connection
            if (created.failed()) {
                broken(created.cause());
            } else {
                stream = created.result();
            }
        });
        // not in the handler, whose errors Vert.x catches
        if (stream != null) {
            send(stream, head);
        }
    }

    /** The headers of one request, and its authority, which is the server's host and port. */
    record Headers(Map<String, List<String>> values, String authority) {

        private MultiMap toMultiMap() {
            MultiMap made = MultiMap.caseInsensitiveMultiMap();
            values.forEach(made::add);
            return made;
        }
    }

    private void send(HttpClientStream created, HttpRequestHead head) {
        created.headHandler(answer -> answered(created, answer));
        created.chunkHandler(this::received);
        created.endHandler(this::ended);
        created.exceptionHandler(this::broken);
        created.writeHead(head, false, null, true, PRIORITY, false, written -> {
            if (written.failed()) {
                broken(written.cause());
            }
        });
    }

    private void answered(HttpClientStream from, HttpResponseHead answer) {
        if (response != null) {
            response.head(answer.statusCode, name -> answer.headers.get(name));
        }
        // Vert.x would keep both while the answer lasts
        answer.headers.clear();
        from.headHandler(null);
    }

    private void received(Buffer chunk) {
        if (response != null) {
            response.chunk(chunk.getBytes());
        }
    }

    private void ended(MultiMap trailers) {
        Wire.Response last = response;
        if (last != null) {
            response = null;
            last.end();
        }
    }

    private void broken(Throwable cause) {
        Wire.Response last = response;
        if (last != null) {
            response = null;
            int id = stream == null ? -1 : VertxWire.number(stream::id);
            last.broken(VertxWire.translated(cause), id <= 0 || wire.isUnprocessed(cause, id));
        }
    }

    /** Ends the request, which a library refused before it was sent. */
    void refused(IllegalArgumentException cause) {
        Wire.Response last = response;
        if (last != null) {
            response = null;
            last.broken(cause, false);
        }
    }

    @Override
    public void reset() {
        boolean open = response != null;
        response = null;
        if (open && stream != null) {
            stream.reset(new StreamResetException(VertxWire.CANCEL));
        }
    }
}
