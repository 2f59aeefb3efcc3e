package dev.podcache.testing;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ErrorAnswer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The forms of a 429 response that asks the client to wait for two seconds. */
public enum TooManyRequests {
    /** A Retry-After header with a number, as a kube-apiserver sends it. */
    SECONDS("2", ""),
    /** A Retry-After header with a date, as a proxy may send it. */
    DATE("Thu, 01 Jan 2026 00:00:02 GMT", ""),
    /** No header, only a delay in the Status. */
    STATUS(null, ",\"details\":{\"retryAfterSeconds\":2}");

    private final @Nullable String header;
    private final String details;

    TooManyRequests(@Nullable String header, String details) {
        this.header = header;
        this.details = details;
    }

    /** Returns the exception that the caller gets. */
    public ApiServerException answer() {
        String body = "{\"kind\":\"Status\",\"code\":429,\"reason\":\"TooManyRequests\"" + details + "}";
        return new ErrorAnswer(429, header, body.getBytes(StandardCharsets.UTF_8))
                .toException("a request", Instant.parse("2026-01-01T00:00:00Z"));
    }
}
