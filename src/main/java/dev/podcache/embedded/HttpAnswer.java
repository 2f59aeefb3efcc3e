package dev.podcache.embedded;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.Status;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import java.nio.charset.StandardCharsets;

/**
 * A complete HTTP response.
 *
 * @param retryAfterSeconds the value of the Retry-After header; 0 for no header
 */
record HttpAnswer(int code, String mediaType, Buffer body, int retryAfterSeconds) {

    private static final int FRAME = 16 << 10;

    /** Returns a response with a JSON body. */
    static HttpAnswer json(int code, JsonNode body) {
        return new HttpAnswer(code, "application/json", encoded(body), 0);
    }

    /** Returns a 200 response with a plain text body. */
    static HttpAnswer text(String text) {
        return new HttpAnswer(
                200, "text/plain; charset=utf-8", Buffer.buffer(text.getBytes(StandardCharsets.UTF_8)), 0);
    }

    /** Returns the response for a refused request: its Status, and Retry-After if the Status has a delay. */
    static HttpAnswer error(StatusException refusal) {
        Status status = refusal.status();
        Integer retryAfter =
                status.getDetails() == null ? null : status.getDetails().getRetryAfterSeconds();
        return new HttpAnswer(
                refusal.code(), "application/json", encoded(Json.tree(status)), retryAfter == null ? 0 : retryAfter);
    }

    /** Returns {@code json} as bytes. */
    static Buffer encoded(JsonNode json) {
        try {
            return Buffer.buffer(Json.MAPPER.writeValueAsBytes(json));
        } catch (JsonProcessingException e) {
            throw new AssertionError("writing to memory", e);
        }
    }

    /** Returns the code and the length. The body is left out because it may contain a secret. */
    @Override
    public String toString() {
        return "HttpAnswer[" + code + ", " + body.length() + " bytes]";
    }

    /** Sends this response unless the response has ended or its connection is closed. */
    void send(HttpServerResponse response) {
        if (response.ended() || response.closed()) {
            return;
        }
        response.setStatusCode(code).putHeader("Content-Type", mediaType);
        if (retryAfterSeconds > 0) {
            response.putHeader("Retry-After", Integer.toString(retryAfterSeconds));
        }
        response.putHeader("Content-Length", Integer.toString(body.length()));
        write(response, body);
        response.end();
    }

    /**
     * Writes bytes in parts of a frame. After a longer write Vert.x 5 does not always go on when the client, whose memory was
     * scarce, opens its window again.
     */
    static void write(HttpServerResponse response, Buffer bytes) {
        for (int at = 0; at < bytes.length(); at += FRAME) {
            response.write(bytes.slice(at, Math.min(bytes.length(), at + FRAME)));
        }
    }
}
