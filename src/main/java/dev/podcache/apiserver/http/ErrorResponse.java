package dev.podcache.apiserver.http;

import dev.podcache.apiserver.ApiServerException;
import dev.podcache.apiserver.ErrorAnswer;
import java.io.ByteArrayOutputStream;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** An answer other than 2xx, with the start of its body. Not thread-safe. */
final class ErrorResponse {

    private static final int LONGEST = 64 * 1024;

    private final int status;
    private final @Nullable String retryAfter;
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();

    /**
     * Makes a response whose body has not arrived.
     *
     * @param retryAfter the header of that name, if any
     */
    ErrorResponse(int status, @Nullable String retryAfter) {
        this.status = status;
        this.retryAfter = retryAfter;
    }

    /** Adds a part of the body. Ignores what comes after the first 64 KiB. */
    void add(byte[] bytes) {
        if (body.size() + bytes.length <= LONGEST) {
            body.writeBytes(bytes);
        }
    }

    /** Returns what the answer means for the request {@code what}; a pause that it asks for begins at {@code now}. */
    ApiServerException toException(String what, Instant now) {
        return new ErrorAnswer(status, retryAfter, body.toByteArray()).toException(what, now);
    }
}
