package dev.podcache.apiserver;

import com.google.common.collect.Comparators;
import dev.podcache.object.FailureReason;
import io.fabric8.kubernetes.api.model.Status;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * A request to the API server that failed. Carries facts; its message names the request and never contains a
 * payload. Immutable.
 */
public final class ApiServerException extends RuntimeException {

    /** A longer pause means "never", and a {@code long} of nanoseconds does not hold 293 years. */
    private static final Duration LONGEST_PAUSE = Duration.ofDays(365);

    private final FailureReason reason;
    private final int httpCode;
    private final @Nullable Duration retryAfter;

    /**
     * A failure.
     *
     * @param httpCode the HTTP code of the answer, or 0 if there was none
     * @param retryAfter how long the server asks us to wait, of which a year counts at most; null if it does not
     * @param message names the request; never contains a payload
     */
    public ApiServerException(
            FailureReason reason,
            int httpCode,
            @Nullable Duration retryAfter,
            String message,
            @Nullable Throwable cause) {
        super(message, cause);
        this.reason = Objects.requireNonNull(reason, "reason");
        this.httpCode = httpCode;
        this.retryAfter = retryAfter == null ? null : Comparators.min(retryAfter, LONGEST_PAUSE);
    }

    /** A request that got no answer. */
    public static ApiServerException withoutAnswer(
            FailureReason reason, String request, String why, @Nullable Throwable cause) {
        return new ApiServerException(reason, 0, null, request + ": " + why, cause);
    }

    /**
     * A request that was answered with an error.
     *
     * @param request what was asked, such as {@code GET Secret shop/db}
     * @param httpCode the code of the answer, or of the ERROR event
     * @param status the Status that came with it, if one did
     * @param retryAfterHeader what the Retry-After header said, if there was one
     */
    public static ApiServerException answered(
            String request, int httpCode, @Nullable Status status, @Nullable Duration retryAfterHeader) {
        String said = status == null || status.getMessage() == null ? "" : ": " + status.getMessage();
        return new ApiServerException(
                reasonOf(httpCode, status),
                httpCode,
                longer(retryAfterHeader, retryAfterOf(status)),
                request + " was answered " + httpCode + said,
                null);
    }

    /**
     * Returns what a request failed with, without the exception in which a stage of futures may have wrapped it.
     *
     * @return an {@link AssertionError} if {@code thrown} is null: a stage without a value has a failure
     */
    public static Throwable causeOf(@Nullable Throwable thrown) {
        if (thrown == null) {
            return new AssertionError("neither value nor failure");
        }
        Throwable cause = thrown instanceof CompletionException ? thrown.getCause() : null;
        return cause == null ? thrown : cause;
    }

    /** Returns the reason of an API server's failure, also if a future has wrapped it; null for any other exception. */
    public static @Nullable FailureReason reasonOf(@Nullable Throwable thrown) {
        return causeOf(thrown) instanceof ApiServerException failure ? failure.reason() : null;
    }

    /** Returns the text of a failure for a log line: the message of an API server's failure, without its class. */
    public static String describe(@Nullable Throwable thrown) {
        Throwable cause = causeOf(thrown);
        return String.valueOf(cause instanceof ApiServerException ? cause.getMessage() : cause);
    }

    public FailureReason reason() {
        return reason;
    }

    /** The HTTP code of the answer, or 0 if there was none. */
    public int httpCode() {
        return httpCode;
    }

    /** How long the server asks us to wait, the longer of header and Status, a year at most, or null if it does not. */
    public @Nullable Duration retryAfter() {
        return retryAfter;
    }

    private static FailureReason reasonOf(int code, @Nullable Status status) {
        // the API server's own 504 says it ran out of time; a code that it never uses says nothing about a repetition
        boolean timedOut = status != null && "Timeout".equals(status.getReason());
        return switch (code) {
            case 401 -> FailureReason.UNAUTHORIZED;
            case 403 -> FailureReason.FORBIDDEN;
            case 404 -> FailureReason.NOT_FOUND;
            case 408 -> FailureReason.TIMEOUT;
            case 409 ->
                status != null && "AlreadyExists".equals(status.getReason())
                        ? FailureReason.ALREADY_EXISTS
                        : FailureReason.CONFLICT;
            case 410 -> FailureReason.EXPIRED;
            // a kube-apiserver answers a PATCH with another UID like this, and a PUT or a DELETE with 409
            case 422 -> isAboutUid(status) ? FailureReason.CONFLICT : FailureReason.REJECTED;
            case 429 -> FailureReason.THROTTLED;
            default -> {
                if (timedOut) {
                    yield FailureReason.TIMEOUT;
                }
                yield code >= 500 ? FailureReason.UNAVAILABLE : FailureReason.REJECTED;
            }
        };
    }

    private static boolean isAboutUid(@Nullable Status status) {
        return status != null
                && status.getDetails() != null
                && status.getDetails().getCauses().stream().anyMatch(cause -> "metadata.uid".equals(cause.getField()));
    }

    private static @Nullable Duration retryAfterOf(@Nullable Status status) {
        if (status == null || status.getDetails() == null) {
            return null;
        }
        Integer seconds = status.getDetails().getRetryAfterSeconds();
        return seconds == null || seconds <= 0 ? null : Duration.ofSeconds(seconds);
    }

    private static @Nullable Duration longer(@Nullable Duration a, @Nullable Duration b) {
        return a == null ? b : b == null ? a : Comparators.max(a, b);
    }
}
