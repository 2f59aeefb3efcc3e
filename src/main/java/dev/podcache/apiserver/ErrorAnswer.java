package dev.podcache.apiserver;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.podcache.object.FailureReason;
import dev.podcache.object.Quoted;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.api.model.StatusDetailsBuilder;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import org.jspecify.annotations.Nullable;

/**
 * An HTTP answer other than 2xx: of the API server with a Status, or of a proxy with a page of its own.
 * Turns it into an {@link ApiServerException} without ever failing on what it finds. Immutable.
 *
 * <p>Of the body only a Status' message is quoted, on one line and cut to 300 characters; any other
 * body is described, not quoted.
 */
public final class ErrorAnswer {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final int code;
    private final @Nullable String retryAfter;
    private final byte[] body;

    /**
     * An answer as it came.
     *
     * @param code the HTTP code
     * @param retryAfter the Retry-After header: seconds, an HTTP date, or anything else, which is
     *     ignored; null if there was none
     * @param body what came with it; not modified
     */
    public ErrorAnswer(int code, @Nullable String retryAfter, byte[] body) {
        this.code = code;
        this.retryAfter = retryAfter;
        this.body = body;
    }

    /**
     * What the answer means.
     *
     * @param request what was asked, such as {@code GET Secret shop/db}
     * @param now the time of day, against which a Retry-After date counts
     */
    public ApiServerException toException(String request, Instant now) {
        Status status = status();
        if (status == null && code == 404) {
            // kube-apiserver says NotFound with a Status; taking a proxy's error page for it
            // would forget an object that exists
            return new ApiServerException(
                    FailureReason.UNAVAILABLE,
                    code,
                    retryAfter(now),
                    request + " was answered 404 without a Status, so not by an API server that knows the path;"
                            + " check the server URL and the proxies before it",
                    null);
        }
        if (status == null) {
            // what a port for TLS answers to plain HTTP
            String hint = code == 400 ? "; is the server's URL https?" : "";
            status = new StatusBuilder()
                    .withMessage("(no Status came with it" + hint + ")")
                    .build();
        }
        return ApiServerException.answered(request, code, status, retryAfter(now));
    }

    private @Nullable Status status() {
        try {
            JsonNode json = MAPPER.readTree(body);
            return "Status".equals(json.path("kind").textValue()) ? statusOf(json) : null;
        } catch (IOException | RuntimeException notJson) {
            return null;
        }
    }

    /** The fields that we use, one by one: a Status with a strange detail is still a Status. */
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
            // ten digits are 300 years: more digits mean no more than that
            return Duration.ofSeconds(Long.parseLong(value.length() <= 10 ? value : "9999999999"));
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
