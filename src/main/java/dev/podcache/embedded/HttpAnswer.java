package dev.podcache.embedded;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.Status;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import java.nio.charset.StandardCharsets;

/**
 * A complete answer.
 *
 * @param retryAfterSeconds 0 for none
 */
record HttpAnswer(int code, String mediaType, Buffer body, int retryAfterSeconds) {

    static HttpAnswer json(int code, JsonNode body) {
        return new HttpAnswer(code, "application/json", encoded(body), 0);
    }

    static HttpAnswer text(String text) {
        return new HttpAnswer(
                200, "text/plain; charset=utf-8", Buffer.buffer(text.getBytes(StandardCharsets.UTF_8)), 0);
    }

    static HttpAnswer error(StatusException refusal) {
        Status status = refusal.status();
        Integer retryAfter =
                status.getDetails() == null ? null : status.getDetails().getRetryAfterSeconds();
        return new HttpAnswer(
                refusal.code(), "application/json", encoded(Json.tree(status)), retryAfter == null ? 0 : retryAfter);
    }

    static Buffer encoded(JsonNode json) {
        try {
            return Buffer.buffer(Json.MAPPER.writeValueAsBytes(json));
        } catch (JsonProcessingException e) {
            throw new AssertionError("writing to memory", e);
        }
    }

    /** The code and the length: the body may hold a secret. */
    @Override
    public String toString() {
        return "HttpAnswer[" + code + ", " + body.length() + " bytes]";
    }

    void send(HttpServerResponse response) {
        if (response.ended() || response.closed()) {
            return;
        }
        response.setStatusCode(code).putHeader("Content-Type", mediaType);
        if (retryAfterSeconds > 0) {
            response.putHeader("Retry-After", Integer.toString(retryAfterSeconds));
        }
        response.end(body);
    }
}
