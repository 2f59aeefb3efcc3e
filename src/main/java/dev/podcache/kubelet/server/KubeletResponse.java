package dev.podcache.kubelet.server;

import com.google.common.collect.ImmutableMap;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** How the server answers a request. */
sealed interface KubeletResponse {

    /** A body of known length. Immutable. */
    final class Content implements KubeletResponse {

        private final int code;
        private final String mediaType;
        private final byte[] body;
        private final Map<String, String> headers;

        private Content(int code, String mediaType, byte[] body, Map<String, String> headers) {
            this.code = code;
            this.mediaType = mediaType;
            this.body = body;
            this.headers = headers;
        }

        /** Returns a copy with these further headers. */
        Content with(Map<String, String> further) {
            return new Content(
                    code,
                    mediaType,
                    body,
                    ImmutableMap.<String, String>builder()
                            .putAll(headers)
                            .putAll(further)
                            .buildKeepingLast());
        }

        int code() {
            return code;
        }

        String mediaType() {
            return mediaType;
        }

        /** Returns the body, which must not be modified. */
        byte[] body() {
            return body;
        }

        /** Returns the headers besides the type of the content; unmodifiable. */
        Map<String, String> headers() {
            return headers;
        }
    }

    /**
     * The content of a stream, sent as it arrives. The receiver of this response closes the stream and runs {@code
     * release}, once.
     */
    record Streamed(InputStream content, Runnable release) implements KubeletResponse {}

    /** A call over a WebSocket. The receiver of this response runs {@code release}, once, when the call has ended. */
    record Upgrade(WebSocketCall call, Runnable release) implements KubeletResponse {}

    /** Returns a body of this media type; the body must not be modified. */
    static Content of(int code, String mediaType, byte[] body) {
        return new Content(code, mediaType, body, Map.of());
    }

    /** Returns a plain text. */
    static Content text(int code, String text) {
        return of(code, "text/plain; charset=utf-8", text.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns JSON. */
    static Content json(byte[] json) {
        return of(200, "application/json", json);
    }

    /** Returns a document in HTML. */
    static Content html(byte[] html) {
        return of(200, "text/html; charset=utf-8", html);
    }

    /** Returns metrics in the text format of Prometheus. */
    static Content metrics(String text) {
        return of(200, "text/plain; version=0.0.4; charset=utf-8", text.getBytes(StandardCharsets.UTF_8));
    }
}
