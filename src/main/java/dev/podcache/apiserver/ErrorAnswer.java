package dev.podcache.apiserver;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.object.FailureReason;
import dev.podcache.object.Quoted;
import dev.podcache.time.Durations;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.api.model.StatusDetailsBuilder;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP answer other than 2xx: a Status from the API server, or anything from a proxy. Converts to an {@link
 * ApiServerException}, whatever the body. Keeps the first 64 KiB of the body and ignores the rest, so a Status that is
 * longer counts as none. Not thread-safe.
 *
 * <p>The exception quotes only the message of a Status, on one line and cut to 300 characters. It never quotes any
 * other body.
 */
public final class ErrorAnswer {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private static final int LONGEST_BODY = 64 << 10;

    private final int code;
    private final @Nullable String retryAfter;
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();

    /**
     * Creates an answer whose body has not arrived.
     *
     * @param code the HTTP code
     * @param retryAfter the Retry-After header, in seconds or as an HTTP date; any other value is ignored; null if
     *     there was none
     */
    public ErrorAnswer(int code, @Nullable String retryAfter) {
        this.code = code;
        this.retryAfter = retryAfter;
    }

    /** Creates an answer that is complete, with the parameters of the other constructor and a body that is not modified. */
    public ErrorAnswer(int code, @Nullable String retryAfter, byte[] body) {
        this(code, retryAfter);
        add(body);
    }

    /** Adds the next part of the body, which is not modified. */
    public void add(byte[] bytes) {
        body.write(bytes, 0, Math.min(bytes.length, LONGEST_BODY - body.size()));
    }

    /**
     * Returns the failure that this answer means.
     *
     * @param request names the request, such as {@code GET Secret shop/db}
     * @param now the wall time, from which a Retry-After date is measured
     */
    public ApiServerException toException(String request, Instant now) {
        Status status = status();
        if (status == null && code == 404) {
            // a kube-apiserver sends NotFound with a Status; to believe a proxy's 404 would forget an existing object
            return new ApiServerException(
                    FailureReason.UNAVAILABLE,
                    code,
                    retryAfter(now),
                    request + " was answered 404 without a Status, so not by the API server; check the server URL and"
                            + " the proxies in front of it",
                    null);
        }
        if (status == null) {
            // a TLS port answers plain HTTP with 400
            String hint = code == 400 ? "; if the port expects TLS, use https in the server URL" : "";
            status = new StatusBuilder()
                    .withMessage("(no Status in the answer" + hint + ")")
                    .build();
        }
        return ApiServerException.answered(request, code, status, retryAfter(now));
    }

    private @Nullable Status status() {
        try {
            JsonNode json = MAPPER.readTree(body.toByteArray());
            return "Status".equals(json.path("kind").textValue()) ? statusOf(json) : null;
        } catch (IOException | RuntimeException notJson) {
            return null;
        }
    }

    /** Reads the fields in use one by one, because a Status with an invalid detail is still a Status. */
    static Status statusOf(JsonNode json) {
        String message = json.path("message").asText("");
        StatusBuilder status = new StatusBuilder()
                .withMessage(Quoted.text(message))
                .withReason(json.path("reason").textValue());
        StatusDetailsBuilder details = new StatusDetailsBuilder();
        JsonNode seconds = json.path("details").path("retryAfterSeconds");
        if (seconds.canConvertToInt() && seconds.isIntegralNumber()) {
            details.withRetryAfterSeconds(seconds.intValue());
        }
        for (JsonNode cause : json.path("details").path("causes")) {
            details.addNewCause().withField(cause.path("field").textValue()).endCause();
        }
        return status.withDetails(details.build()).build();
    }

    private @Nullable Duration retryAfter(Instant now) {
        String value = retryAfter == null ? "" : retryAfter.trim();
        if (value.isEmpty()) {
            return null;
        }
        boolean digits = value.chars().allMatch(c -> c >= '0' && c <= '9');
        if (digits) {
            // ten digits are already 300 years, and more may not fit into a long
            return Durations.ofSeconds(Long.parseLong(value.length() <= 10 ? value : "9999999999"));
        }
        try {
            Instant until = ZonedDateTime.parse(value, DateTimeFormatter.RFC_1123_DATE_TIME)
                    .toInstant();
            return until.isAfter(now) ? Duration.between(now, until) : Duration.ZERO;
        } catch (DateTimeException unknownForm) {
            return null;
        }
    }
}
